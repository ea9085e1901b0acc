#include "tools/base/input_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>

#include "tools/base/fail.h"
#include "tools/base/system.h"

namespace fovea::tools {
namespace {

constexpr size_t kBlock = 1 << 20, kMostInMemory = size_t{64} << 20;

struct Closer {
  void operator()(FILE* file) const { fclose(file); }
};

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
  const fs::file_status status = fs::status(path, error);
  if (path == "-") {
    ReadPipe(std::cin);
  } else if (!error && fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    std::ifstream pipe(fs::path(path), std::ios::binary);
    if (!pipe) Fail("{}: cannot read", path);
    ReadPipe(pipe);
  } else {
    mapped_.emplace(path);
  }
}

InputFile::~InputFile() {
  mapped_.reset();
  if (!spooled_.empty()) RemoveFile(spooled_);
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
  std::error_code error;
  const std::filesystem::path directory = std::filesystem::temp_directory_path(error);
  if (error) return false;
  std::random_device random;
  const std::string path = (directory / fmt::format("fovea-{:08x}{:08x}", random(), random())).string();
  const std::unique_ptr<FILE, Closer> file(CreateNewFile(path));
  if (file == nullptr) return false;
#ifdef _WIN32
  const std::string opened = path;
  spooled_ = path;
#else
  // Without a name from now on, so that nothing is left when the command is killed.
  RemoveFile(path);
  const std::string opened = fmt::format("/dev/fd/{}", fileno(file.get()));
#endif
  do {
    if (fwrite(read_.data(), 1, read_.size(), file.get()) != read_.size()) {
      Fail("{}: cannot keep a long input there: {}; set TMPDIR to a folder with more room", directory.string(),
           strerror(errno));
    }
    read_.clear();
  } while (ReadBlock(pipe, &read_));
  if (fflush(file.get()) != 0) Fail("{}: cannot keep a long input there: {}", directory.string(), strerror(errno));
  mapped_.emplace(opened);
  read_.shrink_to_fit();
  return true;
}

}  // namespace fovea::tools
