// Records of operations with the inputs, tensors and attributes of attention. This header includes the lists of these;
// a file that only reads a lowered operation includes attention.h, which does not.
#ifndef FOVEA_RUNTIME_OPS_ATTENTION_RECORDS_H_
#define FOVEA_RUNTIME_OPS_ATTENTION_RECORDS_H_

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/ops/attention.h"

namespace fovea {

// Lowers everything except the output.
Status LowerAttention(const OpView&, Reporter&, AttentionOp*);

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

#endif  // FOVEA_RUNTIME_OPS_ATTENTION_RECORDS_H_
