// Files of lines.
#ifndef FOVEA_TOOLS_BASE_LINES_H_
#define FOVEA_TOOLS_BASE_LINES_H_

#include <string>
#include <vector>

namespace fovea::tools {

// Lines without their ends; "-" is standard input.
std::vector<std::string> ReadLines(const std::string& path);

// What is between tabs.
std::vector<std::string> FieldsOf(const std::string& line);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_LINES_H_
