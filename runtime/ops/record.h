// A record of an operation -> its lowered form. The model and the converter share this, so that both infer the same
// shapes and report the same faults.
#ifndef FOVEA_RUNTIME_OPS_RECORD_H_
#define FOVEA_RUNTIME_OPS_RECORD_H_

#include "runtime/base/arena.h"
#include "runtime/ops/op.h"

namespace fovea {

// Where an operation goes while there is no memory for it.
struct alignas(kAlignment) OpRoom {
  static constexpr size_t kBytesPerInput = 32;
  uint8_t bytes[kMaxOpBytes + kMaxInputs * (kBytesPerInput + sizeof(OpValue))];
};

// The operation may have this number of inputs and of tensors.
Status CheckCounts(const OperationRecord&, const OpDef&, Reporter&);
// Its attributes, which are in the blob, are ones that the operation knows, with values of their types.
Status CheckAttributes(const Blob&, const OperationRecord&, const OpDef&, Reporter&);
// Infers what the operation makes from inputs, tensors, attributes and the space that the output's record names, and
// lowers it into the arena, or `room` where that has no memory. Op::output then has the inferred width and type, which
// the output's record need not have yet. What the record refers to exists.
Status LowerRecord(const OpView&, const OpDef&, Arena&, OpRoom* room, Reporter&, Op** op);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_OPS_RECORD_H_
