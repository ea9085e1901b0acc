// Values of tensors: integers times scales, in f32 and in the order of the format's definition.
#include "tools/gguf/block_values.h"
#include "tools/gguf/gguf.h"

namespace fovea::tools {

std::vector<float> ToFloats(const GgufTensor& tensor) {
  ReadBlock read = ReaderOfSimpleBlocks(tensor.type);
  if (read == nullptr) read = ReaderOfSuperBlocks(tensor.type);
  if (read == nullptr) read = ReaderOfTableBlocks(tensor.type);
  const GgufBlock block = BlockOf(tensor.type);
  std::vector<float> values(tensor.count());
  for (uint64_t i = 0; i < tensor.bytes / block.bytes; ++i) {
    read(tensor.data + i * block.bytes, values.data() + i * block.elements);
  }
  return values;
}

}  // namespace fovea::tools
