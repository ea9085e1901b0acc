// A plan in the caller's memory: limits resolved, all addresses known, ready to bind rows and run.
#ifndef FOVEA_RUNTIME_SESSION_SESSION_H_
#define FOVEA_RUNTIME_SESSION_SESSION_H_

#include <atomic>

#include "fovea/session.h"
#include "runtime/attention/tap.h"
#include "runtime/base/arena.h"
#include "runtime/ops/attention.h"
#include "runtime/parallel/workers.h"
#include "runtime/plan/plan.h"
#include "runtime/session/cache.h"
#include "runtime/session/failure.h"

namespace fovea {

// Limits of a space, and its currently bound rows.
struct SpaceState : SpaceLimits {
  bool used = false;      // by the program
  bool selected = false;  // its rows, or rows that it derives from, are selected during a run
  bool bound = false;
  uint32_t cached_rows = 0;     // cached space: rows of all texts together
  uint32_t* offsets = nullptr;  // [max_segments + 1]
};

// Where a value is stored while its phase is executed column-parallel.
enum class Residence : uint32_t {
  kSession,          // in the session's memory
  kShared,           // in the first worker's slots, for all workers
  kPrivate,          // in each worker's slots
  kPrivateButFirst,  // the same, but the first worker's is in the session's memory
};

// Location of an operand: in the session's memory, or in the worker's tile, which begins with the tile's first row.
struct Operand {
  uint32_t value;        // in Session::values, null there for values that exist per tile
  uint32_t row_bytes;    // stride between rows; 0: all tiles begin at row 0
  uint64_t tile_offset;  // from Worker::tile_slots
  Residence residence = Residence::kSession;
  uint64_t slot_offset = 0;  // from the slots that `residence` names
};

// An operation in this session: everything that depends on limits and workers, resolved once.
struct Step {
  const Op* op;
  const Operand* inputs;  // [op->input_count]
  Operand output;
  const StepShare* share;
  uint32_t operation;        // index in the program
  uint32_t tap = kBlobNone;  // in Session::taps
  uint32_t tile_units;       // the most rows of its tile, or segments; sizes its scratch
  uint32_t* offsets;         // if it chooses rows: the offsets of its output's space
  const void* placed;        // made by OpDef::place, or null
};

struct Worker {
  uint8_t* tile_slots;  // a tile's; column-parallel: the private slots, and after the first worker's the shared ones
  void* scratch;
  const void** inputs;  // the current operation's
  QuantizedTile quantized;
  void** gemm_ops;       // [Model::gemm_op_count], null where the program has none
  uint64_t* ticks;       // [operations], or null
  float* staged_values;  // for taps
  uint32_t* staged_keys;
};

// Recorded attention weights (an attention map). The sink's rows (and starts) belong to the current run.
struct Tap {
  fovea_tap asked;
  WeightSink sink;       // without a worker's staged rows
  uint32_t* rows;        // [most rows] tapped query rows
  uint64_t* starts;      // sparse: [most rows + 1]
  uint64_t most, inner;  // sparse: room for entries per row: at an edge of the pattern, and elsewhere
};

// An input that reads an output of the previous run. Both are in the state block and swap after each run.
struct Carried {
  uint32_t input, output;
  uint8_t *read, *write;
};

// An input that is stored in another session.
struct Link {
  bool linked = false;  // named in options.linked: has no memory in this session
  const Session* from = nullptr;
  uint32_t output = 0;
  uint32_t changes = 0;  // that of `from` when the current run began
};

// How workers execute a phase.
enum class Execution : uint32_t {
  kRowParallel,     // each takes tiles of rows, segments or heads
  kColumnParallel,  // unit kRows: all work on the same rows, stage by stage, and split operations by columns or heads
  kCooperative,     // unit kSegments: all work on the same segments, operation by operation and matmul by matmul
};

// The execution of a phase in this run.
struct PhaseRun {
  Tiles tiles[kMaxSegmentSteps];  // units kRows and kHeads use the first
  uint32_t workers = 1;           // number that have something to do
  Execution execution = Execution::kRowParallel;
};

// A place in a run: the start of a phase or, in a column-parallel one, of a stage. Workers wait for each other there.
struct RunPlace {
  uint32_t phase;
  uint32_t step;  // position in running order
};

// Reasons to end a run early: bits of Session::stop.
enum : uint32_t {
  kCancelAsked = 1,  // by the caller, for the current run or the next one
  kStopping = 2,     // a worker has seen it, or an operation failed: the rest is skipped
};

struct Session {
  const Model* model = nullptr;
  const ProgramPlan* plan = nullptr;
  uint32_t worker_count = 0, tile_rows = 0;
  fovea_runner runner = nullptr;
  void* runner_context = nullptr;
  fovea_barrier barrier = nullptr;
  uint64_t (*clock)() = nullptr;

  SpaceState spaces[kMaxSpaces];
  SpaceRows space_rows[kMaxSpaces];   // as operations see them
  uint8_t** values = nullptr;         // [values] row 0; null for values that exist per tile
  Step* steps = nullptr;              // [operations], in the plan's order
  uint32_t column_parallel_rows = 0;  // the most rows of a column-parallel phase
  Tap* taps = nullptr;
  uint32_t tap_count = 0;
  bool* kept = nullptr;  // [values]
  Carried* carried = nullptr;
  uint32_t carried_count = 0;
  Link* links = nullptr;  // [inputs]
  Cache cache;
  Worker* workers = nullptr;

