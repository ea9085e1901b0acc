#include "tools/base/input_file.h"

#include <filesystem>
#include <fstream>
#include <iostream>

#include "tools/base/fail.h"
#include "tools/base/utf8_path.h"

namespace fovea::tools {
namespace {

constexpr size_t kBlock = 1 << 20, kMostInMemory = size_t{64} << 20;

// Appends a block; false at the end.
bool ReadBlock(std::istream& pipe, std::string* to) {
  const size_t before = to->size();
  to->resize(before + kBlock);
  pipe.read(to->data() + before, kBlock);
  to->resize(before + static_cast<size_t>(pipe.gcount()));
  return to->size() > before;
}

}  // namespace

InputFile::InputFile(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(Utf8Path(path), error);
  if (path == "-") {
    ReadPipe(std::cin);
  } else if (!error && fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    std::ifstream pipe(Utf8Path(path), std::ios::binary);
    if (!pipe) Fail("{}: cannot read", path);
    ReadPipe(pipe);
  } else {
    mapped_.emplace(path);
  }
}

void InputFile::ReadPipe(std::istream& pipe) {
  bool spooled = false;
  while (ReadBlock(pipe, &read_)) {
    if (read_.size() >= kMostInMemory && !spooled) {
      if (Spool(pipe)) return;
      spooled = true;  // tried; everything stays in memory
    }
  }
}

bool InputFile::Spool(std::istream& pipe) {
  try {
    spooled_ = std::make_unique<TemporaryFile>();
  } catch (const Failure&) {
    return false;
  }
  do {
    spooled_->Append(read_.data(), read_.size());
    read_.clear();
  } while (ReadBlock(pipe, &read_));
  mapped_.emplace(spooled_->Flush());
  read_.shrink_to_fit();
  return true;
}

}  // namespace fovea::tools
