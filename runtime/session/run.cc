// Phase by phase; in a phase workers take tiles of rows and carry each through all steps, or tiles of segments for one
// step.
#include "runtime/session/session.h"

namespace fovea {
namespace {

// Row `row` of a value: in the session's memory, or in this worker's tile, which begins with the tile's first row.
uint8_t* Row(const Session& session, const Worker& worker, uint32_t value, uint32_t row) {
  if (session.values[value] == nullptr) {
    return worker.tile_slots + session.tile_offsets[session.plan->values[value].slot];
  }
  return session.values[value] + size_t{row} * session.plan->values[value].row_bytes;
}

// One worker takes the heads of a row that a tap makes one of, in their order: then there is one tile.
bool HeadsMeet(const Session& session, uint32_t operation) {
  const uint32_t tap = session.tap_of_operation[operation];
  return tap != kBlobNone && session.taps[tap].sink.reduce != Reduce::kNone;
}

// Which rows and heads the tile of this number is.
void SetHeads(const Session& session, uint32_t operation, uint32_t tile, OpRun* run) {
  const uint32_t rows = session.space_rows[run->view.Output().space].rows;
  run->tile_rows = TileUnits(session, run->view);
  if (HeadsMeet(session, operation)) {
    run->row_begin = 0, run->row_end = rows;
    return;
  }
  const HeadTiles tiles = HeadsOf(run->view, session.worker_count);
  run->row_begin = tiles.RowBegin(tile, rows), run->row_end = tiles.RowEnd(tile, rows);
  run->head_begin = tiles.Head(tile), run->head_end = run->head_begin + 1;
}

Status RunStep(const Session& session, Worker& worker, uint32_t operation, uint32_t begin, uint32_t end) {
  const Model& model = *session.model;
  OpRun run{};
  run.view = model.Operation(session.program(), operation);
  const OpDef& def = *FindOp(run.view.record->code);
  run.kernels = &model.kernels;
  run.spaces = session.space_rows;
  run.row_begin = begin;
  run.row_end = end;
  const Unit unit = UnitOf(run.view);
  if (unit == Unit::kHeads) SetHeads(session, operation, begin, &run);
  const uint32_t first = unit == Unit::kRows ? begin : 0;
  for (uint32_t i = 0; i < run.view.record->input_count; ++i) {
    const bool all_rows = ((def.reads_all_rows >> i) & 1) != 0;
    run.inputs[i] = Row(session, worker, run.view.InputIndex(i), all_rows ? 0 : first);
  }
  run.output = reinterpret_cast<float*>(Row(session, worker, run.view.record->output, first));
  if (def.chooses) run.offsets = session.spaces[run.view.Output().space].offsets;
  run.scratch = worker.scratch;
  run.quantized = &worker.quantized;
  for (uint32_t i = 0; i < kMaxLayers; ++i) {
    const Linear* layer = model.Layer(session.program().first_operation + operation, i);
    if (layer == nullptr) break;
    run.layers[i] = {layer->backend, &layer->weights, layer->packed, worker.gemm_ops[layer->op]};
  }
  WeightSink sink;
  const uint32_t tap = session.tap_of_operation[operation];
  if (tap != kBlobNone) {
    sink = SinkOf(session.taps[tap], worker);
    run.weights = &sink;
  }
  return def.run(run);
}

// Rows [begin, end), or so many segments, through steps of the plan. False if one failed.
bool RunTile(Session& session, Worker& worker, uint32_t first_step, uint32_t step_count, uint32_t begin, uint32_t end) {
  worker.quantized.value = kBlobNone;
  for (uint32_t i = 0; i < step_count; ++i) {
    const uint32_t operation = session.plan->steps[first_step + i];
    const uint64_t start = session.clock == nullptr ? 0 : session.clock();
    const Status status = RunStep(session, worker, operation, begin, end);
    if (session.clock != nullptr) worker.ticks[operation] += session.clock() - start;
    if (!status.ok()) {
      session.failed_step.store(operation, std::memory_order_relaxed);
      session.failure.store(status.code, std::memory_order_relaxed);
      session.cancelled.store(true, std::memory_order_relaxed);
      return false;
    }
  }
  return true;
}

void RunTiles(void* context, uint32_t worker_index) {
  Session& session = *static_cast<Session*>(context);
  const PhasePlan& phase = session.plan->phases[session.next_phase];
  const bool by_segments = phase.unit == Unit::kSegments;
  const uint32_t lists = by_segments ? phase.step_count : 1, steps = by_segments ? 1 : phase.step_count;
  for (uint32_t list = 0; list < lists; ++list) {
    for (uint32_t begin, end; session.tiles[list].Take(&begin, &end);) {
      if (session.cancelled.load(std::memory_order_relaxed)) return;
      if (!RunTile(session, session.workers[worker_index], phase.first_step + list, steps, begin, end)) return;
    }
  }
}

// Even without rows: a selected space then has none. One worker does it all.
void RunWhole(Session& session, const PhasePlan& phase, uint32_t rows) {
  if (session.cancelled.load(std::memory_order_relaxed)) return;
  if (!RunTile(session, session.workers[0], phase.first_step, 1, 0, rows)) return;
  const OpView view = session.model->Operation(session.program(), session.plan->steps[phase.first_step]);
  if (FindOp(view.record->code)->chooses) BindSelected(session, view.Output().space);
}

void RunPhase(Session& session) {
  const PhasePlan& phase = session.plan->phases[session.next_phase];
  const uint32_t rows = session.space_rows[phase.space].rows;
  if (phase.unit == Unit::kAll) return RunWhole(session, phase, rows);
  for (uint32_t i = 0; i < phase.step_count && session.tap_count > 0; ++i) {
    const uint32_t tap = session.tap_of_operation[session.plan->steps[phase.first_step + i]];
    if (tap != kBlobNone) ChooseTapRows(session, &session.taps[tap]);
  }
  if (rows == 0) return;
  if (phase.unit == Unit::kRows) {
    session.tiles[0].Reset(rows, session.worker_count, session.tile_rows);
  } else if (phase.unit == Unit::kHeads) {
    const uint32_t operation = session.plan->steps[phase.first_step];
    const OpView view = session.model->Operation(session.program(), operation);
    const uint32_t tiles = HeadsMeet(session, operation) ? 1 : HeadsOf(view, session.worker_count).count();
    session.tiles[0].Reset(tiles, session.worker_count, 1, 1);
  } else {
    const uint32_t segments = session.space_rows[phase.space].segments.count;
    const auto workers = static_cast<uint32_t>(DivideUp(session.worker_count, phase.step_count));  // for each step
    for (uint32_t i = 0; i < phase.step_count; ++i) session.tiles[i].Reset(segments, workers, session.tile_rows, 1);
  }
  RunWorkers(session.runner, session.runner_context, session.worker_count, RunTiles, &session);
}

}  // namespace

Status BeginRun(Session& session, Reporter& reporter) {
  session.running = session.finished = false;
  ForgetSelected(session);
  FOVEA_TRY(FollowLinks(session, reporter));
  FOVEA_TRY(CheckBound(session, reporter));
  session.next_phase = 0;
  session.cancelled.store(false, std::memory_order_relaxed);
  session.failure.store(FOVEA_OK, std::memory_order_relaxed);
  session.running = true;
  return kOk;
}

Status AdvanceRun(Session& session, uint32_t phases, uint32_t* left, Reporter& reporter) {
  if (!session.running) return reporter.Fail(FOVEA_E_ORDER, "no run has begun");
  const uint32_t count = session.plan->phase_count;
  for (; phases > 0 && session.next_phase < count; --phases, ++session.next_phase) {
    RunPhase(session);
    if (!session.cancelled.load(std::memory_order_relaxed)) continue;
    session.running = false;
    const fovea_status failure = session.failure.load(std::memory_order_relaxed);
    if (failure == FOVEA_OK) return reporter.Fail(FOVEA_E_CANCELLED, "the run was cancelled");
    reporter.step = session.failed_step.load(std::memory_order_relaxed);
    return reporter.Fail(failure, FOVEA_STATUS_CLASS(failure) == FOVEA_E_LIMIT
                                      ? "more rows qualify than the selected space takes of a segment"
                                      : "a backend refused an operation");
  }
  *left = count - session.next_phase;
  if (*left == 0) {
    session.running = false;
    session.finished = true;
    PassOnCarried(session);
  }
  return kOk;
}

}  // namespace fovea
