// Files of lines.
#ifndef FOVEA_TOOLS_BASE_LINES_H_
#define FOVEA_TOOLS_BASE_LINES_H_

#include <string>
#include <vector>

namespace fovea::tools {

// Lines without their ends; "-" is standard input.
std::vector<std::string> ReadLines(const std::string& path);

// What is between tabs, or commas.
std::vector<std::string> FieldsOf(const std::string& line, char between = '\t');

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_LINES_H_
