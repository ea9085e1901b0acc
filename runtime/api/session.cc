// Implements fovea/session.h.
#include "runtime/api/handles.h"
#include "runtime/attention/count.h"
#include "runtime/model/find.h"

namespace fovea {
namespace {

// Converts options.rows and options.texts to limits; `limits` has room for kMaxSpaces.
void SpellOutLimits(const Blob& blob, fovea_session_options* options, fovea_limit* limits) {
  const auto clamped = [](uint64_t rows) { return rows < UINT32_MAX ? static_cast<uint32_t>(rows) : UINT32_MAX; };
  const uint32_t rows = clamped(options->rows), texts = clamped(options->texts);
  uint32_t count = 0;
  for (; count < options->limit_count; ++count) limits[count] = options->limits[count];
  for (uint32_t space = 0; space < blob.spaces.count; ++space) {
    const SpaceRecord& record = blob.spaces[space];
    if (record.kind != SpaceKind::kInput && record.kind != SpaceKind::kCached) continue;
    const uint32_t most = record.kind == SpaceKind::kInput && record.parent == kBlobNone ? texts : rows;
    bool given = most == 0;
    for (uint32_t i = 0; i < options->limit_count; ++i) given = given || limits[i].space == space;
    if (!given) limits[count++] = {space, most, 0};
  }
  options->limits = limits;
  options->limit_count = count;
}

// Shared by size and init, so that both compute the same. The handle is at the start of the fixed block.
Status Place(const fovea_model* model, const fovea_session_options* given, SessionArenas& arenas, Reporter& reporter,
             fovea_session** handle) {
  if (!IsLive(model)) return reporter.Fail(FOVEA_E_HANDLE, "invalid model handle");
  fovea_session_options options;
  FOVEA_TRY(ReadStruct(given, &options, reporter));
  FOVEA_TRY(CheckSessionOptions(model->model, options, reporter));  // so no space has two limits
  fovea_limit limits[kMaxSpaces];
  if (options.rows != 0 || options.texts != 0) SpellOutLimits(model->model.blob, &options, limits);
  *handle = arenas.fixed.Take<fovea_session>(1);
  Session* session = nullptr;
  FOVEA_TRY(PlaceSession(model->model, model->plans, options, arenas, reporter, &session));
  if (*handle != nullptr) (*handle)->session = session;
  return kOk;
}

Status Measure(const fovea_model* model, const fovea_session_options* options, fovea_session_memory* sizes,
               Reporter& reporter) {
  SessionArenas counting;
  fovea_session* handle;
  FOVEA_TRY(Place(model, options, counting, reporter, &handle));
  sizes->fixed_size = counting.fixed.needed();
  sizes->state_size = counting.state.needed();
  sizes->scratch_size = counting.scratch.needed();
  const uint64_t all[] = {sizes->fixed_size, sizes->state_size, sizes->scratch_size};
  for (const uint64_t size : all) {
    if (size >= SIZE_MAX)
      return reporter.Fail(FOVEA_E_OPTION, "limits need more than the address space", SIZE_MAX, size);
  }
  return kOk;
}

Status CheckBlock(uint32_t block, const void* memory, uint64_t needed, uint64_t size, Reporter& reporter) {
  reporter.section = block;
  if (size < needed) return reporter.Fail(FOVEA_E_TOO_SMALL, "a block of session memory is too small", needed, size);
  if (needed == 0) return kOk;
  if (memory == nullptr) return reporter.Fail(FOVEA_E_NULL, "a block of session memory is NULL", needed, size);
  return CheckAligned(memory, reporter);
}

// Refuses overlapping blocks: the caller's memory function may return the same memory twice. All fit the address space.
Status CheckApart(const fovea_session_memory& needed, const fovea_session_memory& memory, Reporter& reporter) {
  const uint64_t sizes[] = {needed.fixed_size, needed.state_size, needed.scratch_size};
  const void* const blocks[] = {memory.fixed, memory.state, memory.scratch};
  for (uint32_t i = 0; i < 3; ++i) {
    for (uint32_t k = 0; k < i; ++k) {
      const auto a = reinterpret_cast<uintptr_t>(blocks[i]), b = reinterpret_cast<uintptr_t>(blocks[k]);
      if (sizes[i] == 0 || sizes[k] == 0 || (a < b ? b - a >= sizes[i] : a - b >= sizes[k])) continue;
      reporter.section = i;
      return reporter.Fail(FOVEA_E_OPTION, "two blocks of session memory overlap");
    }
  }
  return kOk;
}

Arena MakeArena(void* memory, uint64_t size, uint64_t needed) {
  // A block of size 0 may be NULL, which an arena takes for counting; nothing is taken from it.
  return needed == 0 ? Arena() : Arena(memory, static_cast<size_t>(size));
}

Status InitIn(const fovea_model* model, const fovea_session_options* options, const fovea_session_memory& needed,
              const fovea_session_memory& memory, fovea_session** session, Reporter& reporter) {
  FOVEA_TRY(CheckBlock(0, memory.fixed, needed.fixed_size, memory.fixed_size, reporter));
  FOVEA_TRY(CheckBlock(1, memory.state, needed.state_size, memory.state_size, reporter));
  FOVEA_TRY(CheckBlock(2, memory.scratch, needed.scratch_size, memory.scratch_size, reporter));
  FOVEA_TRY(CheckApart(needed, memory, reporter));
  reporter.section = FOVEA_NOWHERE;
  SessionArenas arenas{MakeArena(memory.fixed, memory.fixed_size, needed.fixed_size),
                       MakeArena(memory.state, memory.state_size, needed.state_size),
                       MakeArena(memory.scratch, memory.scratch_size, needed.scratch_size)};
  fovea_session* handle = nullptr;
  FOVEA_TRY(Place(model, options, arenas, reporter, &handle));
  if (!arenas.fixed.ok() || !arenas.state.ok() || !arenas.scratch.ok()) {
    return reporter.Fail(FOVEA_E_INTERNAL, "sizing and placing disagree", needed.fixed_size, arenas.fixed.needed());
  }
  handle->mark = fovea_session::kMark;
  *session = handle;
  return kOk;
}

Status Init(const fovea_model* model, const fovea_session_options* options, const fovea_session_memory* given,
            fovea_session** session, Reporter& reporter) {
  fovea_session_memory needed{}, memory;
  FOVEA_TRY(Measure(model, options, &needed, reporter));
  if (given == nullptr) return reporter.Fail(FOVEA_E_NULL, "memory is NULL");
  FOVEA_TRY(ReadStruct(given, &memory, reporter));
  return InitIn(model, options, needed, memory, session, reporter);
}

Status Make(const fovea_model* model, const fovea_session_options* options, fovea_memory memory, void* context,
            fovea_session** session, Reporter& reporter) {
  if (memory == nullptr) return reporter.Fail(FOVEA_E_NULL, "memory is NULL");
  fovea_session_memory needed{};
  FOVEA_TRY(Measure(model, options, &needed, reporter));
  const uint64_t sizes[] = {needed.fixed_size, needed.state_size, needed.scratch_size};
  void** blocks[] = {&needed.fixed, &needed.state, &needed.scratch};
  for (uint32_t i = 0; i < 3; ++i) {
    if (sizes[i] == 0) continue;
    *blocks[i] = memory(context, sizes[i], FOVEA_BLOCK_FIXED + i);
    if (*blocks[i] != nullptr) continue;
    reporter.section = i;
    return reporter.Fail(FOVEA_E_TOO_SMALL, "the memory function returned no memory for a block of the session",
                         sizes[i]);
  }
  return InitIn(model, options, needed, needed, session, reporter);
}

fovea_view ViewOf(const Session& session, uint32_t value, void* rows) {
  const ValueRecord& record = session.value(value);
  return {rows, record.type, session.space_rows[record.space].rows, record.width,
          session.plan->values[value].row_bytes};
}

Status CheckSession(const fovea_session* handle, Reporter& reporter) {
  return IsLive(handle) ? kOk : reporter.Fail(FOVEA_E_HANDLE, "invalid session handle");
}

Status InputView(const Session& session, uint32_t value, fovea_view* view, Reporter& reporter) {
  if (view == nullptr) return reporter.Fail(FOVEA_E_NULL, "view is NULL");
  if (value >= session.program().value_count || !IsInput(session.value(value).role)) {
    return reporter.Fail(FOVEA_E_INDEX, "the input does not exist in the program", session.program().value_count,
                         value);
  }
  if (session.links[value].linked) {
    return reporter.Fail(FOVEA_E_INDEX, "the input is linked: another session writes it", 0, value);
  }
  FOVEA_TRY(CheckIdle(session, reporter));
  if (!session.spaces[session.value(value).space].bound) {
    return reporter.Fail(FOVEA_E_ORDER, "the input's space has no segments yet: bind its segments first", 0,
                         session.value(value).space);
  }
  *view = ViewOf(session, value, session.values[value]);
  return kOk;
}

Status OutputView(const Session& session, uint32_t value, fovea_view* view, Reporter& reporter) {
  if (view == nullptr) return reporter.Fail(FOVEA_E_NULL, "view is NULL");
  if (!IsReadable(session, value)) {
    return reporter.Fail(FOVEA_E_INDEX, "the value is neither an output nor kept", session.program().value_count,
                         value);
  }
  if (!session.finished) return reporter.Fail(FOVEA_E_ORDER, "no run has finished since the segments were set");
  *view = ViewOf(session, value, FinishedRows(session, value));
  return kOk;
}

}  // namespace
}  // namespace fovea