  // The current run.
  RunPlace next{};
  bool running = false, finished = false;
  bool advancing = false;  // the caller's functions may call the library
  uint32_t changes = 0;    // count of runs and bindings, for sessions linked to this one
  // State of the current and the next phase, alternately: the next is prepared before the current one ends.
  PhaseRun phase_runs[2];
  WorkerCalls calls;
  CheckedBarrier checked_barrier;
  std::atomic<uint32_t> stop{0};
  RunFailure failure;

  fovea_session_info info{};  // struct_size unused

  const ProgramRecord& program() const { return *plan->record; }
  const ValueRecord& value(uint32_t v) const { return model->blob.values[program().first_value + v]; }
};

struct SessionArenas {
  Arena fixed, state, scratch;
};

// options.cc
Status CheckSessionOptions(const Model& model, const fovea_session_options& options, Reporter& reporter);

// limits.cc
// Computes the limits of all spaces of a program.
Status ResolveLimits(const Model& model, const ProgramRecord& program, const fovea_session_options& options,
                     Reporter& reporter, SpaceState* spaces);
// The most rows at offset, offset + stride, ... of each segment, over all segments: exact.
uint64_t MostStridedRows(const SpaceState& space, uint64_t stride, uint64_t offset);

// place.cc
// Computes sizes and places the session in one function. `options` has passed CheckSessionOptions; when placing,
// *session is in arenas.fixed.
Status PlaceSession(const Model& model, const ProgramPlan* plans, const fovea_session_options& options,
                    SessionArenas& arenas, Reporter& reporter, Session** session);

// The tiles of an operation of unit kHeads.
inline HeadTiles HeadsOf(const Op& op, uint32_t workers) { return {op.heads, workers}; }

// taps.cc
Status CheckTaps(const Model& model, const fovea_session_options& options, Reporter& reporter);
Status PlaceTaps(const fovea_session_options& options, Session& session, SessionArenas& arenas, Reporter& reporter);
// Places one worker's staged rows, enough for any tap.
void PlaceStaged(const Session& session, const fovea_session_options& options, Arena& scratch, Worker* worker);
// Chooses the tapped rows of the bound segments.
void ChooseTapRows(Session& session, Tap* tap);
// The sink for weights that a worker computes.
WeightSink SinkOf(const Tap& tap, const Worker& worker);

// sparse.cc
// Counts the entries that a sparse tap recorded. A line of its matrix over the key space is one row and head.
uint64_t CountEntries(const Tap& tap);
void WriteSparse(const Session& session, const Tap& tap, const fovea_sparse_map& arrays);

// carry.cc
// The carried value whose input or output this value is, or null.
const Carried* FindCarried(const Session& session, uint32_t value);
// Points the values to the buffers that the next run reads and writes.
void UseCarried(Session& session);
// Sets carried values to zero, in one space or (kBlobNone) in all.
void ClearCarried(Session& session, uint32_t space);
// Call it after a finished run: swaps the buffers.
void PassOnCarried(Session& session);
// Moves row from[i] to row i, for all `count` bound rows.
void ReorderCarried(Session& session, const uint32_t* from, uint32_t count);
// Row 0 of an output or kept value of the last run; for a carried input, of the rows that the run read.
uint8_t* FinishedRows(const Session& session, uint32_t value);
// ForgetCarried sets carried inputs to zero; ResetSession also empties all texts.
Status ForgetCarried(Session& session, Reporter& reporter);
Status ResetSession(Session& session, Reporter& reporter);
Status SavedSize(const Session& session, uint64_t* size, Reporter& reporter);
Status SaveCarried(const Session& session, void* memory, uint64_t size, Reporter& reporter);
Status RestoreCarried(Session& session, const void* memory, uint64_t size, Reporter& reporter);

// link.cc
// Whether the value is an output or kept.
bool IsReadable(const Session& session, uint32_t value);
Status LinkInput(Session& session, uint32_t input, const Session& from, uint32_t output, Reporter& reporter);
// Points linked inputs to the memory of the other sessions.
Status FollowLinks(Session& session, Reporter& reporter);
// Checks that the other sessions have neither run nor been bound since.
Status CheckLinks(const Session& session, Reporter& reporter);

// bind.cc
// Lengths of `count` segments, in any representation.
struct SegmentLengths {
  uint64_t (*at)(const void* from, uint32_t i);
  const void* from;
  uint32_t count;
};
Status CheckSegments(const Session& session, uint32_t space, const SegmentLengths& lengths, Reporter& reporter);
Status SetSegments(Session& session, uint32_t space, const SegmentLengths& lengths, Reporter& reporter);
// Checks that rows of all spaces agree and ids are in range.
Status CheckBound(Session& session, Reporter& reporter);
// Unbinds selected spaces and spaces derived from them. Their rows are known only within a run, after an operation has
// filled the selected space's offsets.
void ForgetSelected(Session& session);
void BindSelected(Session& session, uint32_t space);
// Binds cached spaces for the run that begins.
void BindCached(Session& session);

// run.cc
// Refuses calls that would change the input of a run in progress.
Status CheckIdle(const Session& session, Reporter& reporter);
Status BeginRun(Session& session, Reporter& reporter);
Status AdvanceRun(Session& session, uint32_t phases, uint32_t* left, Reporter& reporter);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_SESSION_SESSION_H_
