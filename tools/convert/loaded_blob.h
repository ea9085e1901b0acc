// A blob in memory where the library wants it, and its model.
#ifndef FOVEA_TOOLS_CONVERT_LOADED_BLOB_H_
#define FOVEA_TOOLS_CONVERT_LOADED_BLOB_H_

#include <string.h>

#include <string>
#include <vector>

#include "tools/common/memory.h"
#include "tools/common/model.h"

namespace fovea::tools {

struct LoadedBlob {
  explicit LoadedBlob(const std::vector<uint8_t>& blob, const std::string& name)
      : memory(Copy(blob)), model(memory.get(), blob.size(), name, Model::Options{}) {}

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
