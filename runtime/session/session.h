// A plan in the caller's memory: limits resolved, every address known, ready to bind rows and run.
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

namespace fovea {

// Limits of a space, and its rows as bound.
struct SpaceState : SpaceLimits {
  bool used = false;      // by the program
  bool selected = false;  // a run selects its rows, or some that it follows from
  bool bound = false;
  uint32_t cached_rows = 0;     // of a cached space: of all texts
  uint32_t* offsets = nullptr;  // [max_segments + 1]
};

// Where a value of a phase with few rows lies, if workers share its steps.
enum class FewRows : uint32_t {
  kSession,      // in the session's memory
  kShared,       // in the first worker's slots, for all
  kOwn,          // in each worker's slots
  kOwnButFirst,  // the first one's: in the session's memory
};

// Where a step finds a value: in the session's memory, or in the worker's tile, which begins with the tile's first row.
struct Operand {
  uint32_t value;        // in Session::values, null there for values that exist per tile
  uint32_t row_bytes;    // from the row that a tile begins with to the next; 0: all tiles begin at row 0
  uint64_t tile_offset;  // from Worker::tile_slots
  FewRows few = FewRows::kSession;
  uint64_t few_offset = 0;  // from the slots that `few` names
};

// An operation as this session runs it: what limits and workers decide, resolved once.
struct Step {
  const Op* op;
  const Operand* inputs;  // [op->input_count]
  Operand output;
  const StepShare* share;
  uint32_t operation;        // of the program
  uint32_t tap = kBlobNone;  // in Session::taps
  uint32_t tile_units;       // the most rows of its tile, or segments: what its scratch is for
  uint32_t* offsets;         // if it chooses rows: those of its output's space
  const void* placed;        // what OpDef::place made, or null
};

struct Worker {
  uint8_t* tile_slots;  // of a tile or, where rows are few, the worker's own; the first has those that all share, too
  void* scratch;
  const void** inputs;  // of the step in work
  QuantizedTile quantized;
  void** gemm_ops;       // [Model::gemm_op_count], null where the program has none
  uint64_t* ticks;       // [operations], or null
  float* staged_values;  // for taps
  uint32_t* staged_keys;
};

// Attention weights that are kept. The sink's rows (and starts) are those of the run in progress.
struct Tap {
  fovea_tap asked;
  WeightSink sink;       // without a worker's staged rows
  uint32_t* rows;        // [most rows] tapped query rows
  uint64_t* starts;      // sparse: [most rows + 1]
  uint64_t most, inner;  // sparse: room for entries of a row on an edge of the pattern, and of another one
};

// An input that a run reads as the last run wrote an output, in the state block: they change places after each run.
struct Carried {
  uint32_t input, output;
  uint8_t *read, *write;
};

// An input that lies in another session.
struct Link {
  bool linked = false;  // named in options.linked: has no memory here
  const Session* from = nullptr;
  uint32_t output = 0;
  uint32_t changes = 0;  // of `from` when the run in progress began
};

// How a phase is run in this run.
struct PhaseRun {
  Tiles tiles[kMaxSegmentSteps];  // by rows and heads: the first
  uint32_t workers = 1;           // that have something to do
  bool few = false;               // all work on all rows, stage by stage
  bool together = false;          // by segments: all work on all of them, step by step
};

// Phases, and where rows are few their stages, are what workers do before they have to wait for each other.
struct RunPlace {
  uint32_t phase;
  uint32_t step;  // position in running order
};

// Why a run ends before its end: bits of Session::stop.
enum : uint32_t {
  kCancelAsked = 1,  // by the caller, for the run in progress or the next one
  kStopping = 2,     // a worker has seen it, or a step failed: what is left is passed over
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
  SpaceRows space_rows[kMaxSpaces];  // what operations see
  uint8_t** values = nullptr;        // [values] row 0; null for values that exist per tile
  Step* steps = nullptr;             // [operations], in the plan's order
  uint32_t few_rows = 0;             // the most rows that workers can share
  Tap* taps = nullptr;
  uint32_t tap_count = 0;
  bool* kept = nullptr;  // [values]
  Carried* carried = nullptr;
  uint32_t carried_count = 0;
  Link* links = nullptr;  // [inputs]
  Cache cache;
  Worker* workers = nullptr;

