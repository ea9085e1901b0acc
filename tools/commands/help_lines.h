// Lines of the help: names on the left, their description beside them, wrapped to the terminal.
#ifndef FOVEA_TOOLS_COMMANDS_HELP_LINES_H_
#define FOVEA_TOOLS_COMMANDS_HELP_LINES_H_

#include <stddef.h>

#include <string>

namespace fovea::tools {

constexpr size_t kHelpColumn = 34;  // where descriptions begin

// Characters of a line of help: the terminal's, between 60 and 120; 100 if the output is no terminal.
size_t HelpColumns();

// "  NAMES   description": the description is wrapped at spaces to `columns` and begins on the next line if `names` is
// long.
std::string HelpEntry(const std::string& names, const std::string& description, size_t columns);

// A heading, bold on a terminal unless the environment has NO_COLOR (no-color.org) or TERM is "dumb".
std::string HelpHeading(const std::string& heading);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMANDS_HELP_LINES_H_
