// Adapters of PEFT (LoRA, DoRA): small matrices beside a model that are added to its weights.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_ADAPTER_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_ADAPTER_H_

#include <string>

#include "tools/convert/findings.h"
#include "tools/convert/weights.h"

namespace fovea::tools {

// Merges the adapter of a directory (adapter_config.json, adapter_model.safetensors or .bin) into the stored weights:
// W + scale * B A, computed in f64 and rounded to f32 once. Fails if a tensor of the adapter finds no place, or at a
// setting that changes results and is not supported.
void MergeAdapter(const std::string& directory, Weights& weights, Findings& findings);

// Whether there is an adapter in a directory.
bool HasAdapter(const std::string& directory);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_ADAPTER_H_