  // The run in progress.
  RunPlace next{};
  bool running = false, finished = false;
  bool advancing = false;  // the caller's functions may call the library
  uint32_t changes = 0;    // runs and segments so far, for sessions that are linked to this one
  // Of the phase at hand and the next, which take turns: one is made ready before the other ends.
  PhaseRun phase_runs[2];
  WorkerCalls calls;
  Meeting meeting;
  std::atomic<uint32_t> stop{0};
  std::atomic<fovea_status> failure{FOVEA_OK};
  std::atomic<uint32_t> failed_step{0};

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
// Limits of all spaces of a program.
Status ResolveLimits(const Model& model, const ProgramRecord& program, const fovea_session_options& options,
                     Reporter& reporter, SpaceState* spaces);
// The most rows that offset, offset + stride, ... of each segment can be in all: exact.
uint64_t MostStridedRows(const SpaceState& space, uint64_t stride, uint64_t offset);

// place.cc
// Sizing and placing are this one function. `options` has passed CheckSessionOptions; *session lies in arenas.fixed
// when placing.
Status PlaceSession(const Model& model, const ProgramPlan* plans, const fovea_session_options& options,
                    SessionArenas& arenas, Reporter& reporter, Session** session);

// The tiles of an operation of unit kHeads.
inline HeadTiles HeadsOf(const Op& op, uint32_t workers) { return {op.heads, workers}; }

// taps.cc
Status CheckTaps(const Model& model, const fovea_session_options& options, Reporter& reporter);
Status PlaceTaps(const fovea_session_options& options, Session& session, SessionArenas& arenas, Reporter& reporter);
// Staged rows of one worker, enough for any tap.
void PlaceStaged(const Session& session, const fovea_session_options& options, Arena& scratch, Worker* worker);
// Which rows of the bound segments are tapped.
void ChooseTapRows(Session& session, Tap* tap);
// Where a worker sends weights.
WeightSink SinkOf(const Tap& tap, const Worker& worker);

// sparse.cc
// Rows and heads that a tap kept, each a line of a matrix over the key space, and how many entries they have.
uint64_t CountEntries(const Tap& tap);
void WriteSparse(const Session& session, const Tap& tap, const fovea_sparse_map& arrays);

// carry.cc
// The one that the value is an input or output of, or null.
const Carried* FindCarried(const Session& session, uint32_t value);
// Values lie where the next run reads and writes them.
void UseCarried(Session& session);
// Zeros, in one space or (kBlobNone) in all.
void ClearCarried(Session& session, uint32_t space);
// A run has finished.
void PassOnCarried(Session& session);
// Rows 0 to count - 1, all that are bound, become what rows from[0], from[1], .. were.
void ReorderCarried(Session& session, const uint32_t* from, uint32_t count);
// Row 0 of an output or kept value of the last run (of a carried input: what it read).
uint8_t* FinishedRows(const Session& session, uint32_t value);
// Carried inputs become zeros; so do, when a session is reset, all texts.
Status ForgetCarried(Session& session, Reporter& reporter);
Status ResetSession(Session& session, Reporter& reporter);
Status SavedSize(const Session& session, uint64_t* size, Reporter& reporter);
Status SaveCarried(const Session& session, void* memory, uint64_t size, Reporter& reporter);
Status RestoreCarried(Session& session, const void* memory, uint64_t size, Reporter& reporter);

// link.cc
// An output, or kept.
bool IsReadable(const Session& session, uint32_t value);
Status LinkInput(Session& session, uint32_t input, const Session& from, uint32_t output, Reporter& reporter);
// Linked inputs lie where the other sessions have them.
Status FollowLinks(Session& session, Reporter& reporter);
// The other sessions have neither run nor got other segments since.
Status CheckLinks(const Session& session, Reporter& reporter);

// bind.cc
// Rows of `count` segments, wherever they are written.
struct SegmentLengths {
  uint64_t (*at)(const void* from, uint32_t i);
  const void* from;
  uint32_t count;
};
Status CheckSegments(const Session& session, uint32_t space, const SegmentLengths& lengths, Reporter& reporter);
Status SetSegments(Session& session, uint32_t space, const SegmentLengths& lengths, Reporter& reporter);
// Rows of all spaces agree and ids are in range.
Status CheckBound(Session& session, Reporter& reporter);
// The rows of selected spaces, and of those that follow from them, are those of one run: unknown when it begins, bound
// when an operation has filled the selected space's offsets.
void ForgetSelected(Session& session);
void BindSelected(Session& session, uint32_t space);
// What cached spaces hold in the run that begins.
void BindCached(Session& session);

// run.cc
// For calls that would change what a run depends on.
Status CheckIdle(const Session& session, Reporter& reporter);
Status BeginRun(Session& session, Reporter& reporter);
Status AdvanceRun(Session& session, uint32_t phases, uint32_t* left, Reporter& reporter);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_SESSION_SESSION_H_
