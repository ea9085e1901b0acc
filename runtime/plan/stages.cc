// What workers share of a phase whose rows are few.
//
// All of them then work on the same rows, and a phase falls into stages with a barrier between them. Within a stage
// each worker needs only what an earlier stage finished, what it makes itself, or its own columns of what all make.
// Products are shared by columns and attention by key/value heads, in memory of all; what is element by element goes
// with the product before it; other operations are cheap and done by each worker in memory of its own rather than
// waited for.
#include <initializer_list>

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
    for (PhaseSlots* slots : {&plan_.own_slots, &plan_.shared_slots}) {
      *slots = {arena.Take<uint32_t>(operations), arena.Take<uint32_t>(operations), 0};
    }
  }

  void Run() {
    for (uint32_t p = 0; p < plan_.phase_count; ++p) {
      PhasePlan& phase = plan_.phases[p];
      if (phase.unit != Unit::kRows) continue;
      first_ = phase.first_step;
      end_ = first_ + phase.step_count;
      FormStages(&phase);
      FindFirstOnly();
      if (phase.most_shares > 1) AssignSlots();
    }
  }

 private:
  OpView View(uint32_t position) const { return model_.Operation(*plan_.record, plan_.steps[position]); }
  StepShare& ShareAt(uint32_t position) { return plan_.shares[plan_.steps[position]]; }
  uint32_t OutputAt(uint32_t position) const { return inputs_ + plan_.steps[position]; }
  bool Reads(uint32_t position, uint32_t value) const {
    const OpView view = View(position);
    for (uint32_t i = 0; i < view.record->input_count; ++i) {
      if (view.InputIndex(i) == value) return true;
    }
    return false;
  }

  // The step by itself. A product of few columns is cheap and a single key/value head cannot be shared.
  StepShare Wanted(uint32_t position) const {
    const OpView view = View(position);
    const uint32_t width = view.Output().width;
    StepShare wanted = {FindOp(view.record->code)->share, false, false, 1, 1};
    if (wanted.share == Share::kProduct) {
      wanted.grain = model_.Layer(plan_.record->first_operation + plan_.steps[position], 0)->backend->column_step;
      wanted.units = static_cast<uint32_t>(DivideUp(width, wanted.grain));
      if (wanted.units == 1) wanted.share = Share::kEach;
    }
    if (wanted.share == Share::kHeads) {
      wanted.units = AttentionSpecOf(view).kv_heads;
      if (wanted.units == 1) wanted.share = Share::kFirst;
    }
    return wanted;
  }

  // Columns made by workers in this stage, that `position` could go on with: position, or end_.
  uint32_t ColumnsBefore(uint32_t position, uint32_t stage) {
    for (uint32_t before = position; before-- > first_ && stage_of_[before] == stage;) {
      const Share share = ShareAt(before).share;
      if ((share == Share::kProduct || share == Share::kColumns) && Reads(position, OutputAt(before)) &&
          View(before).Output().width == View(position).Output().width) {
        return before;
      }
    }
    return end_;
  }

  void FormStages(PhasePlan* phase) {
    uint32_t stage = 0;
    phase->most_shares = 1;
    for (uint32_t position = first_; position < end_; ++position) {
      StepShare share = Wanted(position);
      const bool by_columns = share.share == Share::kColumns;
      if (by_columns) {
        const uint32_t before = ColumnsBefore(position, stage);
        share.share = before == end_ ? Share::kEach : Share::kColumns;
        if (before != end_) share.grain = ShareAt(before).grain, share.units = ShareAt(before).units;
      }
      if (Waits(position, share, stage)) {
        share.begins_stage = true;
        if (by_columns) share.share = Share::kEach;
        ++stage;
      }
      if (share.share == Share::kEach || share.share == Share::kFirst) share.units = 1;
      stage_of_[position] = stage;
      ShareAt(position) = share;
      if (share.units > phase->most_shares) phase->most_shares = share.units;
      if (share.share == Share::kProduct) {
        const OpView view = View(position);
        phase->weights += uint64_t{view.Input(0).width} * view.Output().width;
      }
    }
  }

  // Whether the step must not begin before all workers have finished what they do in this stage.
  bool Waits(uint32_t position, const StepShare& share, uint32_t stage) {
    for (uint32_t before = position; before-- > first_ && stage_of_[before] == stage;) {
      if (Reads(position, OutputAt(before)) && !HasWhatItReads(ShareAt(before), share)) return true;
      if (Overwrites(position, before, share)) return true;
    }
    return false;
  }
  static bool KeepsToColumns(const StepShare& before, const StepShare& share) {
    return share.share == Share::kColumns && (before.share == Share::kColumns || before.share == Share::kProduct) &&
           before.grain == share.grain && before.units == share.units;
  }
  static bool HasWhatItReads(const StepShare& before, const StepShare& share) {
    if (before.share == Share::kEach) return true;
    if (before.share == Share::kFirst) return share.share == Share::kFirst;
    return KeepsToColumns(before, share);
  }
  // Whether the step writes where other workers may still write another value or read one in an earlier step: where a
  // slot of the session changes its value in mid-phase.
  bool Overwrites(uint32_t position, uint32_t before, const StepShare& share) {
    const ValuePlan& own = plan_.values[OutputAt(position)];
    if (own.tile || own.slot == kBlobNone) return false;
    const auto same = [&](uint32_t value) { return !plan_.values[value].tile && plan_.values[value].slot == own.slot; };
    const bool keeps = KeepsToColumns(ShareAt(before), share);
    if (same(OutputAt(before)) && !keeps) return true;
    if (keeps && ShareAt(before).share == Share::kColumns) return false;  // a product reads all columns
    const OpView view = View(before);
    for (uint32_t i = 0; i < view.record->input_count; ++i) {
      if (same(view.InputIndex(i))) return true;
    }
    return false;
  }

  void FindFirstOnly() {
    for (uint32_t position = end_; position-- > first_;) {
      StepShare& share = ShareAt(position);
      share.first_only = share.share == Share::kEach;
      for (uint32_t later = position + 1; later < end_ && share.first_only; ++later) {
        const StepShare& reader = ShareAt(later);
        if (reader.share == Share::kFirst || reader.first_only) continue;
        share.first_only = !Reads(later, OutputAt(position));
      }
    }
  }

  // Own slots are free when their worker has read them, shared ones when the stage of their last reader is over.
  void AssignSlots() {
    plan_.own_slots.BeginPhase();
    plan_.shared_slots.BeginPhase();
    for (uint32_t position = first_; position < end_; ++position) {
      uint32_t last = position;
      for (uint32_t later = position + 1; later < end_; ++later) {
        if (Reads(later, OutputAt(position))) last = later;
      }
      ValuePlan& value = plan_.values[OutputAt(position)];
      const StepShare& share = ShareAt(position);
      if (share.share != Share::kEach) {
        if (value.tile) {
          value.few_slot = plan_.shared_slots.Take(value.row_bytes, stage_of_[position], stage_of_[last] + 1);
        }
      } else if (value.tile || !share.first_only) {
        value.few_slot = plan_.own_slots.Take(value.row_bytes, position, last + 1);
      }
    }
  }

  const Model& model_;
  ProgramPlan& plan_;
  const uint32_t inputs_;
  uint32_t first_ = 0, end_ = 0;  // positions of the phase's steps
  uint32_t* stage_of_;            // [positions], in their phase
};

}  // namespace

void PlanStages(const Model& model, Arena& arena, ProgramPlan* plan) {
  StagePlanner planner(model, arena, plan);
  if (!arena.counting() && arena.ok()) planner.Run();
}

}  // namespace fovea
