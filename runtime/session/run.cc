// Runs phase by phase. With many rows a phase is executed row-parallel: workers take tiles of rows and carry each tile
// through all operations. With few rows it is executed column-parallel: all workers process the same rows, stage by
// stage, and split operations by output columns or heads (runtime/plan/stages.cc). In phases of other units a worker
// takes tiles of segments or heads of one operation, or all workers execute an operation cooperatively.
#include "runtime/session/session.h"

namespace fovea {
namespace {

// With fewer rows per worker than this, a phase is executed column-parallel: kernels process up to 16 rows at once, and
// row-parallel every worker would stream all weights for them.
constexpr uint32_t kLeastRowsPerWorker = 32;
// Multiplications in a phase below which several workers cost more time than they save: a barrier costs a worker some
// microseconds, a call of the runner ten times that.
constexpr uint64_t kLeastWork = 1 << 18, kLeastWorkByRunner = 1 << 21;
// The same per row of a recurrent layer, where workers that cooperate pass one or two barriers.
constexpr uint64_t kLeastRowWork = 1 << 17;

// The work of one worker: some rows of operations, all of them or some columns or heads.
struct WorkItem {
  uint32_t worker;
  uint32_t begin, end;  // rows, segments, or the number of a tile of heads
  Execution execution = Execution::kRowParallel;
  uint32_t workers = 1;          // column-parallel: number that split operations of these rows
  uint32_t* arrivals = nullptr;  // cooperative: the worker's count for Session::checked_barrier
};

// Whether the rest of the run is skipped.
bool Stops(Session& session) {
  if (session.stop.load(std::memory_order_relaxed) == 0) return false;
  session.stop.fetch_or(kStopping, std::memory_order_relaxed);
  return true;
}

void SkipTheRest(Session& session) { session.stop.fetch_or(kStopping, std::memory_order_relaxed); }

void FailStep(Session& session, fovea_status status, uint32_t step, const RunFault& fault) {
  session.failure.Record(status, step, fault);
  SkipTheRest(session);
}

void FailBarrier(Session& session) {
  FailStep(session, FOVEA_E_RUNNER, FOVEA_NOWHERE, FaultOf(kBarrierFault, session.worker_count));
}

// The runner did not call all tasks. A broken barrier may be the reason.
void FailRunner(Session& session) {
  const RunFault fault = session.checked_barrier.broken() ? FaultOf(kBarrierFault, session.worker_count)
                                                          : FaultOf(kRunnerFault, session.worker_count);
  session.failure.Replace(FOVEA_E_RUNNER, fault);
  SkipTheRest(session);
}

// If a tap reduces over heads, one worker takes all heads of a row in order, so there is one tile.
bool HeadsMeet(const Session& session, const Step& step) {
  return kHasTaps && step.tap != kBlobNone && session.taps[step.tap].sink.reduce != Reduce::kNone;
}

// Sets the rows and heads of tile number `tile`.
void SetHeads(const Session& session, const Step& step, uint32_t tile, OpRun* run) {
  const uint32_t rows = session.space_rows[step.op->output.space].rows;
  run->tile_rows = step.tile_units;
  if (HeadsMeet(session, step)) {
    run->row_begin = 0, run->row_end = rows;
    return;
  }
  const HeadTiles tiles = HeadsOf(*step.op, session.worker_count);
  run->row_begin = tiles.RowBegin(tile, rows), run->row_end = tiles.RowEnd(tile, rows);
  run->head_begin = tiles.Head(tile), run->head_end = run->head_begin + 1;
}

// Address of a value's rows for this worker, from the item's first row on.
uint8_t* RowsOf(const Session& session, const WorkItem& item, const Operand& operand) {
  if (item.execution == Execution::kColumnParallel && operand.residence != Residence::kSession) {
    const bool shared = operand.residence == Residence::kShared;
    if (shared || operand.residence == Residence::kPrivate || item.worker != 0) {
      return session.workers[shared ? 0 : item.worker].tile_slots + operand.slot_offset;
    }
  }
  uint8_t* rows = session.values[operand.value];
  if (rows == nullptr) return session.workers[item.worker].tile_slots + operand.tile_offset;
  return rows + size_t{item.begin} * operand.row_bytes;
}

// Sets the columns or heads of an operation that are the worker's in a column-parallel phase; false if it has none.
bool SplitOperation(const Session& session, const Step& step, const WorkItem& item, OpRun* run) {
  const StepShare& share = *step.share;
  if (item.worker >= item.workers) return false;
  if (share.share == Share::kReplicated) return item.worker == 0 || !share.first_only;
  if (share.share == Share::kFirstWorker || HeadsMeet(session, step)) return item.worker == 0;
  const uint32_t begin = share.units * item.worker / item.workers, end = share.units * (item.worker + 1) / item.workers;
  if (share.share == Share::kHeads) {
    const uint32_t group = step.op->heads / share.units;
    run->head_begin = begin * group, run->head_end = end * group;
  } else {
    const uint32_t width = run->column_end;
    run->column_begin = begin * share.grain;
    run->column_end = end * share.grain < width ? end * share.grain : width;
  }
  return begin < end;
}

Status RunStep(Session& session, const Step& step, const WorkItem& item, RunFault* fault) {
  const Op& op = *step.op;
  Worker& worker = session.workers[item.worker];
  OpRun run{};
  run.kernels = &session.model->kernels;
  run.spaces = session.space_rows;
  run.row_begin = item.begin;
  run.row_end = item.end;
  run.column_end = op.output.width;
  if (item.execution == Execution::kColumnParallel && !SplitOperation(session, step, item, &run)) return kOk;
  if (op.unit == Unit::kHeads) SetHeads(session, step, item.begin, &run);
  for (uint32_t i = 0; i < op.input_count; ++i) worker.inputs[i] = RowsOf(session, item, step.inputs[i]);
  run.inputs = worker.inputs;
  run.output = reinterpret_cast<float*>(RowsOf(session, item, step.output));
  run.offsets = step.offsets;
  run.scratch = worker.scratch;
  run.placed = step.placed;
  run.quantized = &worker.quantized;
  run.operators = worker.gemm_ops;
  run.fault = fault;
  if (item.execution == Execution::kCooperative) {
    run.team = {item.worker,
                session.worker_count,
                &session.checked_barrier,
                item.arrivals,
                {session.workers[0].scratch, session.workers[1].scratch}};
  }
  if (!kHasTaps || step.tap == kBlobNone) return op.def->run(op, run);
  const WeightSink sink = SinkOf(session.taps[step.tap], worker);
  run.weights = &sink;
  return op.def->run(op, run);
}

// Runs operations one after the other on an item. False if one failed or the run was cancelled; workers that cooperate
// continue nevertheless, so that all reach the same barriers.
bool RunSteps(Session& session, uint32_t first_step, uint32_t end_step, const WorkItem& item) {
  uint64_t* ticks = session.workers[item.worker].ticks;
  if (Stops(session) && item.execution != Execution::kCooperative) return false;
  RunFault fault;
  for (uint32_t i = first_step; i < end_step; ++i) {
    const Step& step = session.steps[i];
    const uint64_t start = session.clock == nullptr ? 0 : session.clock();
    const Status status = RunStep(session, step, item, &fault);
    if (session.clock != nullptr) ticks[step.operation] += session.clock() - start;
    if (!status.ok()) {
      FailStep(session, status.code, step.operation, fault);
      return false;
    }
  }
  return true;
}

void RunRowParallel(Session& session, uint32_t worker, const PhasePlan& phase, PhaseRun& run) {
  const bool by_segments = phase.unit == Unit::kSegments;
  const uint32_t lists = by_segments ? phase.step_count : 1, steps = by_segments ? 1 : phase.step_count;
  for (uint32_t list = 0; list < lists; ++list) {
    for (uint32_t begin, end; run.tiles[list].Take(&begin, &end);) {
      session.workers[worker].quantized.value = kBlobNone;
      const uint32_t first = phase.first_step + list;
      if (!RunSteps(session, first, first + steps, {worker, begin, end})) return;
    }
  }
}

// Runs the operations of one stage on all rows.
void RunColumnParallel(Session& session, uint32_t worker, const PhasePlan& phase, const PhaseRun& run, RunPlace place,
                       uint32_t end_step) {
  if (place.step == phase.first_step) session.workers[worker].quantized.value = kBlobNone;
  const uint32_t rows = session.space_rows[phase.space].rows;
  RunSteps(session, place.step, end_step, {worker, 0, rows, Execution::kColumnParallel, run.workers});
}

// Runs operation by operation with a barrier before each, so that no worker overwrites memory that is still read.
void RunCooperatively(Session& session, uint32_t worker, const PhasePlan& phase, uint32_t* arrivals) {
  const uint32_t segments = session.space_rows[phase.space].segments.count;
  const WorkItem item = {worker, 0, segments, Execution::kCooperative, session.worker_count, arrivals};
  for (uint32_t i = 0; i < phase.step_count; ++i) {
    if (i > 0 && !session.checked_barrier.Wait(arrivals)) return FailBarrier(session);
    session.workers[worker].quantized.value = kBlobNone;
    RunSteps(session, phase.first_step + i, phase.first_step + i + 1, item);
  }
}

// Whether it is faster to process all segments cooperatively than to give `tiles` workers a tile of segments each.
bool IsCooperative(const Session& session, const PhasePlan& phase, uint32_t tiles) {
  const uint32_t segments = session.space_rows[phase.space].segments.count;
  if (kMaxWorkers == 1 || session.barrier == nullptr || tiles == 0 || tiles >= session.worker_count ||
      segments > session.tile_rows) {
    return false;
  }
  return phase.weights * segments >= kLeastRowWork;
}

// Runs an operation of unit kAll, even without rows: a selected space then has none. One worker does it.
void RunWhole(Session& session, const PhasePlan& phase) {
  session.workers[0].quantized.value = kBlobNone;
  const uint32_t rows = session.space_rows[phase.space].rows;
  if (!RunSteps(session, phase.first_step, phase.first_step + 1, {0, 0, rows})) return;
  const Op& op = *session.steps[phase.first_step].op;
  if (op.def->chooses) BindSelected(session, op.output.space);
}

bool IsColumnParallel(const Session& session, const PhasePlan& phase, uint32_t rows) {
  const uint64_t least = session.barrier != nullptr ? kLeastWork : kLeastWorkByRunner;
  return kMaxWorkers > 1 && session.runner != nullptr && phase.most_shares > 1 &&
         rows <= session.column_parallel_rows && rows < uint64_t{kLeastRowsPerWorker} * session.worker_count &&
         rows * phase.weights >= least;
}

// The functions below choose the execution of a phase and cut it into tiles. They return the most workers that can have
// something to do.
uint32_t PrepareRows(const Session& session, const PhasePlan& phase, uint32_t rows, PhaseRun* run) {
  run->tiles[0].Reset(rows, session.worker_count, session.tile_rows);
  if (!IsColumnParallel(session, phase, rows)) return run->tiles[0].count();
  run->execution = Execution::kColumnParallel;
  return phase.most_shares;
}

uint32_t PrepareHeads(const Session& session, const PhasePlan& phase, uint32_t rows, PhaseRun* run) {
  const Step& step = session.steps[phase.first_step];
  const uint32_t workers = session.worker_count;
  const uint32_t tiles = rows == 0 ? 0 : HeadsMeet(session, step) ? 1 : HeadsOf(*step.op, workers).count();
  run->tiles[0].Reset(tiles, workers, 1, 1);
  return tiles;
}

uint32_t PrepareSegments(const Session& session, const PhasePlan& phase, uint32_t rows, PhaseRun* run) {
  const uint32_t segments = rows == 0 ? 0 : session.space_rows[phase.space].segments.count;
  // Workers per operation.
  const auto each = static_cast<uint32_t>(DivideUp(session.worker_count, phase.step_count));
  uint32_t tiles = 0;
  for (uint32_t i = 0; i < phase.step_count; ++i) {
    run->tiles[i].Reset(segments, each, session.tile_rows, 1);
    tiles += run->tiles[i].count();
  }
  if (!IsCooperative(session, phase, tiles)) return tiles;
  run->execution = Execution::kCooperative;
  return session.worker_count;
}

// Call it before the phase begins, when everything that it depends on is known.
void PreparePhase(Session& session, uint32_t number) {
  const PhasePlan& phase = session.plan->phases[number];
  PhaseRun& run = session.phase_runs[number % 2];
  // A run that stops may not know the rows: it skips the phase.
  const bool stopping = (session.stop.load(std::memory_order_relaxed) & kStopping) != 0;
  const uint32_t rows = stopping ? 0 : session.space_rows[phase.space].rows, workers = session.worker_count;
  run.workers = 1;
  run.execution = Execution::kRowParallel;
  if (phase.unit == Unit::kAll) return;
  for (uint32_t i = 0; i < phase.step_count && session.tap_count > 0 && !stopping; ++i) {
    const uint32_t tap = session.steps[phase.first_step + i].tap;
    if (tap != kBlobNone) ChooseTapRows(session, &session.taps[tap]);
  }
  const uint32_t busy = phase.unit == Unit::kRows    ? PrepareRows(session, phase, rows, &run)
                        : phase.unit == Unit::kHeads ? PrepareHeads(session, phase, rows, &run)
                                                     : PrepareSegments(session, phase, rows, &run);
  if (busy > 1) run.workers = busy < workers ? busy : workers;
}

// The next place where workers wait for each other. Phases are numbered in order, so its step is always the end of the
// phase or stage before it.
RunPlace After(const Session& session, RunPlace place) {
  const ProgramPlan& plan = *session.plan;
  const PhasePlan& phase = plan.phases[place.phase];
  const uint32_t end = phase.first_step + phase.step_count;
  if (session.phase_runs[place.phase % 2].execution == Execution::kColumnParallel) {
    while (++place.step < end) {
      if (session.steps[place.step].share->begins_stage) return place;
    }
  }
  return {place.phase + 1, end};
}

// Everything that one worker does up to the next barrier. The first worker prepares the next phase.
void RunFrom(Session& session, uint32_t worker, RunPlace place, uint32_t* arrivals) {
  const PhasePlan& phase = session.plan->phases[place.phase];
  PhaseRun& run = session.phase_runs[place.phase % 2];
  const RunPlace after = After(session, place);
  if (run.execution == Execution::kColumnParallel) {
    RunColumnParallel(session, worker, phase, run, place, after.step);
  } else if (run.execution == Execution::kCooperative) {
    RunCooperatively(session, worker, phase, arrivals);
  } else if (phase.unit != Unit::kAll) {
    RunRowParallel(session, worker, phase, run);
  } else if (worker == 0) {
    RunWhole(session, phase);
  }
  if (worker == 0 && after.phase != place.phase && after.phase < session.plan->phase_count) {
    PreparePhase(session, after.phase);
  }
}

// Number of workers that have something to do at a place.
uint32_t WorkersAt(const Session& session, RunPlace place) {
  const PhaseRun& run = session.phase_runs[place.phase % 2];
  if (run.execution != Execution::kColumnParallel) return run.workers;
  for (uint32_t step = place.step, end = After(session, place).step; step < end; ++step) {
    const StepShare& share = *session.steps[step].share;
    if (share.share != Share::kFirstWorker && !share.first_only) return run.workers;
  }
  return 1;
}

// The task of a runner call: with a barrier everything up to the end, without one a single place.
struct RunCall {
  Session& session;
  uint32_t end_phase;
  bool meets;
};

void RunWorker(void* context, uint32_t worker) {
  const RunCall call = *static_cast<RunCall*>(context);
  Session& session = call.session;
  RunPlace place = session.next;
  uint32_t arrivals = 0;
  for (;;) {
    const RunPlace after = After(session, place);
    RunFrom(session, worker, place, &arrivals);
    if (!call.meets || after.phase == call.end_phase) return;
    if (!session.checked_barrier.Wait(&arrivals)) return FailBarrier(session);
    place = after;
  }
}

// The first worker continues alone as long as the other workers have nothing to do.
void RunPhases(Session& session, uint32_t end_phase) {
  while (session.next.phase < end_phase && !Stops(session)) {
    const uint32_t workers = WorkersAt(session, session.next);
    RunCall call = {session, end_phase, workers > 1 && session.barrier != nullptr};
    // A stage that only the first worker runs may begin a phase that the other workers join later.
    for (uint32_t w = 1; w < session.worker_count && workers == 1; ++w) session.workers[w].quantized.value = kBlobNone;
    const PhasePlan& last = session.plan->phases[end_phase - 1];
    const RunPlace after =
        call.meets ? RunPlace{end_phase, last.first_step + last.step_count} : After(session, session.next);
    session.checked_barrier.Begin(session.barrier, session.runner_context, session.worker_count);
    if (!session.calls.Run(session.runner, session.runner_context, call.meets ? session.worker_count : workers,
                           RunWorker, &call)) {
      return FailRunner(session);
    }
    session.next = after;
  }
}

// Ends a run that was stopped. kStopping remains set until the next run, for tasks that a runner did not wait for.
Status EndEarly(Session& session, Reporter& reporter) {
  session.running = false;
  if (session.failure.status() != FOVEA_OK) return session.failure.Report(reporter);
  session.stop.fetch_and(~uint32_t{kCancelAsked}, std::memory_order_relaxed);
  return reporter.Fail(FOVEA_E_CANCELLED, "the run was cancelled");
}

// Runs up to `phases` further phases; *left is how many remain after them.
Status Advance(Session& session, uint32_t phases, uint32_t* left, Reporter& reporter) {
  const Status linked = CheckLinks(session, reporter);
  if (!linked.ok()) {
    session.running = false;
    return linked;
  }
  const uint32_t count = session.plan->phase_count;
  RunPhases(session, phases < count - session.next.phase ? session.next.phase + phases : count);
  if (Stops(session)) return EndEarly(session, reporter);
  *left = count - session.next.phase;
  if (*left == 0) {
    session.running = false;
    session.finished = true;
    PassOnCarried(session);
    CommitAppended(session);
  }
  return kOk;
}

}  // namespace

Status CheckIdle(const Session& session, Reporter& reporter) {
  if (!session.running) return kOk;
  return reporter.Fail(FOVEA_E_ORDER, "a run is in progress: advance it to its end, or cancel it and advance");
}

Status BeginRun(Session& session, Reporter& reporter) {
  FOVEA_TRY(CheckIdle(session, reporter));
  session.finished = false;
  ++session.changes;
  ForgetSelected(session);
  FOVEA_TRY(FollowLinks(session, reporter));
  FOVEA_TRY(CheckBound(session, reporter));
  FOVEA_TRY(BeginAppending(session, reporter));
  BindCached(session);
  session.next = {0, 0};
  session.stop.fetch_and(kCancelAsked, std::memory_order_relaxed);
  session.failure.Clear();
  session.running = true;
  if (session.plan->phase_count > 0) PreparePhase(session, 0);
  return kOk;
}

Status AdvanceRun(Session& session, uint32_t phases, uint32_t* left, Reporter& reporter) {
  if (!session.running) return reporter.Fail(FOVEA_E_ORDER, "no run has begun: begin one first");
  if (session.advancing) return reporter.Fail(FOVEA_E_ORDER, "another call is advancing the run");
  session.advancing = true;
  const Status status = Advance(session, phases, left, reporter);
  session.advancing = false;
  return status;
}

}  // namespace fovea
