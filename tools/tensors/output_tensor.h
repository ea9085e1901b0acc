// An output of a program as a tensor of other libraries.
#ifndef FOVEA_TOOLS_TENSORS_OUTPUT_TENSOR_H_
#define FOVEA_TOOLS_TENSORS_OUTPUT_TENSOR_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace fovea::tools {

struct OutputTensor {
  std::string name;
  std::vector<uint64_t> shape;
  std::vector<float> values;   // zero at padding
  std::vector<uint8_t> valid;  // per entry: 0 at padding
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TENSORS_OUTPUT_TENSOR_H_
