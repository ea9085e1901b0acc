// A blob in memory where the library wants it, and its model.
#ifndef FOVEA_TOOLS_CONVERT_LOADED_BLOB_H_
#define FOVEA_TOOLS_CONVERT_LOADED_BLOB_H_

#include <string.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tools/blob/output.h"
#include "tools/model/aligned_memory.h"
#include "tools/model/model.h"

namespace fovea::tools {

// Output of a blob to where the library wants it.
class BlobMemory : public BlobOutput {
 public:
  void Reserve(uint64_t most) override {
    memory = Allocate(most);
    most_ = most;
  }
  void Write(uint64_t at, const void* data, uint64_t bytes) override {
    if (at + bytes > most_) Fail("a blob is larger than {} bytes", most_);
    if (bytes != 0) memcpy(memory.get() + at, data, bytes);
    size = std::max(size, at + bytes);
  }
  void Read(uint64_t at, void* data, uint64_t bytes) override {
    if (bytes != 0) memcpy(data, memory.get() + at, bytes);
  }
  void Shorten(uint64_t bytes) override { size = bytes; }

  Memory memory;
  uint64_t size = 0;

 private:
  uint64_t most_ = 0;
};

struct LoadedBlob {
  explicit LoadedBlob(const std::vector<uint8_t>& blob, const std::string& name)
      : memory(Copy(blob)), model(memory.get(), blob.size(), name, Model::Options{}) {}

  // Made where it stays.
  LoadedBlob(Memory blob, uint64_t size, const std::string& name, const Model::Options& options = {})
      : memory(std::move(blob)), model(memory.get(), size, name, options) {}

  static Memory Copy(const std::vector<uint8_t>& blob) {
    Memory memory = Allocate(blob.size());
    memcpy(memory.get(), blob.data(), blob.size());
    return memory;
  }

  Memory memory;
  Model model;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_LOADED_BLOB_H_
