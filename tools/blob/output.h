// Where the bytes of a blob go while it is made.
#ifndef FOVEA_TOOLS_BLOB_OUTPUT_H_
#define FOVEA_TOOLS_BLOB_OUTPUT_H_

#include <stdint.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace fovea::tools {

class BlobOutput {
 public:
  virtual ~BlobOutput() = default;
  // It will not be longer; called once, before anything is written, if at all.
  virtual void Reserve(uint64_t most) { (void)most; }
  // Grows as far as is written; what is left out on the way is undefined.
  virtual void Write(uint64_t at, const void* data, uint64_t size) = 0;
  // Of what was written.
  virtual void Read(uint64_t at, void* data, uint64_t size) = 0;
  // Leaves so many bytes from the beginning.
  virtual void Shorten(uint64_t size) = 0;
};

// In memory.
class BlobBytes : public BlobOutput {
 public:
  void Reserve(uint64_t most) override { bytes.reserve(most); }
  void Write(uint64_t at, const void* data, uint64_t size) override;
  void Read(uint64_t at, void* data, uint64_t size) override;
  void Shorten(uint64_t size) override { bytes.resize(size); }

  std::vector<uint8_t> bytes;
};

// In a new file beside the wanted one, which it replaces at the end; until then that one stays as it is. A link stays
// one: what it leads to is replaced.
class BlobFile : public BlobOutput {
 public:
  explicit BlobFile(const std::string& path);
  ~BlobFile() override;
  void Write(uint64_t at, const void* data, uint64_t size) override;
  void Read(uint64_t at, void* data, uint64_t size) override;
  void Shorten(uint64_t size) override;
  // The file as it is so far, all of it.
  const std::string& Flushed();
  void Keep();

 private:
  void Seek(uint64_t at);
  [[noreturn]] void FailToWrite() const;

  std::string path_, partial_;
  std::FILE* file_ = nullptr;
};

// A file, a link to one, or nothing yet; not a pipe or a device.
bool IsReplaceable(const std::string& path);
// Whole or not at all where that can be: `path` may be the file that the bytes were read from.
void WriteBlobFile(const std::string& path, const std::vector<uint8_t>& blob);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BLOB_OUTPUT_H_
