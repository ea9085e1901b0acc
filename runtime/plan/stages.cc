// Column-parallel execution of a phase, for few rows.
//
// All workers work on the same rows, and the phase is cut into stages with a barrier between them. Within a stage a
// worker needs only results of earlier stages, private results, or its columns of a shared value. Matmuls are split by
// output columns and attention by key/value heads, in shared memory; an element-wise operation after a matmul is split
// by the same columns. Other operations are cheap: each worker repeats them in private memory instead of waiting.
#include <initializer_list>

#include "runtime/parallel/tiles.h"
#include "runtime/plan/plan.h"

namespace fovea {
namespace {

class StagePlanner {
 public:
  StagePlanner(const Model& model, Arena& arena, ProgramPlan* plan)
      : model_(model), plan_(*plan), inputs_(plan->record->value_count - plan->record->operation_count) {
    const uint32_t operations = plan_.record->operation_count;
    plan_.shares = arena.Take<StepShare>(operations);
    stage_of_ = arena.Take<uint32_t>(operations);
    position_of_ = arena.Take<uint32_t>(operations);
    last_reader_ = arena.Take<uint32_t>(operations);
    uses_ = arena.Take<SlotUse>(operations);
    for (PhaseSlots* slots : {&plan_.private_slots, &plan_.shared_slots}) {
      *slots = {arena.Take<uint32_t>(operations), arena.Take<uint32_t>(operations), 0};
    }
  }

  void Run() {
    for (uint32_t i = 0; i < plan_.record->operation_count; ++i) position_of_[plan_.steps[i]] = i;
    for (uint32_t i = 0; i < plan_.slot_count; ++i) uses_[i].stage_begin = UINT32_MAX;
    for (uint32_t p = 0; p < plan_.phase_count; ++p) {
      PhasePlan& phase = plan_.phases[p];
      first_ = phase.first_step;
      end_ = first_ + phase.step_count;
      if (phase.unit == Unit::kSegments) phase.weights = LeastWeights();
      if (phase.unit != Unit::kRows) continue;
      FormStages(&phase);
      FindReaders();
      if (phase.most_shares > 1) AssignSlots();
    }
  }

 private:
  // Use of a session slot in the current stage.
  struct SlotUse {
    uint32_t stage_begin;  // position of the stage's first operation
    bool by_columns;       // each worker touched only its columns, split as in `share`
    StepShare share;
  };

  const Op& OpAt(uint32_t position) const { return model_.Operation(*plan_.record, plan_.steps[position]); }
  StepShare& ShareAt(uint32_t position) { return plan_.shares[plan_.steps[position]]; }
  uint32_t OutputAt(uint32_t position) const { return inputs_ + plan_.steps[position]; }

  // Calls f(position) for each operation of the phase whose output the operation at `position` reads.
  template <typename F>
  void ForEachMaker(uint32_t position, F f) const {
    const Op& op = OpAt(position);
    for (uint32_t i = 0; i < op.input_count; ++i) {
      if (op.inputs[i].index < inputs_) continue;
      const uint32_t maker = position_of_[op.inputs[i].index - inputs_];
      if (maker >= first_ && maker < position) f(maker);
    }
  }

  // The fewest weights of an operation in a phase of unit kSegments, 0 if a team cannot execute one cooperatively.
  uint64_t LeastWeights() const {
    uint64_t least = UINT64_MAX;
    for (uint32_t position = first_; position < end_; ++position) {
      const Op& op = OpAt(position);
      uint64_t weights = 0;
      for (uint32_t i = 0; i < op.layer_count && op.def->cooperative; ++i) {
        const GemmShape& shape = op.layers[i].linear->weights.shape;
        weights += uint64_t{shape.n} * shape.k;
      }
      if (weights < least) least = weights;
    }
    return least;
  }

  // How this operation alone would be split. A matmul of few columns is cheap; a single key/value head cannot be
  // split.
  StepShare Wanted(uint32_t position) const {
    const Op& op = OpAt(position);
    StepShare wanted = {op.def->share, false, false, 1, 1};
    if (wanted.share == Share::kMatmul) {
      const Linear& linear = *op.layers[0].linear;
      const uint32_t made = linear.weights.shape.n, step = linear.backend->column_step;
      // With several concatenated matmuls, each begins at a grain.
      wanted.grain = made == op.output.width || made % step == 0 ? step : made;
      wanted.units = static_cast<uint32_t>(DivideUp(op.output.width, wanted.grain));
      if (wanted.units == 1) wanted.share = Share::kReplicated;
    }
    if (wanted.share == Share::kHeads) {
      wanted.units = op.kv_heads;
      if (wanted.units == 1) wanted.share = Share::kFirstWorker;
    }
    return wanted;
  }

  // Finds columns made in this stage that `position` could continue with: the position that made them, or end_.
  uint32_t ColumnsBefore(uint32_t position, uint32_t stage) {
    uint32_t found = end_;
    ForEachMaker(position, [&](uint32_t before) {
      const Share share = ShareAt(before).share;
      const bool by_columns = share == Share::kMatmul || share == Share::kColumns;
      if (stage_of_[before] != stage || !by_columns || OpAt(before).output.width != OpAt(position).output.width) return;
      if (found == end_ || before > found) found = before;
    });
    return found;
  }

