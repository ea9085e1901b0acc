// Records of an operation -> its lowered form.
#ifndef FOVEA_RUNTIME_MODEL_LOWER_H_
#define FOVEA_RUNTIME_MODEL_LOWER_H_

#include "runtime/base/arena.h"
#include "runtime/ops/record.h"

namespace fovea {

// Checks the operations of a program one after the other and lowers them.
class Lowerer {
 public:
  // Of a blob that has passed CheckRecords. `selections`: as FindSelections.
  Lowerer(const Blob& blob, const ProgramRecord& program, const uint64_t* selections)
      : blob_(blob),
        program_(program),
        selections_(selections),
        inputs_(program.value_count - program.operation_count) {}

  // Operation i of the program, after those before it: into the arena, or `room` where that has no memory.
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
  uint64_t selected_ = 0;  // bit per space whose rows have been chosen
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_MODEL_LOWER_H_
