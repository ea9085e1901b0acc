// A file that grows at its end and whose beginning is written last; a stream gets it when it is complete.
#ifndef FOVEA_TOOLS_VECTORS_GROWING_FILE_H_
#define FOVEA_TOOLS_VECTORS_GROWING_FILE_H_

#include <stdint.h>

#include <memory>
#include <ostream>
#include <string>

#include "tools/base/temporary_file.h"
#include "tools/blob/output.h"

namespace fovea::tools {

// A file with a beginning of `head` bytes that is not known yet. Regular files are written in place; a pipe, or "-" for
// `out`, gets the bytes in the end, which are in a temporary file until then.
class GrowingFile {
 public:
  GrowingFile(const std::string& path, uint64_t head, std::ostream& out);

  void Append(const void* data, uint64_t size);
  void Append(TemporaryFile& spool);
  // Bytes after the head.
  uint64_t size() const { return size_; }
  // `head`: as many bytes as announced.
  void Finish(const std::string& head);

 private:
  const std::string path_;
  const uint64_t head_;
  std::ostream& out_;
  std::unique_ptr<BlobFile> file_;
  std::unique_ptr<TemporaryFile> spool_;
  uint64_t size_ = 0;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_VECTORS_GROWING_FILE_H_
