// "fovea completion": scripts that let a shell complete commands, options and their values.
#ifndef FOVEA_TOOLS_COMMANDS_COMPLETION_H_
#define FOVEA_TOOLS_COMMANDS_COMPLETION_H_

#include <string>
#include <vector>

#include "tools/commands/commands.h"

namespace fovea::tools {

// A script for "bash", "zsh" or "fish", made of the commands of the program.
std::string CompletionScript(const std::string& shell, const std::vector<CommandNames>& commands);

// Adds the command. `line` is whole when the command runs.
void AddCompletion(const CommandLine& line, Console* console);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMANDS_COMPLETION_H_
