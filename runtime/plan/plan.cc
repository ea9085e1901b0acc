#include "runtime/plan/plan.h"

namespace fovea {
namespace {

// Lifetime of a value, in running order.
struct Life {
  uint32_t begin = 0;     // position of the operation that computes it
  uint32_t last_use = 0;  // position
  uint32_t last_phase = 0;
  bool crosses = false;     // read in a later phase, or by rows of other tiles
  bool read_whole = false;  // other tiles may still read it in last_phase
  bool output = false;
  bool carries = false;  // has separate memory: it is carried or appended to
};

class Planner {
 public:
  Planner(const Model& model, const ProgramRecord& record, Arena& arena, ProgramPlan* plan)
      : model_(model),
        plan_(*plan),
        operations_(record.operation_count),
        inputs_(record.value_count - record.operation_count) {
    *plan = ProgramPlan();
    plan_.record = &record;
    plan_.steps = arena.Take<uint32_t>(operations_);
    plan_.phase_of = arena.Take<uint32_t>(operations_);
    plan_.phases = arena.Take<PhasePlan>(operations_);
    plan_.values = arena.Take<ValuePlan>(record.value_count);
    plan_.slots = arena.Take<SlotPlan>(operations_);
    plan_.tile_slots = arena.Take<uint32_t>(operations_);
    level_ = arena.Take<uint32_t>(operations_);
    last_level_ = arena.Take<uint32_t>(record.value_count);
    first_use_ = arena.Take<uint32_t>(record.value_count);
    plan_.uses_gemm_op = arena.Take<bool>(model.linear_count);
    lives_ = arena.Take<Life>(record.value_count);
    occupants_ = arena.Take<Occupant>(operations_);
    tiles_ = {plan_.tile_slots, arena.Take<uint32_t>(operations_), 0};
  }

  void Run() {
    FindLevels();
    SinkCheapMemory();
    FormPhases();
    OrderSteps();
    FindLives();
    FindOperandLimits();
    AssignSlots();
    plan_.tile_slot_count = tiles_.count;
    for (uint32_t i = 0; i < plan_.tile_slot_count; ++i) plan_.tile_row_bytes += plan_.tile_slots[i];
  }

 private:
  const Op& Operation(uint32_t i) const { return model_.Operation(*plan_.record, i); }
  ValueRole Role(const Op& op) const { return model_.blob.values[plan_.record->first_value + op.output.index].role; }
  bool IsInput(uint32_t value) const { return value < inputs_; }

  // Finds each operation's level, the number of barriers before it. The rows of a selected space, and of spaces derived
  // from it, are known after the phase that chooses them, so no operation there has a lower level.
  void FindLevels() {
    uint32_t rows_known_at[kMaxSpaces] = {};
    for (uint32_t i = 0; i < operations_; ++i) {
      const Op& op = Operation(i);
      level_[i] = rows_known_at[op.output.space];
      for (uint32_t k = 0; k < op.input_count; ++k) {
        const uint32_t value = op.inputs[k].index;
        const uint32_t known = rows_known_at[op.inputs[k].space];
        if (known > level_[i]) level_[i] = known;
        if (IsInput(value)) continue;
        const bool barrier = op.inputs[k].whole || Operation(value - inputs_).unit != Unit::kRows;
        const uint32_t needed = level_[value - inputs_] + (barrier ? 1 : 0);
        if (needed > level_[i]) level_[i] = needed;
      }
      if (!op.def->chooses) continue;
      const uint32_t source_known = rows_known_at[model_.blob.spaces[op.output.space].source];
      if (source_known > level_[i]) level_[i] = source_known;
      rows_known_at[op.output.space] = level_[i] + 1;
      for (uint32_t s = op.output.space + 1; s < model_.blob.spaces.count; ++s) {
        const SpaceRecord& space = model_.blob.spaces[s];
        const bool follows = space.kind != SpaceKind::kSelected && space.Follows() != kBlobNone;
        if (follows) rows_known_at[s] = rows_known_at[space.Follows()];
      }
    }
  }

