#include "tools/base/input_file.h"

#include <filesystem>
#include <iostream>
#include <iterator>

namespace fovea::tools {

InputFile::InputFile(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (path == "-") {
    read_.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else if (!error && fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    read_ = ReadFile(path);
  } else {
    mapped_.emplace(path);
  }
}

}  // namespace fovea::tools