  void FormStages(PhasePlan* phase) {
    uint32_t stage = 0;
    stage_begin_ = first_;
    phase->most_shares = 1;
    for (uint32_t position = first_; position < end_; ++position) {
      StepShare share = Wanted(position);
      const bool by_columns = share.share == Share::kColumns;
      if (by_columns) {
        const uint32_t before = ColumnsBefore(position, stage);
        share.share = before == end_ ? Share::kReplicated : Share::kColumns;
        if (before != end_) share.grain = ShareAt(before).grain, share.units = ShareAt(before).units;
      }
      if (Waits(position, share, stage)) {
        share.begins_stage = true;
        if (by_columns) share.share = Share::kReplicated;
        ++stage;
        stage_begin_ = position;
      }
      if (share.share == Share::kReplicated || share.share == Share::kFirstWorker) share.units = 1;
      stage_of_[position] = stage;
      ShareAt(position) = share;
      NoteUses(position);
      if (share.units > phase->most_shares) phase->most_shares = share.units;
      const Op& op = OpAt(position);
      if (share.share == Share::kMatmul) phase->weights += static_cast<uint64_t>(op.def->flops_per_row(op) / 2);
    }
  }

  // Whether a barrier must precede the operation because it depends on other workers' results of this stage.
  bool Waits(uint32_t position, const StepShare& share, uint32_t stage) {
    bool waits = false;
    ForEachMaker(position, [&](uint32_t before) {
      waits = waits || (stage_of_[before] == stage && !HasWhatItReads(ShareAt(before), share));
    });
    return waits || Overwrites(OutputAt(position), share);
  }
  static bool KeepsToColumns(const StepShare& before, const StepShare& share) {
    return share.share == Share::kColumns && (before.share == Share::kColumns || before.share == Share::kMatmul) &&
           before.grain == share.grain && before.units == share.units;
  }
  static bool HasWhatItReads(const StepShare& before, const StepShare& share) {
    if (before.share == Share::kReplicated) return true;
    if (before.share == Share::kFirstWorker) return share.share == Share::kFirstWorker;
    return KeepsToColumns(before, share);
  }
  // The session slot that holds a value, or null.
  SlotUse* UseOf(uint32_t value) {
    const ValuePlan& plan = plan_.values[value];
    return plan.tile || plan.slot == kBlobNone ? nullptr : &uses_[plan.slot];
  }
  // Whether writing this value would overwrite memory that other workers may still write or read in an earlier
  // operation of the stage: this happens where a slot changes its value in mid-phase.
  bool Overwrites(uint32_t value, const StepShare& share) {
    const SlotUse* use = UseOf(value);
    if (use == nullptr || use->stage_begin != stage_begin_) return false;
    return !use->by_columns || !KeepsToColumns(use->share, share);
  }
  void NoteUse(uint32_t value, const StepShare& share, bool by_columns) {
    SlotUse* use = UseOf(value);
    if (use == nullptr) return;
    if (use->stage_begin != stage_begin_) *use = {stage_begin_, true, share};
    const bool alike = use->share.grain == share.grain && use->share.units == share.units;
    use->by_columns = use->by_columns && by_columns && alike;
  }
  // A matmul reads all columns and writes its own.
  void NoteUses(uint32_t position) {
    const StepShare& share = ShareAt(position);
    const bool reads = share.share == Share::kColumns, writes = reads || share.share == Share::kMatmul;
    NoteUse(OutputAt(position), share, writes);
    const Op& op = OpAt(position);
    for (uint32_t i = 0; i < op.input_count; ++i) NoteUse(op.inputs[i].index, share, reads);
  }

  // Finds the last reader of each value, and whether any worker but the first needs it.
  void FindReaders() {
    for (uint32_t position = first_; position < end_; ++position) {
      last_reader_[position] = position;
      ShareAt(position).first_only = ShareAt(position).share == Share::kReplicated;
      ForEachMaker(position, [&](uint32_t maker) { last_reader_[maker] = position; });
    }
    for (uint32_t position = end_; position-- > first_;) {
      const StepShare& reader = ShareAt(position);
      if (reader.share == Share::kFirstWorker || reader.first_only) continue;
      ForEachMaker(position, [&](uint32_t maker) { ShareAt(maker).first_only = false; });
    }
  }

  // A private slot is free after the last read; a shared slot is free after the stage of its last reader.
  void AssignSlots() {
    plan_.private_slots.BeginPhase();
    plan_.shared_slots.BeginPhase();
    for (uint32_t position = first_; position < end_; ++position) {
      const uint32_t last = last_reader_[position];
      ValuePlan& value = plan_.values[OutputAt(position)];
      const StepShare& share = ShareAt(position);
      if (share.share != Share::kReplicated) {
        if (value.tile) {
          value.column_parallel_slot =
              plan_.shared_slots.Take(value.row_bytes, stage_of_[position], stage_of_[last] + 1);
        }
      } else if (value.tile || !share.first_only) {
        value.column_parallel_slot = plan_.private_slots.Take(value.row_bytes, position, last + 1);
      }
    }
  }

  const Model& model_;
  ProgramPlan& plan_;
  const uint32_t inputs_;
  uint32_t first_ = 0, end_ = 0;  // positions of the phase's operations
  uint32_t stage_begin_ = 0;      // position
  uint32_t* stage_of_;            // [positions], within their phase
  uint32_t* position_of_;         // [operations]
  uint32_t* last_reader_;         // [positions], within their phase
  SlotUse* uses_;                 // [slots]
};

}  // namespace

void PlanStages(const Model& model, Arena& arena, ProgramPlan* plan) {
  if constexpr (kMaxWorkers == 1) return;
  StagePlanner planner(model, arena, plan);
  if (!arena.counting() && arena.ok()) planner.Run();
}

}  // namespace fovea
