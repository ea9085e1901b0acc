// Turns options into limits and limits into memory. The same code counts bytes and places objects.
#include <string.h>

#include <initializer_list>

#include "runtime/base/checked.h"
#include "runtime/session/session.h"

namespace fovea {
namespace {

// Every tile streams all weights of its phase once. With int8 weights of k x n that is k * n / rows bytes per row,
// against at most 8 * n bytes for moving a wide middle out of the cache and back: for usual k the two are about equal
// at 100 rows, for any cache size. So tiles are large, and shrink only where memory would be out of proportion.
constexpr uint64_t kTileBytes = 4 << 20, kExpertTileBytes = 32 << 20;
constexpr uint32_t kLeastTileRows = 16, kMostTileRows = 128;
// The most rows for which a phase is executed column-parallel instead of row-parallel.
constexpr uint32_t kMostColumnParallelRows = 64;

// Whether the program has experts (MoE). The rows of a tile are distributed over experts, so with few rows an expert
// has hardly one row, yet nearly all weights are read.
bool HasExperts(const Model& model, const ProgramRecord& program) {
  for (uint32_t i = 0; i < program.operation_count; ++i) {
    const Op& op = model.Operation(program, i);
    if (op.layer_count > 0 && op.layers[0].count > 1) return true;
  }
  return false;
}

// Bounded by the largest space in which an operation makes rows: small limits need little memory. Inputs do not count,
// since they are read in place.
uint32_t ChooseTileRows(const Model& model, const ProgramRecord& program, const ProgramPlan& plan,
                        const SpaceState* spaces, uint32_t wanted) {
  uint64_t most = 1;
  for (uint32_t v = program.value_count - program.operation_count; v < program.value_count; ++v) {
    const uint32_t space = model.blob.values[program.first_value + v].space;
    if (model.blob.spaces[space].kind == SpaceKind::kCached) continue;
    const uint64_t rows = spaces[space].max_rows;
    if (rows > most) most = rows;
  }
  if (most > kLeastTileRows) most = RoundUp(most, kLeastTileRows);
  if (wanted != 0) return wanted < most ? wanted : static_cast<uint32_t>(most);
  const uint64_t row_bytes = plan.tile_row_bytes + plan.quantized_width;
  uint32_t rows = kMostTileRows;
  const uint64_t tile_bytes = HasExperts(model, program) ? kExpertTileBytes : kTileBytes;
  while (rows > kLeastTileRows && rows * row_bytes > tile_bytes) rows /= 2;
  return rows < most ? rows : static_cast<uint32_t>(most);
}

// Bytes of a matrix, with the padding that kernels may read after it.
CheckedSize MatrixBytes(uint32_t rows, uint32_t row_bytes) {
  return CheckedSize(rows) * CheckedSize(row_bytes) + CheckedSize(kGemmSlack);
}

class Placer {
 public:
  Placer(const Model& model, const ProgramPlan& plan, const fovea_session_options& options, SessionArenas& arenas)
      : model_(model),
        plan_(plan),
        options_(options),
        arenas_(arenas),
        fixed_(arenas.fixed),
        scratch_(arenas.scratch) {}

  Status Place(const SpaceState* spaces, Reporter& reporter, Session** out) {
    Session* session = fixed_.Take<Session>(1);
    Session counted;
    *out = session;
    Session& s = session == nullptr ? counted : *session;
    s.model = &model_;
    s.plan = &plan_;
    s.worker_count = options_.workers == 0 ? 1 : options_.workers;
    s.tile_rows = ChooseTileRows(model_, s.program(), plan_, spaces, options_.tile_rows);
    s.runner = options_.runner;
    s.runner_context = options_.runner_context;
    s.barrier = options_.barrier;
    s.clock = options_.clock;
    for (uint32_t i = 0; i < model_.blob.spaces.count; ++i) {
      s.spaces[i] = spaces[i];
      if (spaces[i].used) s.spaces[i].offsets = fixed_.Take<uint32_t>(uint64_t{spaces[i].max_segments} + 1);
    }
    PlaceValues(s);
    PlaceSlots(s);
    PlaceSteps(s);
    FOVEA_TRY(PlaceTaps(options_, s, arenas_, reporter));
    s.info.plan_bytes = fixed_.needed();
    FOVEA_TRY(PlaceWorkers(s, reporter));
    s.info.workers = s.worker_count;
    s.info.tile_rows = s.tile_rows;
    return kOk;
  }

