// Lowering: decodes the records of an operation into a plain struct.
#ifndef FOVEA_RUNTIME_MODEL_LOWER_H_
#define FOVEA_RUNTIME_MODEL_LOWER_H_

#include "runtime/base/arena.h"
#include "runtime/ops/record.h"

namespace fovea {

// Checks and lowers the operations of a program, one after the other.
class Lowerer {
 public:
  // The blob has passed CheckRecords. `selections`: see FindSelections.
  Lowerer(const Blob& blob, const ProgramRecord& program, const uint64_t* selections)
      : blob_(blob),
        program_(program),
        selections_(selections),
        inputs_(program.value_count - program.operation_count) {}

  // Lowers operation i, after all operations before it: into the arena, or into `room` if the arena has no memory.
  Status Lower(uint32_t i, Arena& arena, OpRoom* room, Reporter& reporter, Op** op);
  OpView View(uint32_t i) const {
    return {&blob_, &blob_.operations[program_.first_operation + i], blob_.values.data + program_.first_value};
  }

 private:
  Status CheckSelected(const OpView& view, const OpDef& def, Reporter& reporter);

  const Blob& blob_;
  const ProgramRecord& program_;
  const uint64_t* selections_;
  const uint32_t inputs_;
  uint64_t selected_ = 0;  // one bit per space whose rows have been chosen
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_MODEL_LOWER_H_
