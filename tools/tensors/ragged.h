// Tensors without padding: the rows of all segments concatenated, and `segments.<space>`, the number of rows of each
// segment. Spaces can nest to any depth.
#ifndef FOVEA_TOOLS_TENSORS_RAGGED_H_
#define FOVEA_TOOLS_TENSORS_RAGGED_H_

#include <string>

#include "tools/model/batch.h"
#include "tools/safetensors/safetensors.h"
#include "tools/tensors/output_tensor.h"

namespace fovea::tools {

// Whether there are segments.<space>.
bool IsRagged(const StoredTensors& tensors);

// Inputs `[rows, width]`, or `[rows]` where the width is 1. Every input space with a parent that the program uses needs
// segments.<space>, integers `[segments]`.
Batch RaggedBatch(const Model& model, uint32_t program, const StoredTensors& tensors);

// [rows, width]
OutputTensor RaggedValue(const Session& session, uint32_t value, const std::string& name);
// [query rows, heads, longest key segment]: keys count from the beginning of the query's segment.
OutputTensor RaggedAttention(const Model& model, const Session& session, uint32_t tap, const std::string& name);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TENSORS_RAGGED_H_
