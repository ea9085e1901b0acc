// Options -> limits -> memory. The same code counts bytes and places objects.
#include <string.h>

#include <initializer_list>

#include "runtime/base/checked.h"
#include "runtime/blob/strides.h"
#include "runtime/session/session.h"

namespace fovea {
namespace {

// Every tile streams all weights of its phase once. With int8 weights of k x n that is k * n / rows bytes for each row,
// against at most 8 * n bytes for writing a wide middle out of the cache and back: around 100 rows both are alike for
// usual k, whatever the cache. So tiles are large, and shrink only where memory would be out of proportion.
constexpr uint64_t kTileBytes = 4 << 20;
constexpr uint32_t kLeastTileRows = 16, kMostTileRows = 128;
// The most rows that workers share by columns.
constexpr uint32_t kFewRows = 64;

// No more than the widest space that rows are made in can ever fill: small limits need small memory. Inputs are read
// where they lie, however long they are.
uint32_t ChooseTileRows(const Model& model, const ProgramRecord& program, const ProgramPlan& plan,
                        const SpaceState* spaces, uint32_t wanted) {
  uint64_t most = 1;
  for (uint32_t v = program.value_count - program.operation_count; v < program.value_count; ++v) {
    const uint64_t rows = spaces[model.blob.values[program.first_value + v].space].max_rows;
    if (rows > most) most = rows;
  }
  if (most > kLeastTileRows) most = RoundUp(most, kLeastTileRows);
  if (wanted != 0) return wanted < most ? wanted : static_cast<uint32_t>(most);
  const uint64_t row_bytes = plan.tile_row_bytes + plan.quantized_width;
  uint32_t rows = kMostTileRows;
  while (rows > kLeastTileRows && rows * row_bytes > kTileBytes) rows /= 2;
  return rows < most ? rows : static_cast<uint32_t>(most);
}

const fovea_limit* FindLimit(const fovea_session_options& options, uint32_t space) {
  for (uint32_t i = 0; i < options.limit_count; ++i) {
    if (options.limits[i].space == space) return &options.limits[i];
  }
  return nullptr;
}

void MarkUsed(const Blob& blob, const ProgramRecord& program, SpaceState* spaces) {
  for (uint32_t v = 0; v < program.value_count; ++v) spaces[blob.values[program.first_value + v].space].used = true;
  for (uint32_t i = blob.spaces.count; i-- > 0;) {
    if (!spaces[i].used) continue;
    if (blob.spaces[i].parent != kBlobNone) spaces[blob.spaces[i].parent].used = true;
    if (SpaceHasSource(blob.spaces[i].kind)) spaces[blob.spaces[i].source].used = true;
  }
}

}  // namespace

// A segment's first such row takes offset + 1 rows, each other one `stride` more.
uint64_t MostStridedRows(const SpaceState& space, uint64_t stride, uint64_t offset) {
  const uint64_t rows = space.max_rows, segments = space.max_segments;
  if (space.max_segment_rows <= offset) return 0;
  const uint64_t in_segment = DivideUp(space.max_segment_rows - offset, stride);
  if (offset < stride) {  // the first is the cheapest: as many segments as can have one
    const uint64_t used = rows / (offset + 1) < segments ? rows / (offset + 1) : segments;
    const uint64_t most = used + (rows - used * (offset + 1)) / stride;
    return most < used * in_segment ? most : used * in_segment;
  }
  // Else one full segment after the other.
  const uint64_t full = offset + 1 + (in_segment - 1) * stride;
  const uint64_t used = rows / full < segments ? rows / full : segments;
  const uint64_t left = rows - used * full;
  const uint64_t last = used < segments && left > offset ? DivideUp(left - offset, stride) : 0;
  return used * in_segment + (last < in_segment ? last : in_segment);
}

namespace {

// The most rows of a strided space. Up to first + 1 rows a segment has a row for each of the source's; those that come
// then are dearer, the first of them most: they are many where few segments are long.
uint64_t MostRows(const Strides& strides, const SpaceState& source) {
  const uint64_t rows = source.max_rows, segments = source.max_segments, longest = source.max_segment_rows;
  const uint64_t cheap = longest < strides.first + 1 ? longest : strides.first + 1;
  if (rows <= segments * cheap) return rows;
  const uint64_t more = strides.Rows(longest) - cheap;  // of a full segment
  if (more == 0) return segments * cheap;
  const uint64_t price = strides.Longest(cheap) - cheap + (more - 1) * strides.stride + 1;
  const uint64_t left = rows - segments * cheap, full = left / price;
  if (full >= segments) return segments * (cheap + more);
  const uint64_t rest = strides.Rows(left - full * price + cheap) - cheap;
  return segments * cheap + full * more + (rest < more ? rest : more);
}

// The most rows that a space can have which follows from others, and the longest segment. No overflow: limits of spaces
// are below 2^31, `extra` is at most 2^20.
uint64_t FollowLimits(const SpaceRecord& record, const SpaceState* spaces, SpaceState* space) {
  const uint64_t segments = space->max_segments, extra = record.extra;
  if (record.kind == SpaceKind::kFixed) {
    space->max_segment_rows = record.extra;
    return segments * extra;
  }
  const SpaceState& source = spaces[record.source];
  const uint64_t rows = source.max_rows;
  switch (record.kind) {
    case SpaceKind::kExtended:
      space->max_segment_rows = source.max_segment_rows + record.extra;
      return rows + segments * extra;
    case SpaceKind::kStrided:
      space->max_segment_rows = static_cast<uint32_t>(Strides(record).Rows(source.max_segment_rows));
      return MostRows(Strides(record), source);
    default: {  // at most `extra` of each segment, or all rows of as many segments as can be chosen
      const bool all = extra == 0 || extra > source.max_segment_rows;
      space->max_segment_rows = all ? source.max_segment_rows : record.extra;
      const uint64_t most = segments * space->max_segment_rows;
      return most < rows ? most : rows;
    }
  }
}

Status ResolveLimits(const Model& model, const ProgramRecord& program, const fovea_session_options& options,
                     Reporter& reporter, SpaceState* spaces) {
  const Blob& blob = model.blob;
  MarkUsed(blob, program, spaces);
  uint64_t selections[kMaxSpaces];
  FindSelections(blob, selections);
  for (uint32_t i = 0; i < blob.spaces.count; ++i) {
    const SpaceRecord& record = blob.spaces[i];
    SpaceState& space = spaces[i];
    if (!space.used) continue;
    space.selected = selections[i] != 0;
    space.max_segments = record.parent == kBlobNone ? 1 : spaces[record.parent].max_rows;
    if (record.kind != SpaceKind::kInput) {
      const uint64_t rows = FollowLimits(record, spaces, &space);
      if (rows > INT32_MAX) return reporter.Fail(FOVEA_E_OPTION, "too many rows", INT32_MAX, rows);
      space.max_rows = static_cast<uint32_t>(rows);
      continue;
    }
    const fovea_limit* limit = FindLimit(options, i);
    if (limit == nullptr && record.parent != kBlobNone) {
      return reporter.Fail(FOVEA_E_OPTION, "a space of the program has no limit", i);
    }
    space.max_rows = limit == nullptr ? 1 : limit->rows;
    if (space.max_rows == 0 || space.max_rows > INT32_MAX) {
      return reporter.Fail(FOVEA_E_OPTION, "a limit must be 1 to 2^31 - 1 rows", INT32_MAX, space.max_rows);
    }
    const uint32_t allowed = model.max_segment_rows[i];
    space.max_segment_rows = limit == nullptr ? 0 : limit->segment_rows;
    if (space.max_segment_rows > allowed) {
      return reporter.Fail(FOVEA_E_OPTION, "the model has no positions for segments this long", allowed,
                           space.max_segment_rows);
    }
    if (space.max_segment_rows == 0) space.max_segment_rows = allowed;
    if (space.max_segment_rows > space.max_rows) space.max_segment_rows = space.max_rows;
  }
  return kOk;
}

// A matrix of one space, with what kernels may read after it.
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
    FOVEA_TRY(PlaceTaps(options_, s, arenas_, reporter));
    s.info.plan_bytes = fixed_.needed();
    FOVEA_TRY(PlaceWorkers(s, reporter));
    s.info.workers = s.worker_count;
    s.info.tile_rows = s.tile_rows;
    return kOk;
  }

