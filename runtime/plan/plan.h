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
#include "runtime/plan/slots.h"

namespace fovea {

struct PhasePlan {
  uint32_t first_step, step_count;  // in ProgramPlan::steps
  uint32_t space;                   // whose rows are tiled
  uint32_t level;                   // barriers that must have passed before
  Unit unit;                        // kSegments: steps that need nothing of each other; kAll and kHeads: one step
  uint32_t most_shares;             // most workers that share a step where rows are few; below 2: none does
  uint64_t weights;                 // of the linear layers that are shared then; kSegments: of each step at least
};

// How workers do a step where the rows are few, so that all of them work on the same rows (stages.cc).
struct StepShare {
  Share share;
  bool begins_stage;  // workers wait for each other before it
  bool first_only;    // kEach: only the first worker needs what it makes
  uint32_t grain;     // kColumns, kProduct: columns of the output that stay together; kHeads: 1, in key/value heads
  uint32_t units;     // grains to share
};
// Steps in a phase by segments, at most: each has its tiles.
inline constexpr uint32_t kMaxSegmentSteps = 4;

// Where a value lives. Inputs, and outputs that carry one, have memory of their own (slot kBlobNone).
struct ValuePlan {
  bool tile;  // in the worker's tile slots, else in the session's slots
  uint32_t slot;
  uint32_t row_bytes;
  // Where the rows are few: made by each worker, in its own slots (kBlobNone: others than the first have none), else in
  // the slots that all share.
  uint32_t few_slot = kBlobNone;
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
  StepShare* shares;                  // [operations]
  PhaseSlots own_slots;               // where rows are few: of each worker
  PhaseSlots shared_slots;            // where rows are few: of all
  bool* uses_gemm_op;                 // [Model::gemm_op_count]
  uint32_t most_inputs, input_count;  // of an operation, of all
  uint32_t quantized_width;           // widest input of a linear layer with integer weights; 0: none
  uint64_t tile_row_bytes;            // of all tile slots
};

// Of a program with phases and slots: what workers share of its phases by rows. Takes its memory from the arena.
void PlanStages(const Model& model, Arena& arena, ProgramPlan* plan);

// Plans every program. With a counting arena only sizes are meaningful.
Status PlacePlans(const Model& model, Arena& arena, Reporter& reporter, ProgramPlan** plans);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_PLAN_PLAN_H_
