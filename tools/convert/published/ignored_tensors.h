// Stored tensors that the original library ignores when it reads a model: buffers that follow from the configuration,
// and copies or heads that its class does not have.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_IGNORED_TENSORS_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_IGNORED_TENSORS_H_

#include <string>

#include "tools/convert/findings.h"
#include "tools/convert/weights.h"

namespace fovea::tools {

// Marks the unused tensors of a family, and adds a finding if there are any. A tensor that the architecture uses
// is used all the same.
void IgnoreUnusedTensors(const std::string& model_type, Weights& weights, Findings& findings);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_IGNORED_TENSORS_H_
