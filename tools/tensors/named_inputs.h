// Matches given tensors with a program's inputs by name.
#ifndef FOVEA_TOOLS_TENSORS_NAMED_INPUTS_H_
#define FOVEA_TOOLS_TENSORS_NAMED_INPUTS_H_

#include <stdint.h>

#include <map>
#include <string>
#include <vector>

#include "tools/model/model.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::tools {

// Prefix of tensors with the segment lengths of a space.
inline constexpr char kSegments[] = "segments.";
inline bool IsSegments(const std::string& name) { return name.rfind(kSegments, 0) == 0; }

struct NamedTensor {
  std::string name;
  const StoredTensor* tensor;
};

// By input value, without attention_mask and segments. Fails with the name of a tensor that matches no input.
std::map<uint32_t, NamedTensor> MatchInputs(const Model& model, uint32_t program, const StoredTensors& tensors);

// Whether a program has an input for a tensor of this name.
bool TakesInput(const Model& model, uint32_t program, const std::string& name);

bool IsInteger(ElementType type);
// Converts to int32; fails for other types and values that do not fit.
std::vector<int32_t> ToIds(const std::string& name, const StoredTensor& tensor);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TENSORS_NAMED_INPUTS_H_
