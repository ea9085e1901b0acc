// A program cut into phases, with its values assigned to slots: the part of planning that does not depend on limits.
//
// A phase is a run of operations over one row space in which a tile of rows depends on no other tile, so a worker
// carries a tile through all of them; between phases there is a barrier. Values used only inside the phase that
// computes them exist for one tile at a time. An operation whose unit of work is not a row forms a phase alone.
#ifndef FOVEA_RUNTIME_PLAN_PLAN_H_
#define FOVEA_RUNTIME_PLAN_PLAN_H_

#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/model/model.h"
#include "runtime/plan/slots.h"

namespace fovea {

struct PhasePlan {
  uint32_t first_step, step_count;  // in ProgramPlan::steps
  uint32_t space;                   // whose rows are cut into tiles
  uint32_t level;                   // number of barriers before the phase
  Unit unit;                        // kSegments: independent operations; kAll and kHeads: one operation
  uint32_t most_shares;             // column-parallel: the most workers that can split an operation; below 2: none
  uint64_t weights;                 // number of weights that are then split; kSegments: per operation at least
};

// How workers split an operation of a phase that is executed column-parallel: all work on the same rows (stages.cc).
struct StepShare {
  Share share;
  bool begins_stage;  // a barrier precedes it
  bool first_only;    // kReplicated: only the first worker needs its output
  uint32_t grain;     // kColumns, kMatmul: columns of the output that are not split; kHeads: 1, in key/value heads
  uint32_t units;     // number of grains
};
// The most operations in a phase of unit kSegments; each has its own counter of tiles.
inline constexpr uint32_t kMaxSegmentSteps = 4;

// Where a value is stored. Inputs, and outputs that carry one, have separate memory (slot kBlobNone).
struct ValuePlan {
  bool tile;  // in the worker's tile slots, else in the session's slots
  uint32_t slot;
  uint32_t row_bytes;
  // The slot in a column-parallel phase. If each worker makes the value: in private slots (kBlobNone: only the first
  // worker has one), else in the shared slots.
  uint32_t column_parallel_slot = kBlobNone;
};

// Memory for one value at a time: rows of the space times the longest row that is ever stored here.
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
  uint32_t* tile_slots;  // bytes per row, by slot
  uint32_t tile_slot_count;
  StepShare* shares;                  // [operations]
  PhaseSlots private_slots;           // column-parallel phases: per worker
  PhaseSlots shared_slots;            // column-parallel phases: shared by all workers
  bool* uses_gemm_op;                 // [Model::gemm_op_count]
  uint32_t most_inputs, input_count;  // per operation; in total
  uint32_t quantized_width;           // widest input of a linear layer with integer weights; 0: none
  uint64_t tile_row_bytes;            // sum of all tile slots
};

// Plans the column-parallel execution of a program that already has phases and slots. Takes memory from the arena.
void PlanStages(const Model& model, Arena& arena, ProgramPlan* plan);

// Plans every program. With a counting arena only sizes are meaningful.
Status PlacePlans(const Model& model, Arena& arena, Reporter& reporter, ProgramPlan** plans);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_PLAN_PLAN_H_
