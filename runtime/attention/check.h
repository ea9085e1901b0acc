// Checks for everything in a spec or a call that could read or write outside its arrays, overflow or never end.
#ifndef FOVEA_RUNTIME_ATTENTION_CHECK_H_
#define FOVEA_RUNTIME_ATTENTION_CHECK_H_

#include "runtime/attention/attention.h"
#include "runtime/base/status.h"

namespace fovea {

// Checks numbers, tables and combinations (rules.h) of a spec whose features this build has (features.h). Returns
// `code` for numbers that are out of range, FOVEA_E_ID for entries of tables.
Status CheckAttentionSpec(const AttentionSpec& spec, bool shapes_only, fovea_status code, Reporter& reporter);

// Whether this activation may replace the softmax.
bool Weighs(Activation);

// Lengths of the arrays of a call.
struct AttentionRows {
  uint32_t queries, keys;  // rows of q and out; of k and v
  uint32_t global_keys, summaries;
};
// Checks segments, global keys, summaries, clusters, coordinates and attention maps of a call whose spec has passed.
// The caller is responsible for row ranges, pointers and strides.
Status CheckAttentionCall(const AttentionCall& call, const AttentionRows& rows, Reporter& reporter);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_CHECK_H_
