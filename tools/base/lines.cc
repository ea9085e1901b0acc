#include "tools/base/lines.h"

#include <filesystem>
#include <iostream>

#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"

namespace fovea::tools {

LineReader::LineReader(const std::string& path) : path_(path), stream_(path == "-" ? std::cin : file_) {
  if (path == "-") return;
  file_.open(Utf8Path(path), std::ios::binary);
  if (!file_) Fail("{}: cannot open", path);
  std::error_code unknown;
  if (std::filesystem::is_regular_file(Utf8Path(path), unknown))
    size_ = std::filesystem::file_size(Utf8Path(path), unknown);
  if (unknown) size_ = 0;
}

bool LineReader::Next(std::string* line) {
  if (!std::getline(stream_, *line)) {
    if (stream_.bad()) Fail("{}: cannot read", path_);
    return false;
  }
  if (bytes_ == 0 && line->rfind("\xEF\xBB\xBF", 0) == 0) line->erase(0, 3);  // the mark of UTF-8, no character
  bytes_ += line->size() + 1;
  if (!line->empty() && line->back() == '\r') line->pop_back();
  return true;
}

std::vector<std::string> ReadLines(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string line; reader.Next(&line);) lines.push_back(line);
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