  // Moves an operation whose result is first read in a later phase into that phase, if its inputs are kept until then
  // anyway: the queries of the next layer are then computed where they are used, and no matrix of all queries exists.
  void SinkCheapMemory() {
    // Walks backwards; for each value the levels of its first and last use by the operations visited so far.
    for (uint32_t v = 0; v < plan_.record->value_count; ++v) first_use_[v] = UINT32_MAX;
    for (uint32_t i = operations_; i-- > 0;) {
      const Op& op = Operation(i);
      const uint32_t first_use = first_use_[inputs_ + i];
      bool sinks = Role(op) == ValueRole::kInternal && op.unit == Unit::kRows && first_use != UINT32_MAX &&
                   first_use > level_[i];
      for (uint32_t k = 0; k < op.input_count; ++k) {
        const uint32_t value = op.inputs[k].index;
        sinks = sinks && (IsInput(value) || last_level_[value] >= first_use);
      }
      if (sinks) level_[i] = first_use;
      for (uint32_t k = 0; k < op.input_count; ++k) {
        const uint32_t value = op.inputs[k].index;
        if (level_[i] > last_level_[value]) last_level_[value] = level_[i];
        // An operation that reads all rows needs them in the phase that makes them.
        const uint32_t used = op.inputs[k].whole && !IsInput(value) ? level_[value - inputs_] : level_[i];
        if (used < first_use_[value]) first_use_[value] = used;
      }
    }
  }

  // Whether an operation of the phase's level can be part of it.
  static bool Joins(const PhasePlan& phase, Unit unit, uint32_t space) {
    if (phase.unit != unit || phase.space != space) return false;
    return unit == Unit::kRows || (unit == Unit::kSegments && phase.step_count < kMaxSegmentSteps);
  }

  // The space whose rows or segments are the tiles of an operation.
  static uint32_t TileSpace(const Op& op) {
    const bool by_output = (op.unit == Unit::kRows && !op.def->appends) || op.unit == Unit::kHeads;
    return by_output ? op.output.space : op.inputs[0].space;
  }

  // Forms the phases of one level after the other, so that they are in running order.
  void FormPhases() {
    uint32_t formed = 0;  // operations that are in a phase
    for (uint32_t level = 0; formed < operations_; ++level) {
      const uint32_t first_phase = plan_.phase_count;
      for (uint32_t i = 0; i < operations_; ++i) {
        if (level_[i] != level) continue;
        plan_.phase_of[i] = PhaseFor(Operation(i), level, first_phase);
        ++plan_.phases[plan_.phase_of[i]].step_count;
        ++formed;
      }
    }
  }

  // The last phase from `first_phase` on that an operation of this level joins, or a new one.
  uint32_t PhaseFor(const Op& op, uint32_t level, uint32_t first_phase) {
    const uint32_t space = TileSpace(op);
    uint32_t end = plan_.phase_count;
    while (end > first_phase && !Joins(plan_.phases[end - 1], op.unit, space)) --end;
    if (end > first_phase) return end - 1;
    plan_.phases[plan_.phase_count] = {0, 0, space, level, op.unit, 0, 0};
    return plan_.phase_count++;
  }

  // Lists the operations of each phase in their order in the program.
  void OrderSteps() {
    uint32_t first = 0;
    for (uint32_t p = 0; p < plan_.phase_count; ++p) {
      plan_.phases[p].first_step = first;
      first += plan_.phases[p].step_count;
      plan_.phases[p].step_count = 0;
    }
    for (uint32_t i = 0; i < operations_; ++i) {
      PhasePlan& phase = plan_.phases[plan_.phase_of[i]];
      plan_.steps[phase.first_step + phase.step_count++] = i;
    }
  }

  void FindLives() {
    for (uint32_t v = 0; v < inputs_; ++v) {
      const ValueRecord& record = model_.blob.values[plan_.record->first_value + v];
      if (record.role == ValueRole::kCarried) lives_[record.detail].carries = true;
    }
    for (uint32_t position = 0; position < operations_; ++position) {
      const uint32_t operation = plan_.steps[position];
      const Op& op = Operation(operation);
      Life& own = lives_[inputs_ + operation];
      own.begin = own.last_use = position;
      own.last_phase = plan_.phase_of[operation];
      own.output = Role(op) == ValueRole::kOutput;
      own.carries = own.carries || op.def->appends;
      own.crosses = own.read_whole = op.unit != Unit::kRows;
      for (uint32_t k = 0; k < op.input_count; ++k) {
        const uint32_t value = op.inputs[k].index;
        if (IsInput(value)) continue;
        Life& life = lives_[value];
        const uint32_t phase = plan_.phase_of[operation];
        const bool whole = op.inputs[k].whole;
        life.crosses = life.crosses || whole || phase != plan_.phase_of[value - inputs_];
        life.last_use = position;
        life.read_whole = whole || (life.read_whole && life.last_phase == phase);
        life.last_phase = phase;
      }
    }
  }

