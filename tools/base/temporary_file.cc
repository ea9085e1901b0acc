#include "tools/base/temporary_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <filesystem>
#include <random>

#include "tools/base/fail.h"
#include "tools/base/system.h"
#include "tools/base/utf8_path.h"

namespace fovea::tools {
namespace {

constexpr char kAdvice[] = "set TMPDIR to a folder with more room";

}  // namespace

TemporaryFile::TemporaryFile() {
  std::error_code error;
  folder_ = std::filesystem::temp_directory_path(error).string();
  if (error)
    Fail("the folder of temporary files is missing: {}; set TMPDIR to a folder that can be written", error.message());
  std::random_device random;
  path_ = (Utf8Path(folder_) / fmt::format("fovea-{:08x}{:08x}", random(), random())).string();
  file_ = CreateNewFile(path_);
  if (file_ == nullptr) {
    Fail("{}: cannot create a temporary file there; set TMPDIR to a folder that can be written", folder_);
  }
#ifndef _WIN32
  RemoveFile(path_);
  path_.clear();
#endif
}

TemporaryFile::~TemporaryFile() {
  fclose(file_);
  if (!path_.empty()) RemoveFile(path_);
}

void TemporaryFile::Append(const void* data, uint64_t size) {
  if (fwrite(data, 1, size, file_) != size) {
    Fail("{}: cannot write a temporary file there: {}; {}", folder_, strerror(errno), kAdvice);
  }
  size_ += size;
}

std::string TemporaryFile::Flush() {
  if (fflush(file_) != 0) Fail("{}: cannot write a temporary file there: {}; {}", folder_, strerror(errno), kAdvice);
#ifdef _WIN32
  return path_;
#else
  return fmt::format("/dev/fd/{}", fileno(file_));
#endif
}

void TemporaryFile::Rewind() {
  Flush();
  if (fseek(file_, 0, SEEK_SET) != 0) Fail("{}: cannot read a temporary file there", folder_);
}

size_t TemporaryFile::Read(char* to, size_t size) {
  const size_t read = fread(to, 1, size, file_);
  if (read == 0) Fail("{}: cannot read a temporary file there", folder_);
  return read;
}

}  // namespace fovea::tools
