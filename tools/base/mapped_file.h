// A whole file, mapped read-only.
#ifndef FOVEA_TOOLS_BASE_MAPPED_FILE_H_
#define FOVEA_TOOLS_BASE_MAPPED_FILE_H_

#include <stdint.h>

#include <string>

#include "ports/port.h"

namespace fovea::tools {

class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const uint8_t* data() const { return static_cast<const uint8_t*>(file_.data); }
  uint64_t size() const { return file_.size; }
  const std::string& path() const { return path_; }
  // Lets the kernel drop these bytes from memory (they are read again on access); false if they are not of the file.
  bool Forget(const uint8_t* begin, uint64_t size) const;

 private:
  std::string path_;
  fovea_port_file file_ = {};
};

std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, const void* data, uint64_t size);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_MAPPED_FILE_H_