 private:
  // The state block may be empty, and then counts.
  bool placing() const {
    return !fixed_.counting() && !scratch_.counting() && fixed_.ok() && scratch_.ok() && arenas_.state.ok();
  }

  bool IsLinked(uint32_t v) const {
    for (uint32_t i = 0; i < options_.linked_count; ++i) {
      if (options_.linked[i] == v) return true;
    }
    return false;
  }

  // Begins as zeros.
  void PlaceCarried(Session& s, uint32_t inputs) {
    for (uint32_t v = 0; v < inputs; ++v) s.carried_count += s.value(v).role == ValueRole::kCarried ? 1 : 0;
    s.carried = fixed_.Take<Carried>(s.carried_count);
    const uint64_t before = arenas_.state.needed();
    uint32_t count = 0;
    for (uint32_t v = 0; v < inputs; ++v) {
      const ValueRecord& record = s.value(v);
      if (record.role != ValueRole::kCarried) continue;
      const CheckedSize bytes = MatrixBytes(s.spaces[record.space].max_rows, plan_.values[v].row_bytes);
      Carried carried = {v, record.carried_by, nullptr, nullptr};
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
    s.tile_offsets = fixed_.Take<uint64_t>(plan_.tile_slot_count);
    if (s.worker_count > 1) {
      s.few_rows = s.tile_rows < kFewRows ? s.tile_rows : kFewRows;
      s.own_offsets = fixed_.Take<uint64_t>(plan_.own_slots.count);
      s.shared_offsets = fixed_.Take<uint64_t>(plan_.shared_slots.count);
    }
    s.links = fixed_.Take<Link>(inputs);
    for (uint32_t i = 0; i < options_.linked_count && placing(); ++i) s.links[options_.linked[i]].linked = true;
    PlaceCarried(s, inputs);

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
      if (s.value(v).role != ValueRole::kInternal) continue;  // has memory of its own anyway
      void* memory = scratch_.TakeBytes(MatrixBytes(s.spaces[s.value(v).space].max_rows, plan_.values[v].row_bytes));
      if (placing()) s.values[v] = static_cast<uint8_t*>(memory);
    }
    s.info.keep_bytes = scratch_.needed() - before;
  }

