// A lowered attention operation, as read by taps, counts of pairs and inspection besides the run itself.
#ifndef FOVEA_RUNTIME_OPS_ATTENTION_H_
#define FOVEA_RUNTIME_OPS_ATTENTION_H_

#include "runtime/attention/attention.h"
#include "runtime/attention/features.h"
#include "runtime/blob/format.h"
#include "runtime/ops/op.h"

namespace fovea {

struct AttentionOp : Op {
  AttentionSpec spec{};
  DType key_type = DType::kF32;
  // Indices in `inputs` of the inputs after q, k and v; kBlobNone: absent.
  uint32_t key_bias = kBlobNone, global_keys = kBlobNone, clusters = kBlobNone, centers = kBlobNone;
  uint32_t pair_bias = kBlobNone;
  uint32_t summaries = kBlobNone;  // index of the summary keys; their values are the next input
  uint32_t coordinates = kBlobNone;
  uint32_t pair_bias_heads = 0;  // 1: all heads share it
  // If query segments are rows of a space nested below the one whose rows are key segments: the spaces from there up.
  uint32_t above[kMaxSpaceDepth] = {};
  uint32_t levels = 0;

  const OpValue& queries() const { return inputs[0]; }
  const OpValue& keys() const { return inputs[1]; }
  // The key segment that a query segment attends to.
  uint32_t KeySegmentOf(const SpaceRows* spaces, uint32_t segment) const {
    for (uint32_t i = 0; i < levels; ++i) segment = spaces[above[i]].segments.Of(segment);
    return segment;
  }
};

// Features in use, including biases and summaries.
AttentionFeatures FeaturesOf(const AttentionOp&);
// Null for other operations.
const AttentionOp* AsAttention(const Op&);

// Fills the parts of a call that follow from a tile's rows, heads and inputs: everything except the destinations of
// outputs and attention maps. `above` is memory for the segments of the spaces above the queries' space.
void SetAttentionCall(const AttentionOp&, const OpRun&, Segments (&above)[kMaxSpaceDepth], AttentionCall*);
// Computes the layout of the engine's scratch; a session keeps it.
void PlaceAttention(const AttentionOp&, uint32_t tile_rows, void* memory);
// Limits a segment's keys to the entries of a pair bias.
SegmentLimit KeyLimit(const AttentionOp&);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_OPS_ATTENTION_H_
