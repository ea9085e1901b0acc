// Lowers the record of an operation. The model and the converter share this code, so that both infer the same shapes
// and report the same faults.
#ifndef FOVEA_RUNTIME_OPS_RECORD_H_
#define FOVEA_RUNTIME_OPS_RECORD_H_

#include "runtime/base/arena.h"
#include "runtime/ops/op.h"

namespace fovea {

// Memory for an operation while the arena has none.
struct alignas(kAlignment) OpRoom {
  static constexpr size_t kBytesPerInput = 32;
  uint8_t bytes[kMaxOpBytes + kMaxInputs * (kBytesPerInput + sizeof(OpValue))];
};

// Whether a record of the operation must have input or tensor i.
constexpr bool RequiresInput(const OpDef& def, uint32_t i) {
  return i < def.operands.min_inputs || def.operands.repeats_inputs;
}
constexpr bool RequiresTensor(const OpDef& def, uint32_t i) { return i < def.operands.min_tensors; }
// Checks that the operation may have this number of inputs and of tensors.
Status CheckCounts(const OperationRecord&, const OpDef&, Reporter&);
// Checks that the operation supports the record's attributes (which are in the blob) and that values have their types.
Status CheckAttributes(const Blob&, const OperationRecord&, const OpDef&, Reporter&);
// Infers the operation's output from inputs, tensors, attributes and the space that the output's record names, and
// lowers it into the arena, or into `room` if the arena has no memory. Op::output then has the inferred width and type,
// which the output's record need not have yet. Everything that the record refers to must exist.
Status LowerRecord(const OpView&, const OpDef&, Arena&, OpRoom* room, Reporter&, Op** op);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_OPS_RECORD_H_
