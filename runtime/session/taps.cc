// Taps (requests for attention maps): checks them, places their memory, and chooses the rows of a run.
#include "runtime/base/checked.h"
#include "runtime/base/structs.h"
#include "runtime/session/session.h"

namespace fovea {
namespace {

struct Range {
  uint64_t first, step;
};
// The tapped positions of a segment of `length` rows.
Range PositionsOf(const fovea_tap& tap, uint64_t length) {
  if (tap.rows == FOVEA_TAP_ROWS_LAST) return {length - 1, length};
  if (tap.rows == FOVEA_TAP_ROWS_STRIDE) return {tap.offset, tap.stride};
  return {0, 1};
}

uint64_t MostRows(const fovea_tap& tap, const SpaceState& space) {
  if (tap.rows == FOVEA_TAP_ROWS_STRIDE) return MostStridedRows(space, tap.stride, tap.offset);
  if (tap.rows == FOVEA_TAP_ROWS_LAST && space.max_segments < space.max_rows) return space.max_segments;
  return space.max_rows;
}

struct TapRoom {
  uint64_t rows;            // tapped
  uint64_t lines;           // one line per row and slot
  CheckedSize values;       // numbers, or entries
  uint64_t most, inner;     // see Tap
  uint64_t staged_entries;  // per staged row
  uint32_t staged_rows;
};

uint64_t Least(uint64_t a, uint64_t b) { return a < b ? a : b; }

// The tapped operation is an attention, as CheckTaps has checked.
const AttentionOp& StepOf(const Session& session, const fovea_tap& tap) {
  return *AsAttention(session.model->Operation(session.program(), tap.step));
}

uint32_t WantedHeads(const fovea_tap& tap, uint32_t heads) { return tap.heads == 0 ? heads : CountBits(tap.heads); }

// Computes the room for a sparse tap's entries.
void MeasureSparse(const Session& session, const fovea_tap& tap, const AttentionOp& op, TapRoom* room) {
  const AttentionSpec& spec = op.spec;
  const SpaceState &queries = session.spaces[op.queries().space], &keys = session.spaces[op.keys().space];
  const uint32_t names = op.global_keys, wanted = WantedHeads(tap, spec.heads);
  const uint32_t global_keys = names == kBlobNone ? 0 : session.spaces[op.inputs[names].space].max_segment_rows;
  const Pattern& pattern = spec.pattern;
  const bool heads_differ = pattern.DiffersByHead() || pattern.top_k > 0 || pattern.rounds > 0;
  const bool reduces = tap.reduce != FOVEA_REDUCE_NONE;
  const auto entries = [&](bool global_row) {
    const uint64_t come = MostVisibleKeys(pattern, {spec.heads, keys.max_segment_rows, global_keys, global_row});
    room->staged_entries = come;
    // Repeated keys are merged; if heads see different keys, a reduced row has the keys of all heads.
    return Least((CheckedSize(come) * CheckedSize(reduces && heads_differ ? wanted : 1)).value(),
                 keys.max_segment_rows);
  };
  room->inner = entries(false);
  room->most = entries(true);
  uint64_t global_rows = 0;
  if (room->most > room->inner) {
    const bool own = op.queries().space == op.keys().space;  // else a query may be after the last key
    const uint64_t most_global = queries.max_segments * (uint64_t{pattern.global_first} + pattern.global_last);
    global_rows = own ? Least(most_global, room->rows) : room->rows;
  }
  const CheckedSize of_slot = CheckedSize(global_rows) * CheckedSize(room->most) +
                              CheckedSize(room->rows - global_rows) * CheckedSize(room->inner);
  room->values = of_slot * CheckedSize(reduces ? 1 : wanted);
}

TapRoom Measure(const Session& session, const fovea_tap& tap) {
  const AttentionOp& op = StepOf(session, tap);
  const uint32_t heads = WantedHeads(tap, op.spec.heads);
  TapRoom room = {};
  room.rows = MostRows(tap, session.spaces[op.queries().space]);
  room.lines = room.rows * (tap.reduce == FOVEA_REDUCE_NONE ? heads : 1);
  const uint64_t staged = Least(room.rows * heads, kMostStagedRows);
  room.staged_rows = staged == 0 ? 1 : static_cast<uint32_t>(staged);
  if (tap.form == FOVEA_TAP_SPARSE) {
    MeasureSparse(session, tap, op, &room);
  } else {
    room.staged_entries = session.spaces[op.keys().space].max_segment_rows;
    room.values = CheckedSize(room.lines) * CheckedSize(room.staged_entries);
  }
  return room;
}

template <typename T>
T* TakeRaw(Arena& arena, CheckedSize count) {
  return static_cast<T*>(arena.TakeBytes(count * CheckedSize(sizeof(T))));
}

}  // namespace

Status CheckTaps(const Model& model, const fovea_session_options& options, Reporter& reporter) {
  if constexpr (!kHasTaps) {
    if (options.tap_count == 0) return kOk;
    return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks taps", 0, options.tap_count);
  }
  FOVEA_TRY(CheckStructs(options.taps, options.tap_count, "taps is NULL", "struct_size of a tap is wrong", reporter));
  const Structs<fovea_tap> taps{options.taps};
  const ProgramRecord& program = model.blob.programs[options.program];
  for (uint32_t i = 0; i < options.tap_count; ++i) {
    const fovea_tap& tap = taps[i];
    size_t at;
    if (!TailIsZero(&tap, &at)) {
      return reporter.Fail(FOVEA_E_STRUCT_SIZE, "an option of a tap is newer than this library: zero it", sizeof(tap),
                           tap.struct_size, at);
    }
    reporter.step = tap.step;
    if (tap.step >= program.operation_count) {
      return reporter.Fail(FOVEA_E_INDEX, "the operation to tap does not exist", program.operation_count, tap.step);
    }
    const AttentionOp* op = AsAttention(model.Operation(program, tap.step));
    if (op == nullptr) {
      return reporter.Fail(FOVEA_E_OPTION, "only attention operations can be tapped", 0, tap.step);
    }
    for (uint32_t k = 0; k < i; ++k) {
      if (taps[k].step == tap.step) return reporter.Fail(FOVEA_E_OPTION, "an operation is tapped twice", 1, tap.step);
    }
    if (tap.form > FOVEA_TAP_SPARSE) {
      return reporter.Fail(FOVEA_E_OPTION, "unknown form of a tap", FOVEA_TAP_SPARSE, tap.form);
    }
    if (tap.rows > FOVEA_TAP_ROWS_STRIDE) {
      return reporter.Fail(FOVEA_E_OPTION, "unknown value of rows of a tap", FOVEA_TAP_ROWS_STRIDE, tap.rows);
    }
    if (tap.reduce > FOVEA_REDUCE_MAX) {
      return reporter.Fail(FOVEA_E_OPTION, "unknown reduction of a tap", FOVEA_REDUCE_MAX, tap.reduce);
    }
    const bool strided = tap.rows == FOVEA_TAP_ROWS_STRIDE;
    if (strided && tap.stride == 0)
      return reporter.Fail(FOVEA_E_OPTION, "the stride of a tap must be at least 1", 1, 0);
    if (!strided && (tap.stride != 0 || tap.offset != 0)) {
      return reporter.Fail(FOVEA_E_OPTION, "stride and offset of a tap need FOVEA_TAP_ROWS_STRIDE", 0, tap.stride);
    }
    if (tap.what > FOVEA_KEEP_SCORES) {
      return reporter.Fail(FOVEA_E_OPTION, "a tap must record weights or scores", FOVEA_KEEP_SCORES, tap.what);
    }
    if (tap.what == FOVEA_KEEP_SCORES && tap.reduce != FOVEA_REDUCE_NONE) {
      return reporter.Fail(FOVEA_E_OPTION, "a tap of scores cannot reduce over heads", FOVEA_REDUCE_NONE, tap.reduce);
    }
    const uint32_t heads = op->spec.heads;
    if (tap.heads != 0 && (heads > 64 || (heads < 64 && tap.heads >> heads != 0))) {
      return reporter.Fail(FOVEA_E_OPTION, "a tap can select only heads that the operation has, of at most 64", heads,
                           tap.heads);
    }
  }
  reporter.step = FOVEA_NOWHERE;
  return kOk;
}

Status PlaceTaps(const fovea_session_options& options, Session& session, SessionArenas& arenas, Reporter& reporter) {
  if constexpr (!kHasTaps) return kOk;
  const uint32_t operations = session.program().operation_count;
  session.tap_count = options.tap_count;
  session.taps = arenas.fixed.Take<Tap>(options.tap_count);
  const bool placing = !arenas.fixed.counting() && arenas.fixed.ok();
  const uint64_t before = arenas.scratch.needed();
  for (uint32_t i = 0; i < options.tap_count; ++i) {
    const fovea_tap& asked = Structs<fovea_tap>{options.taps}[i];
    const bool sparse = asked.form == FOVEA_TAP_SPARSE;
    const AttentionOp& op = StepOf(session, asked);
    const TapRoom room = Measure(session, asked);
    if (room.staged_entries > UINT32_MAX || room.lines > UINT32_MAX) {
      reporter.step = asked.step;
      return reporter.Fail(FOVEA_E_OPTION, "a tap has too many rows, or too many entries in a row", UINT32_MAX,
                           room.lines > UINT32_MAX ? room.lines : room.staged_entries);
    }
    Tap tap = {};
    tap.asked = asked;
    tap.most = room.most;
    tap.inner = room.inner;
    tap.rows = TakeRaw<uint32_t>(arenas.scratch, room.rows);
    tap.sink.scores = asked.what == FOVEA_KEEP_SCORES;
    tap.sink.head_mask = asked.heads;
    tap.sink.heads = WantedHeads(asked, op.spec.heads);
    tap.sink.reduce = Reduce(asked.reduce);
    tap.sink.values = TakeRaw<float>(arenas.scratch, room.values);
    tap.sink.stride = session.spaces[op.keys().space].max_segment_rows;
    tap.sink.staged_rows = room.staged_rows;
    tap.sink.staged_entries = static_cast<uint32_t>(room.staged_entries);
    if (asked.rows != FOVEA_TAP_ROWS_ALL) tap.sink.rows = tap.rows;
    if (sparse) {
      tap.starts = TakeRaw<uint64_t>(arenas.scratch, room.rows + 1);
      tap.sink.keys = TakeRaw<uint32_t>(arenas.scratch, room.values);
      tap.sink.counts = TakeRaw<uint32_t>(arenas.scratch, room.lines);
      tap.sink.starts = tap.starts;
    }
    if (!placing) continue;
    session.taps[i] = tap;
    for (uint32_t k = 0; k < operations; ++k) {
      if (session.steps[k].operation == asked.step) session.steps[k].tap = i;
    }
  }
  session.info.tap_bytes = arenas.scratch.needed() - before;
  return kOk;
}

void PlaceStaged(const Session& session, const fovea_session_options& options, Arena& scratch, Worker* worker) {
  if constexpr (!kHasTaps) return;
  uint64_t most = 0;
  bool sparse = false;
  for (uint32_t i = 0; i < options.tap_count; ++i) {
    const TapRoom room = Measure(session, Structs<fovea_tap>{options.taps}[i]);
    const uint64_t entries = room.staged_rows * room.staged_entries;
    if (entries > most) most = entries;
    sparse |= Structs<fovea_tap>{options.taps}[i].form == FOVEA_TAP_SPARSE;
  }
  worker->staged_values = TakeRaw<float>(scratch, most);
  if (sparse) worker->staged_keys = TakeRaw<uint32_t>(scratch, most);
}

void ChooseTapRows(Session& session, Tap* tap) {
  if constexpr (!kHasTaps) return;
  const AttentionOp& op = StepOf(session, tap->asked);
  const Segments &queries = session.space_rows[op.queries().space].segments,
                 &keys = session.space_rows[op.keys().space].segments;
  const AttentionSpec& spec = op.spec;
  const bool of_parent = spec.pairing == Pairing::kParent;
  uint32_t count = 0;
  uint64_t start = 0;
  for (uint32_t segment = 0; segment < queries.count; ++segment) {
    const uint32_t begin = queries.offsets[segment], length = queries.offsets[segment + 1] - begin;
    if (length == 0) continue;
    const Range range = PositionsOf(tap->asked, length);
    for (uint64_t position = range.first; position < length; position += range.step, ++count) {
      const auto row = static_cast<uint32_t>(begin + position);
      tap->rows[count] = row;
      if (tap->starts == nullptr) continue;
      tap->starts[count] = start;
      const uint32_t of_keys = of_parent ? row : op.KeySegmentOf(session.space_rows, segment);
      const bool global_rows = spec.pattern.IsGlobal(of_parent ? 0 : static_cast<uint32_t>(position),
                                                     keys.offsets[of_keys + 1] - keys.offsets[of_keys]);
      start += global_rows ? tap->most : tap->inner;
    }
  }
  if (tap->starts != nullptr) tap->starts[count] = start;
  tap->sink.row_count = count;
}

WeightSink SinkOf(const Tap& tap, const Worker& worker) {
  WeightSink sink = tap.sink;
  sink.staged_values = worker.staged_values;
  sink.staged_keys = worker.staged_keys;
  return sink;
}

}  // namespace fovea
