#include "tools/base/lines.h"

#include <filesystem>
#include <fstream>
#include <iostream>

#include "tools/base/fail.h"

namespace fovea::tools {

std::vector<std::string> ReadLines(const std::string& path) {
  std::ifstream opened;
  if (path != "-") {
    opened.open(std::filesystem::path(path), std::ios::binary);
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

std::vector<std::string> FieldsOf(const std::string& line, char between) {
  std::vector<std::string> fields;
  for (size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
    end = line.find(between, at);
    fields.push_back(line.substr(at, end == std::string::npos ? end : end - at));
  }
  return fields;
}

}  // namespace fovea::tools
