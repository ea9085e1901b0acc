// LoRA matrices for several tasks within the weights of one model (jina-embeddings-v3): one of them is merged.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_TASK_ADAPTERS_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_TASK_ADAPTERS_H_

#include <string>

#include "tools/convert/arch/config.h"
#include "tools/convert/findings.h"
#include "tools/convert/weights.h"

namespace fovea::tools {

// Whether config.json lists tasks (`lora_adaptations`).
bool HasTaskAdapters(const Config& config);

// Gives all layers their plain names, with the matrices of `task` merged: W + scale * B A, computed in f64 and rounded
// to f32 once. Without a task the weights stay as they are, as the original computes where it is given none. Fails at a
// task that is not listed, and at matrices whose sizes do not fit.
void MergeTaskAdapter(const Config& config, const std::string& task, Weights& weights, Findings& findings);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_TASK_ADAPTERS_H_
