// Reads the tensors of a file that torch.save wrote: pytorch_model.bin, *.pt, *.pth, *.ckpt. Nothing in it is run.
#ifndef FOVEA_TOOLS_TORCH_TORCH_FILE_H_
#define FOVEA_TOOLS_TORCH_TORCH_FILE_H_

#include <stdint.h>

#include <map>
#include <string>
#include <vector>

#include "tools/base/mapped_file.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::tools {

struct TorchTensor {
  ElementType type = ElementType::kF32;
  std::vector<uint64_t> shape;
  std::vector<uint64_t> strides;  // in elements, of each dimension
  const uint8_t* data = nullptr;  // the first element; it need not be aligned
  bool swapped = false;           // elements are big-endian

  uint64_t count() const;
};

using TorchTensors = std::map<std::string, TorchTensor>;

struct TorchEntries {
  TorchTensors tensors;
  std::vector<std::string> skipped;  // entries beside the weights, each with what it is
};

// The state dictionary in the bytes of a file, as pointers into `data`: the whole, or the entry that holds it
// ("state_dict", "model", ...). Every offset, size, shape and stride is checked. A name of Python that weights do not
// need is refused, unless it is only in an entry that is skipped. `where` begins messages.
TorchEntries ParseTorch(const uint8_t* data, uint64_t size, const std::string& where);

// In the order of the shape; f64 and integers are rounded.
std::vector<float> ToFloats(const TorchTensor& tensor);
std::vector<int64_t> ToIntegers(const TorchTensor& tensor);

class TorchReader {
 public:
  explicit TorchReader(const std::string& path);

  const TorchTensors& tensors() const { return entries_.tensors; }
  const std::vector<std::string>& skipped() const { return entries_.skipped; }
  // Lets the kernel drop the bytes of a tensor that has been read from memory.
  void Forget(const TorchTensor& tensor) const;

 private:
  MappedFile file_;
  TorchEntries entries_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TORCH_TORCH_FILE_H_