 private:
  // The state block may be empty; its arena then only counts.
  bool placing() const {
    return !fixed_.counting() && !scratch_.counting() && fixed_.ok() && scratch_.ok() && arenas_.state.ok();
  }

  bool IsLinked(uint32_t v) const {
    for (uint32_t i = 0; i < options_.linked_count; ++i) {
      if (options_.linked[i] == v) return true;
    }
    return false;
  }

  // Carried values are zero at first.
  void PlaceCarried(Session& s, uint32_t inputs) {
    for (uint32_t v = 0; v < inputs; ++v) s.carried_count += s.value(v).role == ValueRole::kCarried ? 1 : 0;
    s.carried = fixed_.Take<Carried>(s.carried_count);
    const uint64_t before = arenas_.state.needed();
    uint32_t count = 0;
    for (uint32_t v = 0; v < inputs; ++v) {
      const ValueRecord& record = s.value(v);
      if (record.role != ValueRole::kCarried) continue;
      const CheckedSize bytes = MatrixBytes(s.spaces[record.space].max_rows, plan_.values[v].row_bytes);
      Carried carried = {v, record.detail, nullptr, nullptr};
      for (uint8_t** place : {&carried.read, &carried.write}) {
        *place = static_cast<uint8_t*>(arenas_.state.TakeBytes(bytes));
        if (*place != nullptr) memset(*place, 0, static_cast<size_t>(bytes.value()));
      }
      if (placing()) s.carried[count++] = carried;
    }
    s.info.state_bytes = arenas_.state.needed() - before;
  }

  void PlaceValues(Session& s) {
    const ProgramRecord& program = *plan_.record;
    const uint32_t inputs = program.value_count - program.operation_count;
    s.values = fixed_.Take<uint8_t*>(program.value_count);
    s.kept = fixed_.Take<bool>(program.value_count);
    uint8_t** slots = fixed_.Take<uint8_t*>(plan_.slot_count);
    s.links = fixed_.Take<Link>(inputs);
    for (uint32_t i = 0; i < options_.linked_count && placing(); ++i) s.links[options_.linked[i]].linked = true;
    PlaceCarried(s, inputs);
    PlaceCache(options_, s, fixed_, arenas_.state, placing());

    uint64_t before = scratch_.needed();
    for (uint32_t v = 0; v < inputs; ++v) {
      if (s.value(v).role == ValueRole::kCarried || IsLinked(v)) continue;
      void* memory = scratch_.TakeBytes(MatrixBytes(s.spaces[s.value(v).space].max_rows, plan_.values[v].row_bytes));
      if (placing()) s.values[v] = static_cast<uint8_t*>(memory);
    }
    s.info.input_bytes = scratch_.needed() - before;

    before = scratch_.needed();
    for (uint32_t i = 0; i < plan_.slot_count; ++i) {
      void* memory = scratch_.TakeBytes(MatrixBytes(s.spaces[plan_.slots[i].space].max_rows, plan_.slots[i].row_bytes));
      if (placing()) slots[i] = static_cast<uint8_t*>(memory);
    }
    for (uint32_t v = inputs; v < program.value_count && placing(); ++v) {
      const ValuePlan& value = plan_.values[v];
      if (value.slot != kBlobNone) s.values[v] = value.tile ? nullptr : slots[value.slot];
    }
    if (placing()) UseCarried(s);
    s.info.value_bytes = scratch_.needed() - before;

    before = scratch_.needed();
    for (uint32_t i = 0; i < options_.keep_count; ++i) {
      const uint32_t v = options_.keep[i];
      if (placing()) s.kept[v] = true;
      if (s.value(v).role != ValueRole::kInternal) continue;  // has separate memory anyway
      void* memory = scratch_.TakeBytes(MatrixBytes(s.spaces[s.value(v).space].max_rows, plan_.values[v].row_bytes));
      if (placing()) s.values[v] = static_cast<uint8_t*>(memory);
    }
    s.info.keep_bytes = scratch_.needed() - before;
  }