using namespace fovea;  // NOLINT: this file is the border

extern "C" {

fovea_status fovea_session_size(const fovea_model* model, const fovea_session_options* options,
                                fovea_session_memory* sizes, fovea_error* error) {
  Reporter reporter(error);
  if (sizes == nullptr) return reporter.Fail(FOVEA_E_NULL, "sizes is NULL").code;
  fovea_session_memory measured;
  const Status read = ReadStruct(sizes, &measured, reporter);
  if (!read.ok()) return read.code;
  const Status status = Measure(model, options, &measured, reporter);
  return status.ok() ? WriteStruct(measured, sizes) : status.code;
}

fovea_status fovea_session_init(const fovea_model* model, const fovea_session_options* options,
                                const fovea_session_memory* memory, fovea_session** session, fovea_error* error) {
  Reporter reporter(error);
  if (session == nullptr) return reporter.Fail(FOVEA_E_NULL, "session is NULL").code;
  *session = nullptr;
  return Init(model, options, memory, session, reporter).code;
}

fovea_status fovea_session_make(const fovea_model* model, const fovea_session_options* options, fovea_memory memory,
                                void* memory_context, fovea_session** session, fovea_error* error) {
  Reporter reporter(error);
  if (session == nullptr) return reporter.Fail(FOVEA_E_NULL, "session is NULL").code;
  *session = nullptr;
  return Make(model, options, memory, memory_context, session, reporter).code;
}

fovea_status fovea_session_set_segments(fovea_session* session, uint32_t space, const uint32_t* lengths, uint32_t count,
                                        fovea_error* error) {
  Reporter reporter(error);
  const Status live = CheckSession(session, reporter);
  if (!live.ok()) return live.code;
  if (lengths == nullptr && count != 0) return reporter.Fail(FOVEA_E_NULL, "lengths is NULL").code;
  const auto at = [](const void* from, uint32_t i) -> uint64_t { return static_cast<const uint32_t*>(from)[i]; };
  return SetSegments(*session->session, space, {at, lengths, count}, reporter).code;
}

fovea_status fovea_session_get_input(fovea_session* session, uint32_t value, fovea_view* view, fovea_error* error) {
  Reporter reporter(error);
  const Status live = CheckSession(session, reporter);
  return live.ok() ? InputView(*session->session, value, view, reporter).code : live.code;
}

fovea_status fovea_session_link(fovea_session* session, uint32_t input, const fovea_session* from, uint32_t output,
                                fovea_error* error) {
  Reporter reporter(error);
  Status live = CheckSession(session, reporter);
  if (live.ok()) live = CheckSession(from, reporter);
  return live.ok() ? LinkInput(*session->session, input, *from->session, output, reporter).code : live.code;
}

fovea_status fovea_session_reset(fovea_session* session, fovea_error* error) {
  Reporter reporter(error);
  const Status live = CheckSession(session, reporter);
  return live.ok() ? ResetSession(*session->session, reporter).code : live.code;
}

fovea_status fovea_session_saved_size(const fovea_session* session, uint64_t* size, fovea_error* error) {
  Reporter reporter(error);
  const Status live = CheckSession(session, reporter);
  if (!live.ok()) return live.code;
  if (size == nullptr) return reporter.Fail(FOVEA_E_NULL, "size is NULL").code;
  return SavedSize(*session->session, size, reporter).code;
}

fovea_status fovea_session_save(const fovea_session* session, void* memory, uint64_t size, fovea_error* error) {
  Reporter reporter(error);
  const Status live = CheckSession(session, reporter);
  if (!live.ok()) return live.code;
  if (memory == nullptr) return reporter.Fail(FOVEA_E_NULL, "memory is NULL").code;
  return SaveCarried(*session->session, memory, size, reporter).code;
}

fovea_status fovea_session_restore(fovea_session* session, const void* memory, uint64_t size, fovea_error* error) {
  Reporter reporter(error);
  const Status live = CheckSession(session, reporter);
  if (!live.ok()) return live.code;
  if (memory == nullptr) return reporter.Fail(FOVEA_E_NULL, "memory is NULL").code;
  return RestoreCarried(*session->session, memory, size, reporter).code;
}

fovea_status fovea_session_begin(fovea_session* session, fovea_error* error) {
  Reporter reporter(error);
  const Status live = CheckSession(session, reporter);
  return live.ok() ? BeginRun(*session->session, reporter).code : live.code;
}

fovea_status fovea_session_advance(fovea_session* session, uint32_t phases, uint32_t* left, fovea_error* error) {
  Reporter reporter(error);
  const Status live = CheckSession(session, reporter);
  if (!live.ok()) return live.code;
  if (left == nullptr) return reporter.Fail(FOVEA_E_NULL, "left is NULL").code;
  return AdvanceRun(*session->session, phases, left, reporter).code;
}

fovea_status fovea_session_advance_for(fovea_session* session, uint64_t ticks, uint32_t* left, fovea_error* error) {
  Reporter reporter(error);
  const Status live = CheckSession(session, reporter);
  if (!live.ok()) return live.code;
  uint64_t (*const clock)() = session->session->clock;
  if (clock == nullptr) return reporter.Fail(FOVEA_E_OPTION, "a budget of time needs options.clock").code;
  const uint64_t start = clock();
  fovea_status status;
  do status = fovea_session_advance(session, 1, left, error);
  while (status == FOVEA_OK && *left != 0 && clock() - start < ticks);
  return status;
}

fovea_status fovea_session_run(fovea_session* session, fovea_error* error) {
  const fovea_status begun = fovea_session_begin(session, error);
  uint32_t left = 0;
  return begun != FOVEA_OK ? begun : fovea_session_advance(session, UINT32_MAX, &left, error);
}

void fovea_session_cancel(fovea_session* session) {
  if (IsLive(session)) session->session->stop.fetch_or(kCancelAsked, std::memory_order_relaxed);
}

void fovea_session_clear_cancel(fovea_session* session) {
  if (IsLive(session)) session->session->stop.fetch_and(~uint32_t{kCancelAsked}, std::memory_order_relaxed);
}

fovea_status fovea_session_get_output(const fovea_session* session, uint32_t value, fovea_view* view,
                                      fovea_error* error) {
  Reporter reporter(error);
  const Status live = CheckSession(session, reporter);
  return live.ok() ? OutputView(*session->session, value, view, reporter).code : live.code;
}

fovea_status fovea_session_find_output(const fovea_session* session, const char* name, fovea_view* view,
                                       fovea_error* error) {
  Reporter reporter(error);
  const Status live = CheckSession(session, reporter);
  if (!live.ok()) return live.code;
  if (name == nullptr) return reporter.Fail(FOVEA_E_NULL, "name is NULL").code;
  const uint32_t value = FindValue(*session->session->model, session->session->program(), name);
  if (value == kBlobNone) return reporter.Fail(FOVEA_E_NAME, "the program has no value of that name").code;
  return OutputView(*session->session, value, view, reporter).code;
}

fovea_status fovea_session_get_segments(const fovea_session* session, uint32_t space, const uint32_t** offsets,
                                        uint32_t* count, fovea_error* error) {
  Reporter reporter(error);
  const Status live = CheckSession(session, reporter);
  if (!live.ok()) return live.code;
  if (offsets == nullptr || count == nullptr) return reporter.Fail(FOVEA_E_NULL, "offsets or count is NULL").code;
  const Session& s = *session->session;
  const uint32_t spaces = s.model->blob.spaces.count;
  if (space >= spaces || !s.spaces[space].used) {
    return reporter.Fail(FOVEA_E_INDEX, "the space does not exist in the program", spaces, space).code;
  }
  if (!s.spaces[space].bound) return reporter.Fail(FOVEA_E_ORDER, "the space has no segments yet", 0, space).code;
  *offsets = s.space_rows[space].segments.offsets;
  *count = s.space_rows[space].segments.count;
  return FOVEA_OK;
}

fovea_status fovea_session_get_step_ticks(const fovea_session* session, uint32_t step, uint64_t* ticks) {
  if (!IsLive(session)) return FOVEA_E_HANDLE;
  if (ticks == nullptr) return FOVEA_E_NULL;
  const Session& s = *session->session;
  if (step >= s.program().operation_count) return FOVEA_E_INDEX;
  *ticks = 0;
  for (uint32_t w = 0; w < s.worker_count && s.clock != nullptr; ++w) *ticks += s.workers[w].ticks[step];
  return FOVEA_OK;
}

fovea_status fovea_session_get_step_pairs(const fovea_session* session, uint32_t step, uint64_t* pairs) {
  if (!IsLive(session)) return FOVEA_E_HANDLE;
  if (pairs == nullptr) return FOVEA_E_NULL;
  const Session& s = *session->session;
  if (step >= s.program().operation_count) return FOVEA_E_INDEX;
  const AttentionOp* op = AsAttention(s.model->Operation(s.program(), step));
  uint64_t all = 0;
  if (op != nullptr) {
    const AttentionSpec& spec = op->spec;
    const uint32_t listed = op->global_keys;
    const uint32_t read[] = {0, 1, listed == kBlobNone ? 1 : listed};
    for (const uint32_t i : read) {
      if (!s.spaces[op->inputs[i].space].bound) return FOVEA_E_ORDER;
    }
    for (uint32_t i = 0; i < op->levels; ++i) {
      if (!s.spaces[op->above[i]].bound) return FOVEA_E_ORDER;
    }
    const auto segments = [&](uint32_t i) { return s.space_rows[op->inputs[i].space].segments; };
    const Segments keys = segments(1);
    // Paired spaces are bound one by one, and only a run compares them.
    if (spec.pairing == Pairing::kPaired && op->levels == 0 && segments(0).count != keys.count) return FOVEA_E_SEGMENTS;
    if (listed != kBlobNone && segments(listed).count != keys.count) return FOVEA_E_SEGMENTS;
    const bool of_parent = spec.pairing == Pairing::kParent;
    for (uint32_t i = 0; i < (of_parent ? keys.count : segments(0).count); ++i) {
      const uint32_t queries = of_parent ? 1 : segments(0).length(i), of_keys = op->KeySegmentOf(s.space_rows, i);
      const bool at_end = spec.positions.origin == Origin::kEnd && keys.length(of_keys) > queries;
      const uint32_t start = at_end ? keys.length(of_keys) - queries : 0;
      const uint32_t count = listed == kBlobNone ? 0 : segments(listed).length(of_keys);
      all += VisiblePairs(spec, {queries, keys.length(of_keys), nullptr, count, 0, start});
    }
  }
  *pairs = all;
  return FOVEA_OK;
}

fovea_status fovea_session_get_info(const fovea_session* session, fovea_session_info* info) {
  if (!IsLive(session)) return FOVEA_E_HANDLE;
  return WriteStruct(session->session->info, info);
}

}  // extern "C"
