// Reads files line by line.
#ifndef FOVEA_TOOLS_BASE_LINES_H_
#define FOVEA_TOOLS_BASE_LINES_H_

#include <string>
#include <vector>

namespace fovea::tools {

// Lines without their ends; "-" reads standard input.
std::vector<std::string> ReadLines(const std::string& path);

// Splits a line at tabs, or at another separator.
std::vector<std::string> FieldsOf(const std::string& line, char between = '\t');

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_LINES_H_
