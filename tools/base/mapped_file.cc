// A whole file, mapped read-only.
#include "tools/base/mapped_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tools/base/fail.h"
#include "tools/base/system.h"
#include "tools/base/utf8_path.h"

namespace fovea::tools {

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const char* failure = fovea_port_open(path.c_str(), &file_);
  if (failure != nullptr) Fail("{}: {}", path, failure);
}

MappedFile::~MappedFile() { fovea_port_close(&file_); }

bool MappedFile::Forget(const uint8_t* begin, uint64_t size) const {
  const uint64_t first = reinterpret_cast<uintptr_t>(data()), last = first + file_.size;
  const uint64_t from = reinterpret_cast<uintptr_t>(begin);
  if (from < first || from > last || size > last - from) return false;
  ForgetMapped(begin, size);
  return true;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(Utf8Path(path), std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf() || file.peek() == EOF)) Fail("{}: cannot read", path);
  return content.str();
}

void WriteFile(const std::string& path, const void* data, uint64_t size) {
  std::ofstream file(Utf8Path(path), std::ios::binary | std::ios::trunc);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  file.close();
  if (!file) Fail("{}: cannot write", path);
}

}  // namespace fovea::tools
