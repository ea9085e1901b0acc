// Converts outputs of ragged batches to padded tensors of other libraries.
#ifndef FOVEA_TOOLS_TENSORS_PADDED_OUTPUTS_H_
#define FOVEA_TOOLS_TENSORS_PADDED_OUTPUTS_H_

#include <stdint.h>

#include <string>

#include "tools/model/batch.h"
#include "tools/tensors/output_tensor.h"

namespace fovea::tools {

// [batch, sequence, width], or [rows, width] if the value's space has no parent. Metadata "layout.<name>" can be
// "channels_first ROWS COLUMNS": segments are images, row by row, and become [batch, width, ROWS, COLUMNS]; or
// "channels_last ROWS COLUMNS": [batch, ROWS, COLUMNS, width]. "layout.<space>" can be "front_last N": the first N rows
// of each segment are put last, here and in attention maps.
OutputTensor PaddedValue(const Model& model, const Session& session, const Batch& batch, uint32_t value,
                         const std::string& name);
// [batch, heads, queries, keys]; `tap` is the index of a dense tap of all rows.
OutputTensor PaddedAttention(const Model& model, const Session& session, const Batch& batch, uint32_t tap,
                             const std::string& name);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TENSORS_PADDED_OUTPUTS_H_
