// Bytes in a temporary file, in the folder that TMPDIR names.
#ifndef FOVEA_TOOLS_BASE_TEMPORARY_FILE_H_
#define FOVEA_TOOLS_BASE_TEMPORARY_FILE_H_

#include <stdint.h>

#include <cstdio>
#include <string>

namespace fovea::tools {

// The file has no name where the system allows it, so that nothing is left when the command is killed.
class TemporaryFile {
 public:
  // Fails if none can be created.
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void Append(const void* data, uint64_t size);
  uint64_t size() const { return size_; }
  // Calls `take` with all bytes, part by part.
  template <typename Take>
  void ReadAll(const Take& take) {
    char part[1 << 16];
    Rewind();
    for (uint64_t left = size_; left > 0;) {
      const size_t some = Read(part, left < sizeof(part) ? static_cast<size_t>(left) : sizeof(part));
      take(part, some);
      left -= some;
    }
  }
  // Writes everything. Returns a path that opens the file while this object lives.
  std::string Flush();

 private:
  void Rewind();
  size_t Read(char* to, size_t size);

  std::string folder_, path_;
  std::FILE* file_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_TEMPORARY_FILE_H_
