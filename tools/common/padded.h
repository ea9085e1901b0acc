// Padded tensors as other libraries have them ([batch, sequence, ..] with a 0/1 mask) from and to ragged batches.
#ifndef FOVEA_TOOLS_COMMON_PADDED_H_
#define FOVEA_TOOLS_COMMON_PADDED_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "tools/common/batch.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::tools {

// Inputs of a program by the names that the ecosystem uses (input_ids, token_type_ids, attention_mask) or by the names
// of its values. Rows that the mask leaves out are dropped; absent token_type_ids are zero, absent carried inputs what
// the run before left. Where segments.<space> are given, nothing is padded (ragged.h), and the functions below return
// rows as they are. Metadata "layout.<input>" may say "channels_first": [batch, width, sequence]. Fails with the name
// of a tensor that does not fit.
Batch BatchFromTensors(const Model& model, uint32_t program, const StoredTensors& tensors);

// Is there a place for a tensor of this name among a program's inputs?
bool TakesInput(const Model& model, uint32_t program, const std::string& name);

struct PaddedTensor {
  std::string name;
  std::vector<uint64_t> shape;
  std::vector<float> values;   // zero at padding
  std::vector<uint8_t> valid;  // per entry: 0 at padding
};

// [batch, sequence, width], or [rows, width] where the value's space has no parent. Metadata "layout.<name>" may say
// "channels_first ROWS COLUMNS": the segments are pictures, row by row, and become [batch, width, ROWS, COLUMNS]; or
// "channels_last ROWS COLUMNS": [batch, ROWS, COLUMNS, width]. "layout.<space>" may say "front_last N": the first N
// rows of its segments stand last, here and among attention weights.
PaddedTensor PaddedValue(const Model& model, const Session& session, const Batch& batch, uint32_t value,
                         const std::string& name);
// [batch, heads, queries, keys]; `tap` is a position in the session's taps: one that is dense and has all rows.
PaddedTensor PaddedAttention(const Model& model, const Session& session, const Batch& batch, uint32_t tap,
                             const std::string& name);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_PADDED_H_
