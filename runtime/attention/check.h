// Everything in a spec or a call that could lead outside its arrays, overflow a product or make a run endless.
#ifndef FOVEA_RUNTIME_ATTENTION_CHECK_H_
#define FOVEA_RUNTIME_ATTENTION_CHECK_H_

#include "runtime/attention/attention.h"
#include "runtime/base/status.h"

namespace fovea {

// Numbers and tables of a spec whose features this build has (features.h), and what goes with what (rules.h). `code`
// is the status of numbers that are out of range; entries of tables: FOVEA_E_ID.
Status CheckAttentionSpec(const AttentionSpec& spec, bool shapes_only, fovea_status code, Reporter& reporter);

// Whether it may take the place of a softmax.
bool Weighs(Activation);

// How long the arrays of a call are.
struct AttentionRows {
  uint32_t queries, keys;  // rows of q and out; of k and v
  uint32_t global_keys;
};
// Segments, global keys, clusters, coordinates and weights of a call whose spec has passed. Row ranges, pointers and
// strides are the caller's.
Status CheckAttentionCall(const AttentionCall& call, const AttentionRows& rows, Reporter& reporter);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_ATTENTION_CHECK_H_
