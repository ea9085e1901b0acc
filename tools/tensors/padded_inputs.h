// Converts padded tensors of other libraries ([batch, sequence, ...] with a 0/1 mask) to ragged batches.
#ifndef FOVEA_TOOLS_TENSORS_PADDED_INPUTS_H_
#define FOVEA_TOOLS_TENSORS_PADDED_INPUTS_H_

#include "tools/model/batch.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::tools {

// Inputs of a program by the usual names (input_ids, token_type_ids, attention_mask) or the names of its values. Rows
// that the mask excludes are dropped; absent token_type_ids are zero, absent carried inputs keep the values of the run
// before. If segments.<space> is given, nothing is padded (ragged.h), and outputs of the batch are returned without
// padding. Metadata "layout.<input>" can be "channels_first": [batch, width, sequence]. Fails with the name of a tensor
// that does not fit.
Batch BatchFromTensors(const Model& model, uint32_t program, const StoredTensors& tensors);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TENSORS_PADDED_INPUTS_H_
