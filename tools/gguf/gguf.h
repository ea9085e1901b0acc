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
enum class GgufType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ8_1 = 9,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kQ8_K = 15,
  kIQ4_NL = 20,
  kIQ4_XS = 23,
  kF64 = 28,
  kBF16 = 30,
  kTQ1_0 = 34,
  kTQ2_0 = 35,
  kMXFP4 = 39,
};
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

// A file, or all files of a model that is split: their names end in "-00001-of-00003.gguf".
class GgufReader {
 public:
  // `path` is any of the files. Fails with the name of one that is missing.
  explicit GgufReader(const std::string& path);

  // The file with the metadata: the first one.
  const std::string& path() const { return files_[0]->path(); }
  std::vector<std::string> paths() const;
  const Json& metadata() const { return content_.metadata; }
  const GgufTensors& tensors() const { return content_.tensors; }
  // Lets the kernel drop the bytes of a tensor that has been read from memory.
  void Forget(const GgufTensor& tensor) const;

 private:
  std::vector<std::unique_ptr<const MappedFile>> files_;
  GgufContent content_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GGUF_GGUF_H_
