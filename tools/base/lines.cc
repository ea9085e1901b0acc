#include "tools/base/lines.h"

#include <fstream>
#include <iostream>

#include "tools/base/fail.h"

namespace fovea::tools {

std::vector<std::string> ReadLines(const std::string& path) {
  std::ifstream opened;
  if (path != "-") {
    opened.open(path);
    if (!opened) Fail("{}: cannot open", path);
  }
  std::istream& stream = path == "-" ? std::cin : opened;
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  if (stream.bad()) Fail("{}: cannot read", path);
  return lines;
}

std::vector<std::string> FieldsOf(const std::string& line) {
  std::vector<std::string> fields;
  for (size_t at = 0, tab = 0; tab != std::string::npos; at = tab + 1) {
    tab = line.find('\t', at);
    fields.push_back(line.substr(at, tab == std::string::npos ? tab : tab - at));
  }
  return fields;
}

}  // namespace fovea::tools
