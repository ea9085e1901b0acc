// A program cut into phases, and its values laid into slots: everything about running it that limits do not change.
//
// A phase is a run of steps over one row space in which each tile of rows needs nothing of other tiles, so a worker
// carries a tile through all of them; between phases there is a barrier. Values used only inside the phase that
// computes them exist for one tile at a time. Operations whose unit of work is not a row have phases of their own.
#ifndef FOVEA_RUNTIME_PLAN_PLAN_H_
#define FOVEA_RUNTIME_PLAN_PLAN_H_

#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/model/model.h"

namespace fovea {

struct PhasePlan {
  uint32_t first_step, step_count;  // in ProgramPlan::steps
  uint32_t space;                   // whose rows are tiled
  uint32_t level;                   // barriers that must have passed before
  Unit unit;                        // kSegments: steps that need nothing of each other; kAll and kHeads: one step
};
// Steps in a phase by segments, at most: each has its tiles.
inline constexpr uint32_t kMaxSegmentSteps = 4;

// Where a value lives. Inputs, and outputs that carry one, have memory of their own (slot kBlobNone).
struct ValuePlan {
  bool tile;  // in the worker's tile slots, else in the session's slots
  uint32_t slot;
  uint32_t row_bytes;
};

// Memory for one value at a time: rows of the space times the longest row that ever lies here.
struct SlotPlan {
  uint32_t space;
  uint32_t row_bytes;
};

struct ProgramPlan {
  const ProgramRecord* record;
  uint32_t* steps;     // operations in running order
  uint32_t* phase_of;  // [operations]
  PhasePlan* phases;
  uint32_t phase_count;
  ValuePlan* values;
  SlotPlan* slots;
  uint32_t slot_count;
  uint32_t* tile_slots;  // bytes of a row of each
  uint32_t tile_slot_count;
  uint32_t quantized_width;  // widest input of a linear layer with integer weights; 0: none
  uint64_t tile_row_bytes;   // of all tile slots
};

// Plans every program. With a counting arena only sizes are meaningful.
Status PlacePlans(const Model& model, Arena& arena, Reporter& reporter, ProgramPlan** plans);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_PLAN_PLAN_H_
