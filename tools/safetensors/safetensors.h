// Reads tensors of a safetensors file in place from a mapped file, or writes them.
#ifndef FOVEA_TOOLS_SAFETENSORS_SAFETENSORS_H_
#define FOVEA_TOOLS_SAFETENSORS_SAFETENSORS_H_

#include <stdint.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/base/mapped_file.h"

namespace fovea::tools {

// F8 types: four exponent and three fraction bits, without infinities (float8_e4m3fn); five and two; powers of two.
enum class ElementType {
  kF64,
  kF32,
  kF16,
  kBF16,
  kF8E4M3,
  kF8E5M2,
  kF8E8M0,
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool
};
const char* ElementName(ElementType type);
uint32_t ElementBytes(ElementType type);

struct StoredTensor {
  ElementType type = ElementType::kF32;
  std::vector<uint64_t> shape;
  const uint8_t* data = nullptr;  // need not be aligned
  uint64_t bytes = 0;

  uint64_t count() const { return bytes / ElementBytes(type); }
};

using StoredTensors = std::map<std::string, StoredTensor>;

// Converts any element type; f64 and integers are rounded.
std::vector<float> ToFloats(const StoredTensor& tensor);
std::vector<int64_t> ToIntegers(const StoredTensor& tensor);
std::string ShapeText(const std::vector<uint64_t>& shape);

// The tensors in the bytes of a file, as pointers into `data`. Every offset, size and shape is checked. `where` begins
// messages.
StoredTensors ParseSafetensors(const uint8_t* data, uint64_t size, const std::string& where);

// The tensors of a file, or of all files listed in a `*.safetensors.index.json`.
class SafetensorsReader {
 public:
  explicit SafetensorsReader(const std::string& path);

  const StoredTensors& tensors() const { return tensors_; }
  // nullptr if there is no tensor of that name.
  const StoredTensor* Find(const std::string& name) const;
  // Fails with the file and the name if there is no such tensor.
  const StoredTensor& Get(const std::string& name) const;
  // Lets the kernel drop the bytes of a tensor that has been read from memory.
  void Forget(const StoredTensor& tensor) const;

 private:
  std::string path_;
  std::vector<std::unique_ptr<MappedFile>> files_;
  StoredTensors tensors_;
};

// Collects tensors, then writes them in the order in which they were added.
class SafetensorsWriter {
 public:
  void AddFloats(const std::string& name, const std::vector<uint64_t>& shape, const float* values);
  void AddIntegers(const std::string& name, const std::vector<uint64_t>& shape, const int64_t* values);
  // `values`: the bytes to store.
  void Add(const std::string& name, ElementType type, const std::vector<uint64_t>& shape, const void* values);

  std::string Bytes() const;
  void Write(const std::string& path) const;

 private:
  struct Entry {
    std::string name;
    ElementType type;
    std::vector<uint64_t> shape;
    std::string bytes;
  };
  std::vector<Entry> entries_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SAFETENSORS_SAFETENSORS_H_