  // Places slots of `rows` rows one after the other; returns the end.
  uint64_t LayOut(uint64_t begin, uint32_t rows, const uint32_t* row_bytes, uint32_t count, uint64_t* offsets) const {
    Arena layout;
    layout.TakeBytes(CheckedSize(begin));
    for (uint32_t i = 0; i < count; ++i) {
      if (placing()) offsets[i] = layout.needed();
      layout.TakeBytes(MatrixBytes(rows, row_bytes[i]));
    }
    return layout.needed();
  }

  // Memory of workers for values of a tile, or of a column-parallel phase.
  void PlaceSlots(Session& s) {
    const PhaseSlots &private_slots = plan_.private_slots, &shared = plan_.shared_slots;
    offsets_.in_tile = fixed_.Take<uint64_t>(plan_.tile_slot_count);
    offsets_.in_private = fixed_.Take<uint64_t>(private_slots.count);
    offsets_.in_shared = fixed_.Take<uint64_t>(shared.count);
    slot_bytes_[0] = slot_bytes_[1] = LayOut(0, s.tile_rows, plan_.tile_slots, plan_.tile_slot_count, offsets_.in_tile);
    if (s.worker_count == 1) return;
    s.column_parallel_rows = s.tile_rows < kMostColumnParallelRows ? s.tile_rows : kMostColumnParallelRows;
    const uint64_t each =
        LayOut(0, s.column_parallel_rows, private_slots.bytes, private_slots.count, offsets_.in_private);
    const uint64_t first = LayOut(each, s.column_parallel_rows, shared.bytes, shared.count, offsets_.in_shared);
    if (first > slot_bytes_[0]) slot_bytes_[0] = first;
    if (each > slot_bytes_[1]) slot_bytes_[1] = each;
  }

  // The location of an operation's input or output.
  Operand OperandOf(const Session& s, const Op& op, const OpValue& value) const {
    const ValuePlan& plan = plan_.values[value.index];
    const bool by_row = op.unit == Unit::kRows && !value.whole;
    Operand operand = {value.index, by_row ? plan.row_bytes : 0, plan.tile ? offsets_.in_tile[plan.slot] : 0};
    const uint32_t inputs = plan_.record->value_count - plan_.record->operation_count;
    const bool here =
        value.index >= inputs && plan_.phase_of[value.index - inputs] == plan_.phase_of[op.output.index - inputs];
    if (!here || s.worker_count == 1 || plan.column_parallel_slot == kBlobNone) return operand;
    const bool in_session = s.values[value.index] != nullptr;
    if (plan_.shares[value.index - inputs].share == Share::kReplicated) {
      operand.residence = in_session ? Residence::kPrivateButFirst : Residence::kPrivate;
      operand.slot_offset = offsets_.in_private[plan.column_parallel_slot];
    } else if (!in_session) {
      operand.residence = Residence::kShared;
      operand.slot_offset = offsets_.in_shared[plan.column_parallel_slot];
    }
    return operand;
  }

  // Resolves the operands and tiles of each operation.
  void PlaceSteps(Session& s) {
    const uint32_t count = plan_.record->operation_count;
    s.steps = fixed_.Take<Step>(count);
    Operand* inputs = fixed_.Take<Operand>(plan_.input_count);
    for (uint32_t i = 0; i < count; ++i) {
      const Op& op = model_.Operation(*plan_.record, plan_.steps[i]);
      void* placed = op.def->place == nullptr ? nullptr : fixed_.TakeBytes(op.def->placed_bytes);
      if (!placing()) continue;
      Step& step = s.steps[i];
      step.op = &op;
      step.inputs = inputs;
      step.output = OperandOf(s, op, op.output);
      step.share = &plan_.shares[plan_.steps[i]];
      step.operation = plan_.steps[i];
      step.tile_units = TileUnits(s, op);
      step.placed = placed;
      if (placed != nullptr) op.def->place(op, step.tile_units, placed);
      if (op.def->chooses) step.offsets = s.spaces[op.output.space].offsets;
      for (uint32_t k = 0; k < op.input_count; ++k) *inputs++ = OperandOf(s, op, op.inputs[k]);
    }
  }

  // The most rows of an operation's tile, or segments if its unit is a segment.
  static uint32_t TileUnits(const Session& s, const Op& op) {
    const auto least = [](uint32_t a, uint32_t b) { return a < b ? a : b; };
    if (op.unit != Unit::kSegments && op.unit != Unit::kHeads) return s.tile_rows;
    const SpaceState& space = s.spaces[op.inputs[0].space];
    if (op.unit == Unit::kSegments) return least(space.max_segments, s.tile_rows);
    // Unit kHeads: one segment after the other.
    return least(space.max_segment_rows, HeadsOf(op, s.worker_count).MostRows(space.max_rows));
  }