  // Operations that take everything at once are the first worker's.
  uint64_t OperationScratch(const Session& s, bool first_worker) const {
    uint64_t most = 0;
    for (uint32_t i = 0; i < plan_.record->operation_count; ++i) {
      const OpView view = model_.Operation(*plan_.record, i);
      const OpDef* def = FindOp(view.record->code);
      if (def->unit == Unit::kAll && !first_worker) continue;
      uint64_t bytes = def->scratch == nullptr ? 0 : def->scratch(view, TileUnits(s, view));
      if (def->scratch_of_spaces != nullptr) {
        SpaceLimits limits[kMaxInputs];
        for (uint32_t k = 0; k < view.record->input_count; ++k) limits[k] = s.spaces[view.Input(k).space];
        bytes += def->scratch_of_spaces(view, limits);
      }
      if (bytes > most) most = bytes;
    }
    return most;
  }

  bool UsesGemmOp(uint32_t gemm_op) const {
    for (uint32_t i = 0; i < plan_.record->operation_count * kMaxLayers; ++i) {
      const Linear* layer = model_.Layer(plan_.record->first_operation + i / kMaxLayers, i % kMaxLayers);
      if (layer != nullptr && layer->op == gemm_op) return true;
    }
    return false;
  }

  // Lays slots of `rows` rows one after the other; returns where they end.
  uint64_t LayOut(uint64_t begin, uint32_t rows, const uint32_t* row_bytes, uint32_t count, uint64_t* offsets) const {
    Arena layout;
    layout.TakeBytes(CheckedSize(begin));
    for (uint32_t i = 0; i < count; ++i) {
      if (placing()) offsets[i] = layout.needed();
      layout.TakeBytes(MatrixBytes(rows, row_bytes[i]));
    }
    return layout.needed();
  }

  // One worker's memory for values of a tile, or of a phase with few rows.
  uint64_t SlotBytes(const Session& s, bool first_worker) const {
    const uint64_t tile = LayOut(0, s.tile_rows, plan_.tile_slots, plan_.tile_slot_count, s.tile_offsets);
    if (s.worker_count == 1) return tile;
    const PhaseSlots &own = plan_.own_slots, &shared = plan_.shared_slots;
    uint64_t few = LayOut(0, s.few_rows, own.bytes, own.count, s.own_offsets);
    if (first_worker) few = LayOut(few, s.few_rows, shared.bytes, shared.count, s.shared_offsets);
    return few > tile ? few : tile;
  }

  Status PlaceWorkers(Session& s, Reporter& reporter) {
    s.workers = fixed_.Take<Worker>(s.worker_count);
    const uint64_t scratch_before = scratch_.needed();
    for (uint32_t w = 0; w < s.worker_count; ++w) {
      Worker worker{};
      worker.gemm_ops = fixed_.Take<void*>(model_.gemm_op_count);
      if (s.clock != nullptr) worker.ticks = fixed_.Take<uint64_t>(plan_.record->operation_count);
      FOVEA_TRY(PlaceGemmOps(s, &worker, reporter));
      worker.tile_slots = static_cast<uint8_t*>(scratch_.TakeBytes(CheckedSize(SlotBytes(s, w == 0))));
      worker.scratch = scratch_.TakeBytes(OperationScratch(s, w == 0));
      if (plan_.quantized_width != 0) {
        worker.quantized.rows = static_cast<int8_t*>(scratch_.TakeBytes(
            CheckedSize(s.tile_rows) * CheckedSize(plan_.quantized_width) + CheckedSize(kGemmSlack)));
        worker.quantized.params = static_cast<QuantParams*>(
            scratch_.TakeBytes((uint64_t{s.tile_rows} + kGemmExtraParams) * sizeof(QuantParams)));
      }
      PlaceStaged(s, options_, scratch_, &worker);
      if (placing()) s.workers[w] = worker;
    }
    s.info.worker_bytes = scratch_.needed() - scratch_before;
    return kOk;
  }

