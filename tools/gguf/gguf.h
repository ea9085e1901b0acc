// Reads a GGUF file: metadata and tensors, in place from a mapped file. The file is not trusted.
#ifndef FOVEA_TOOLS_GGUF_GGUF_H_
#define FOVEA_TOOLS_GGUF_GGUF_H_

#include <stdint.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/base/json.h"
#include "tools/base/mapped_file.h"

namespace fovea::tools {

// The supported element types, by their numbers in the file.
enum class GgufType : uint32_t { kF32 = 0, kF16 = 1, kQ4_0 = 2, kQ8_0 = 8, kQ4_K = 12, kQ6_K = 14, kBF16 = 30 };
const char* GgufTypeName(GgufType type);

// Elements per block, and bytes per block: 1 and 4 for f32, 32 and 18 for Q4_0.
struct GgufBlock {
  uint32_t elements, bytes;
};
GgufBlock BlockOf(GgufType type);

struct GgufTensor {
  GgufType type = GgufType::kF32;
  std::vector<uint64_t> shape;    // outermost dimension first; the file has the opposite order
  const uint8_t* data = nullptr;  // need not be aligned
  uint64_t bytes = 0;

  uint64_t count() const { return bytes / BlockOf(type).bytes * BlockOf(type).elements; }
};

using GgufTensors = std::map<std::string, GgufTensor>;

// The values of the blocks, computed in f32 as defined by the format.
std::vector<float> ToFloats(const GgufTensor& tensor);

struct GgufContent {
  Json metadata = Json::object();  // values by key; strings can be any bytes
  GgufTensors tensors;             // point into the bytes of the file
};

// Every count, length, offset, size and shape is checked. `where` begins messages.
GgufContent ParseGguf(const uint8_t* data, uint64_t size, const std::string& where);

class GgufReader {
 public:
  explicit GgufReader(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const Json& metadata() const { return content_.metadata; }
  const GgufTensors& tensors() const { return content_.tensors; }
  // Lets the kernel drop the bytes of a tensor that has been read from memory.
  void Forget(const GgufTensor& tensor) const { file_.Forget(tensor.data, tensor.bytes); }

 private:
  MappedFile file_;
  GgufContent content_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GGUF_GGUF_H_