  // The first worker alone runs operations of unit kAll.
  uint64_t OperationScratch(const Session& s, bool first_worker) const {
    SpaceLimits limits[kMaxSpaces];
    for (uint32_t i = 0; i < kMaxSpaces; ++i) limits[i] = s.spaces[i];
    uint64_t most = 0;
    for (uint32_t i = 0; i < plan_.record->operation_count; ++i) {
      const Op& op = model_.Operation(*plan_.record, i);
      const OpDef& def = *op.def;
      if (op.unit == Unit::kAll && !first_worker) continue;
      uint64_t bytes = def.scratch == nullptr ? 0 : def.scratch(op, TileUnits(s, op));
      if (def.scratch_of_spaces != nullptr) bytes += def.scratch_of_spaces(op, limits);
      if (bytes > most) most = bytes;
    }
    return most;
  }

  Status PlaceWorkers(Session& s, Reporter& reporter) {
    s.workers = fixed_.Take<Worker>(s.worker_count);
    const uint64_t scratch_before = scratch_.needed();
    for (uint32_t w = 0; w < s.worker_count; ++w) {
      Worker worker{};
      worker.gemm_ops = fixed_.Take<void*>(model_.gemm_op_count);
      if (s.clock != nullptr) worker.ticks = fixed_.Take<uint64_t>(plan_.record->operation_count);
      FOVEA_TRY(PlaceGemmOps(s, &worker, reporter));
      worker.tile_slots = static_cast<uint8_t*>(scratch_.TakeBytes(CheckedSize(slot_bytes_[w == 0 ? 0 : 1])));
      worker.scratch = scratch_.TakeBytes(OperationScratch(s, w == 0));
      if (plan_.quantized_width != 0) {
        worker.quantized.rows = static_cast<int8_t*>(scratch_.TakeBytes(
            CheckedSize(s.tile_rows) * CheckedSize(plan_.quantized_width) + CheckedSize(kGemmSlack)));
        worker.quantized.params = static_cast<QuantParams*>(
            scratch_.TakeBytes((uint64_t{s.tile_rows} + kGemmExtraParams) * sizeof(QuantParams)));
      }
      worker.inputs = fixed_.Take<const void*>(plan_.most_inputs);
      PlaceStaged(s, options_, scratch_, &worker);
      if (placing()) s.workers[w] = worker;
    }
    s.info.worker_bytes = scratch_.needed() - scratch_before;
    return kOk;
  }

  Status PlaceGemmOps(Session& s, Worker* worker, Reporter& reporter) {
    const uint64_t before = fixed_.needed();
    for (uint32_t i = 0; i < model_.gemm_op_count; ++i) {
      if (!plan_.uses_gemm_op[i]) continue;
      const GemmOp& op = model_.gemm_ops[i];
      void* storage = fixed_.TakeBytes(op.backend->operator_bytes(op.shape));
      if (!placing()) continue;
      worker->gemm_ops[i] = storage;
      FOVEA_TRY(op.backend->make_operator(op.shape, model_.kernels, storage, reporter));
    }
    s.info.operator_bytes += fixed_.needed() - before;
    return kOk;
  }

  const Model& model_;
  const ProgramPlan& plan_;
  const fovea_session_options& options_;
  SessionArenas& arenas_;
  Arena& fixed_;
  Arena& scratch_;
  // Offsets of slots in a worker's memory.
  struct {
    uint64_t *in_tile, *in_private, *in_shared;
  } offsets_{};
  uint64_t slot_bytes_[2] = {};  // bytes of the first worker, of each other worker
};

}  // namespace

Status PlaceSession(const Model& model, const ProgramPlan* plans, const fovea_session_options& options,
                    SessionArenas& arenas, Reporter& reporter, Session** session) {
  const ProgramPlan& plan = plans[options.program];
  SpaceState spaces[kMaxSpaces];
  FOVEA_TRY(ResolveLimits(model, *plan.record, options, reporter, spaces));
  return Placer(model, plan, options, arenas).Place(spaces, reporter, session);
}

}  // namespace fovea
