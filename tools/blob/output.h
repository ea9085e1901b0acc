// Destinations for the bytes of a blob while it is written.
#ifndef FOVEA_TOOLS_BLOB_OUTPUT_H_
#define FOVEA_TOOLS_BLOB_OUTPUT_H_

#include <stdint.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tools/base/partial_files.h"

namespace fovea::tools {

class BlobOutput {
 public:
  virtual ~BlobOutput() = default;
  // Upper bound of the size; if called, then once before any write.
  virtual void Reserve(uint64_t most) { (void)most; }
  // Extends the output as needed; skipped bytes are undefined.
  virtual void Write(uint64_t at, const void* data, uint64_t size) = 0;
  // Reads bytes that have been written.
  virtual void Read(uint64_t at, void* data, uint64_t size) = 0;
  // Truncates the output to `size` bytes.
  virtual void Shorten(uint64_t size) = 0;
};

// Writes to memory.
class BlobBytes : public BlobOutput {
 public:
  void Reserve(uint64_t most) override { bytes.reserve(most); }
  void Write(uint64_t at, const void* data, uint64_t size) override;
  void Read(uint64_t at, void* data, uint64_t size) override;
  void Shorten(uint64_t size) override { bytes.resize(size); }

  std::vector<uint8_t> bytes;
};

// Writes to a temporary file, which replaces the destination at the end; until then the destination is unchanged. A
// link is kept and its target replaced.
class BlobFile : public BlobOutput {
 public:
  explicit BlobFile(const std::string& path);
  ~BlobFile() override;
  void Write(uint64_t at, const void* data, uint64_t size) override;
  void Read(uint64_t at, void* data, uint64_t size) override;
  void Shorten(uint64_t size) override;
  // Flushes; returns the path of the file as written so far.
  const std::string& Flushed();
  void Keep();

 private:
  void Seek(uint64_t at);
  [[noreturn]] void FailToWrite() const;

  std::string path_, partial_;
  std::FILE* file_ = nullptr;
  std::unique_ptr<PartialFile> removed_;  // by a signal
};

// Whether the path is a regular file, a link to one, or does not exist; false for pipes and devices.
bool IsReplaceable(const std::string& path);
// Atomic where possible: `path` can be the file that the bytes were read from.
void WriteBlobFile(const std::string& path, const std::vector<uint8_t>& blob);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BLOB_OUTPUT_H_
