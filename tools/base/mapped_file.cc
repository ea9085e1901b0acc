// A whole file, mapped read-only.
#include "tools/base/mapped_file.h"

#include <fstream>
#include <sstream>

#include "tools/base/fail.h"

namespace fovea::tools {

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const char* failure = fovea_port_open(path.c_str(), &file_);
  if (failure != nullptr) Fail("{}: {}", path, failure);
}

MappedFile::~MappedFile() { fovea_port_close(&file_); }

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf() || file.peek() == EOF)) Fail("{}: cannot read", path);
  return content.str();
}

void WriteFile(const std::string& path, const void* data, uint64_t size) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  file.close();
  if (!file) Fail("{}: cannot write", path);
}

}  // namespace fovea::tools