  // Counts inputs, and finds the GEMM operators and the widest quantized rows that the program needs.
  void FindOperandLimits() {
    for (uint32_t operation = 0; operation < operations_; ++operation) {
      const Op& op = Operation(operation);
      plan_.input_count += op.input_count;
      if (op.input_count > plan_.most_inputs) plan_.most_inputs = op.input_count;
      for (uint32_t i = 0; i < op.layer_count; ++i) {
        const GemmShape& shape = op.layers[i].linear->weights.shape;
        plan_.uses_gemm_op[op.layers[i].linear->op] = true;
        if (GemmTakesQuantized(shape.type) && shape.k > plan_.quantized_width) plan_.quantized_width = shape.k;
      }
    }
  }

  void AssignSlots() {
    for (uint32_t v = 0; v < inputs_; ++v) {
      const ValueRecord& record = model_.blob.values[plan_.record->first_value + v];
      plan_.values[v] = {false, kBlobNone, InputRowBytes(record)};
    }
    uint32_t phase = UINT32_MAX;
    for (uint32_t position = 0; position < operations_; ++position) {
      const uint32_t operation = plan_.steps[position];
      if (plan_.phase_of[operation] != phase) {
        phase = plan_.phase_of[operation];
        tiles_.BeginPhase();
      }
      const uint32_t value = inputs_ + operation;
      const Op& op = Operation(operation);
      const Life& life = lives_[value];
      const uint32_t bytes = op.output.row_bytes;
      if (life.carries) {
        plan_.values[value] = {false, kBlobNone, bytes};
        continue;
      }
      const bool tile = !life.crosses && !life.output;
      const uint32_t slot =
          tile ? tiles_.Take(bytes, position, life.last_use + 1) : Slot(op.output.space, bytes, life, position);
      plan_.values[value] = {tile, slot, bytes};
    }
  }

  uint32_t Slot(uint32_t space, uint32_t bytes, const Life& life, uint32_t position) {
    const uint32_t slot = BestFree(
        plan_.slot_count, bytes,
        [&](uint32_t s) {
          const Occupant& last = occupants_[s];
          return plan_.slots[s].space == space &&
                 (last.free_from <= position || (last.row_bytes == bytes && last.rows_free_from <= position));
        },
        [&](uint32_t s) { return plan_.slots[s].row_bytes; });
    if (slot == plan_.slot_count) plan_.slots[plan_.slot_count++] = {space, bytes};
    if (bytes > plan_.slots[slot].row_bytes) plan_.slots[slot].row_bytes = bytes;
    const PhasePlan& last = plan_.phases[life.last_phase];
    const uint32_t phase_end = last.first_step + last.step_count;
    occupants_[slot] = {bytes, life.output ? UINT32_MAX : phase_end,
                        life.output       ? UINT32_MAX
                        : life.read_whole ? phase_end
                                          : life.last_use + 1};
    return slot;
  }

  // The last value in a slot. If only its own tile reads a row, the row is free after that tile for a value with rows
  // of equal length (at the same addresses); for other values the slot is free after the last reader's phase.
  struct Occupant {
    uint32_t row_bytes;
    uint32_t free_from;  // position in running order
    uint32_t rows_free_from;
  };

  const Model& model_;
  ProgramPlan& plan_;
  const uint32_t operations_, inputs_;
  uint32_t* level_;       // [operations]
  uint32_t* last_level_;  // [values]
  uint32_t* first_use_;   // [values], as a level
  Life* lives_;           // [values]
  Occupant* occupants_;   // [slots]
  PhaseSlots tiles_{};
};

}  // namespace

Status PlacePlans(const Model& model, Arena& arena, Reporter& reporter, ProgramPlan** plans) {
  *plans = nullptr;
  if constexpr (!kHasOperations) return kOk;
  const Blob& blob = model.blob;
  ProgramPlan* placed = arena.Take<ProgramPlan>(blob.programs.count);
  for (uint32_t p = 0; p < blob.programs.count; ++p) {
    ProgramPlan counted;
    ProgramPlan* plan = placed == nullptr ? &counted : placed + p;
    Planner planner(model, blob.programs[p], arena, plan);
    if (!arena.counting() && arena.ok()) planner.Run();
    PlanStages(model, arena, plan);
  }
  *plans = placed;
  (void)reporter;
  return kOk;
}

}  // namespace fovea
