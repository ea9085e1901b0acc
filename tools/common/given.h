// The tensors that stand for a program's inputs, by name.
#ifndef FOVEA_TOOLS_COMMON_GIVEN_H_
#define FOVEA_TOOLS_COMMON_GIVEN_H_

#include <stdint.h>

#include <map>
#include <string>
#include <vector>

#include "tools/common/model.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::tools {

// What begins the name of a tensor that says how the rows of a space fall into segments.
inline constexpr char kSegments[] = "segments.";
inline bool IsSegments(const std::string& name) { return name.rfind(kSegments, 0) == 0; }

struct Given {
  std::string name;
  const StoredTensor* tensor;
};

// By input value; attention_mask and segments are none. Fails with the name of a tensor that stands for nothing.
std::map<uint32_t, Given> MatchInputs(const Model& model, uint32_t program, const StoredTensors& tensors);

bool IsInteger(ElementType type);
// Fails unless they are integers that fit.
std::vector<int32_t> Ids(const std::string& name, const StoredTensor& tensor);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_GIVEN_H_