  Status PlaceGemmOps(Session& s, Worker* worker, Reporter& reporter) {
    const uint64_t before = fixed_.needed();
    for (uint32_t i = 0; i < model_.gemm_op_count; ++i) {
      if (!UsesGemmOp(i)) continue;
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
};

}  // namespace

uint32_t TileUnits(const Session& s, const OpView& view) {
  const SpaceState& space = s.spaces[view.Input(0).space];
  const auto least = [](uint32_t a, uint32_t b) { return a < b ? a : b; };
  switch (UnitOf(view)) {
    case Unit::kSegments:
      return least(space.max_segments, s.tile_rows);
    case Unit::kHeads:  // of one segment after the other
      return least(space.max_segment_rows, HeadsOf(view, s.worker_count).MostRows(space.max_rows));
    default:
      return s.tile_rows;
  }
}

Status CheckSessionOptions(const Model& model, const fovea_session_options& options, Reporter& reporter) {
  const Blob& blob = model.blob;
  if (options.program >= blob.programs.count) {
    return reporter.Fail(FOVEA_E_INDEX, "no such program", blob.programs.count, options.program);
  }
  if (options.workers > kMaxWorkers)
    return reporter.Fail(FOVEA_E_OPTION, "too many workers", kMaxWorkers, options.workers);
  if (options.tile_rows > kMaxTileRows) {
    return reporter.Fail(FOVEA_E_OPTION, "tile_rows is too large", kMaxTileRows, options.tile_rows);
  }
  if (options.barrier != nullptr && options.runner == nullptr) {
    return reporter.Fail(FOVEA_E_OPTION, "a barrier needs a runner");
  }
  if ((options.limit_count != 0 && options.limits == nullptr) || (options.keep_count != 0 && options.keep == nullptr) ||
      (options.linked_count != 0 && options.linked == nullptr)) {
    return reporter.Fail(FOVEA_E_NULL, "an array of the options is NULL");
  }
  for (uint32_t i = 0; i < options.limit_count; ++i) {
    const uint32_t space = options.limits[i].space;
    if (space >= blob.spaces.count)
      return reporter.Fail(FOVEA_E_INDEX, "limit for no such space", blob.spaces.count, space);
    if (blob.spaces[space].kind != SpaceKind::kInput) {
      return reporter.Fail(FOVEA_E_OPTION, "limit for a space that follows from another", 0, space);
    }
    for (uint32_t k = 0; k < i; ++k) {
      if (options.limits[k].space == space) return reporter.Fail(FOVEA_E_OPTION, "two limits for one space", 1, space);
    }
  }
  const ProgramRecord& program = blob.programs[options.program];
  for (uint32_t i = 0; i < options.keep_count; ++i) {
    reporter.tensor = options.keep[i];
    if (options.keep[i] >= program.value_count) {
      return reporter.Fail(FOVEA_E_INDEX, "no such value to keep", program.value_count, options.keep[i]);
    }
    for (uint32_t k = 0; k < i; ++k) {
      if (options.keep[k] == options.keep[i])
        return reporter.Fail(FOVEA_E_OPTION, "value is kept twice", 1, options.keep[i]);
    }
  }
  const uint32_t inputs = program.value_count - program.operation_count;
  for (uint32_t i = 0; i < options.linked_count; ++i) {
    const uint32_t v = options.linked[i];
    reporter.tensor = v;
    if (v >= inputs) return reporter.Fail(FOVEA_E_INDEX, "no such input to link", inputs, v);
    if (blob.values[program.first_value + v].role == ValueRole::kCarried) {
      return reporter.Fail(FOVEA_E_OPTION, "a carried input is linked without being named", 0, v);
    }
    for (uint32_t k = 0; k < i; ++k) {
      if (options.linked[k] == v) return reporter.Fail(FOVEA_E_OPTION, "input is named twice to be linked", 1, v);
    }
  }
  reporter.tensor = FOVEA_NOWHERE;
  return CheckTaps(model, options, reporter);
}

Status PlaceSession(const Model& model, const ProgramPlan* plans, const fovea_session_options& options,
                    SessionArenas& arenas, Reporter& reporter, Session** session) {
  const ProgramPlan& plan = plans[options.program];
  SpaceState spaces[kMaxSpaces];
  FOVEA_TRY(ResolveLimits(model, *plan.record, options, reporter, spaces));
  return Placer(model, plan, options, arenas).Place(spaces, reporter, session);
}

}  // namespace fovea
