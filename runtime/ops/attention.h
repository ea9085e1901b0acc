// A lowered attention: what taps, counts of pairs and inspection know of it besides running it.
#ifndef FOVEA_RUNTIME_OPS_ATTENTION_H_
#define FOVEA_RUNTIME_OPS_ATTENTION_H_

#include "runtime/attention/attention.h"
#include "runtime/attention/features.h"
#include "runtime/blob/attributes.h"
#include "runtime/blob/format.h"
#include "runtime/blob/operands.h"
#include "runtime/ops/op.h"

namespace fovea {

struct AttentionOp : Op {
  AttentionSpec spec{};
  DType key_type = DType::kF32;
  // Places of the inputs after q, k and v in `inputs`, kBlobNone where there is none.
  uint32_t key_bias = kBlobNone, global_keys = kBlobNone, clusters = kBlobNone, centers = kBlobNone;
  uint32_t pair_bias = kBlobNone;
  uint32_t summaries = kBlobNone;  // their keys; values come next
  uint32_t coordinates = kBlobNone;
  uint32_t pair_bias_heads = 0;  // 1: it is that of all heads
  // Where queries' segments are rows of a space below that of which the keys' are: the spaces from there up.
  uint32_t above[kMaxSpaceDepth] = {};
  uint32_t levels = 0;

  const OpValue& queries() const { return inputs[0]; }
  const OpValue& keys() const { return inputs[1]; }
  // The keys of a query segment.
  uint32_t KeySegmentOf(const SpaceRows* spaces, uint32_t segment) const {
    for (uint32_t i = 0; i < levels; ++i) segment = spaces[above[i]].segments.Of(segment);
    return segment;
  }
};

// With biases and summaries.
AttentionFeatures FeaturesOf(const AttentionOp&);
// Null for other operations.
const AttentionOp* AsAttention(const Op&);

// For operations of the same inputs, tensors and attributes as attention: all of lowering but the output.
Status LowerAttention(const OpView&, Reporter&, AttentionOp*);
// Rows and heads of a tile, and what inputs say of them: all of a call but where outputs and weights go. `above` is for
// the spaces that segments of queries lie in.
void SetAttentionCall(const AttentionOp&, const OpRun&, Segments (&above)[kMaxSpaceDepth], AttentionCall*);
// The layout of the engine's scratch, which a session keeps.
void PlaceAttention(const AttentionOp&, uint32_t tile_rows, void* memory);
// A segment has no more keys than a bias of pairs has entries for.
SegmentLimit KeyLimit(const AttentionOp&);

inline constexpr uint32_t kAttentionInputs = kOperandsOf<OpCode::kAttention>.max_inputs;
static_assert(kAttentionInputs <= kMaxFormerInputs, "");
// OpDef::former_inputs
Status FormerAttentionInputs(const OpView&, Reporter&, uint32_t* inputs, uint32_t* count);

#define FOVEA_NUMBER(part, field, Name, least, most) Attribute::k##Name,
#define FOVEA_REAL(part, field, Name) Attribute::k##Name,
#define FOVEA_FLAG(part, field, Name) Attribute::k##Name,
#define FOVEA_CHOICE(part, field, Name, Enum) Attribute::k##Name,
inline constexpr Attribute kAttentionAttributes[] = {
#include "runtime/blob/attention_fields.inc"
    Attribute::kHeads,   Attribute::kKvHeads,  Attribute::kScale,        Attribute::kPattern,
    Attribute::kLeft,    Attribute::kRight,    Attribute::kLayoutByHead, Attribute::kGlobalKeys,
    Attribute::kKeyBias, Attribute::kPairBias, Attribute::kSummaries,    Attribute::kRowCoordinates};
#undef FOVEA_NUMBER
#undef FOVEA_REAL
#undef FOVEA_FLAG
#undef FOVEA_CHOICE

}  // namespace fovea

#endif  // FOVEA_RUNTIME_OPS_ATTENTION_H_
