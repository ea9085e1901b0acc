// A file that grows at its end and whose beginning is written last; a stream gets it when it is complete.
#ifndef FOVEA_TOOLS_VECTORS_GROWING_FILE_H_
#define FOVEA_TOOLS_VECTORS_GROWING_FILE_H_

#include <stdint.h>

#include <cstdio>
#include <memory>
#include <ostream>
#include <string>

#include "tools/blob/output.h"

namespace fovea::tools {

// Bytes in a temporary file without a name.
class SpoolFile {
 public:
  SpoolFile();
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

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

 private:
  void Rewind();
  size_t Read(char* to, size_t size);

  std::FILE* file_;
  uint64_t size_ = 0;
};

// A file with a beginning of `head` bytes that is not known yet. Regular files are written in place; a pipe, or "-" for
// `out`, gets the bytes in the end, which are in a temporary file until then.
class GrowingFile {
 public:
  GrowingFile(const std::string& path, uint64_t head, std::ostream& out);

  void Append(const void* data, uint64_t size);
  void Append(SpoolFile& spool);
  // Bytes after the head.
  uint64_t size() const { return size_; }
  // `head`: as many bytes as announced.
  void Finish(const std::string& head);

 private:
  const std::string path_;
  const uint64_t head_;
  std::ostream& out_;
  std::unique_ptr<BlobFile> file_;
  std::unique_ptr<SpoolFile> spool_;
  uint64_t size_ = 0;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_VECTORS_GROWING_FILE_H_
