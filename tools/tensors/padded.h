// Converts padded tensors of other libraries ([batch, sequence, ...] with a 0/1 mask) to and from ragged batches.
#ifndef FOVEA_TOOLS_TENSORS_PADDED_H_
#define FOVEA_TOOLS_TENSORS_PADDED_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "tools/model/batch.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::tools {

// Inputs of a program by the usual names (input_ids, token_type_ids, attention_mask) or the names of its values. Rows
// that the mask excludes are dropped; absent token_type_ids are zero, absent carried inputs keep the values of the run
// before. If segments.<space> is given, nothing is padded (ragged.h), and the functions below return rows without
// padding. Metadata "layout.<input>" can be "channels_first": [batch, width, sequence]. Fails with the name of a tensor
// that does not fit.
Batch BatchFromTensors(const Model& model, uint32_t program, const StoredTensors& tensors);

// Whether a program has an input for a tensor of this name.
bool TakesInput(const Model& model, uint32_t program, const std::string& name);

struct OutputTensor {
  std::string name;
  std::vector<uint64_t> shape;
  std::vector<float> values;   // zero at padding
  std::vector<uint8_t> valid;  // per entry: 0 at padding
};

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

#endif  // FOVEA_TOOLS_TENSORS_PADDED_H_
