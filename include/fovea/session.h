/* fovea/session.h - running a program of a model in memory of the caller.
 *
 * A session is one program of a model with limits (how many rows at most), placed in three blocks of memory:
 *   fixed    plan and operators; must not move
 *   state    what a session remembers from run to run: carried values, and cached texts (fovea/cache.h); may be empty
 *   scratch  inputs, outputs and working memory; sessions that are never used at the same time may share one block:
 *            then one session's inputs and outputs last only until another one of them is touched
 *
 * After fovea_session_init nothing is allocated, locked or looked up again. One session is used by one thread at a time
 * (its workers aside); different sessions are independent.
 *
 *   fovea_session_size -> memory -> fovea_session_init
 *   loop: fovea_session_set_segments, write the inputs, fovea_session_run, read the outputs
 */
#ifndef FOVEA_SESSION_H_
#define FOVEA_SESSION_H_

#include "fovea/model.h"
#include "fovea/runner.h"
#include "fovea/tap.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fovea_session fovea_session;

/* The most rows that will ever be bound at a time in one input space; of a cached space (fovea_space_info.is_cached)
 * those that all texts have together, and `segment_rows` the longest text. This struct never changes. */
typedef struct fovea_limit {
  uint32_t space;
  uint32_t rows;         /* In all segments together, at least 1. */
  uint32_t segment_rows; /* In one segment; 0: as many as `rows` and the model's positions allow. */
} fovea_limit;

/* Options of a session. Zero fields mean the default; set struct_size to sizeof(fovea_session_options). Arrays are read
 * during the call only. Spaces without a limit: 1 row if they have no parent; `rows` if they have, or FOVEA_E_OPTION if
 * the program needs them. */
typedef struct fovea_session_options {
  size_t struct_size;
  uint32_t program;
  uint32_t workers;   /* 0: 1. At most 64. */
  uint32_t tile_rows; /* Rows carried through a phase at a time; 0: up to 128, less for wide models. At most 1024. */
  uint32_t limit_count;
  const fovea_limit* limits;
  uint32_t keep_count;
  uint32_t tap_count;
  const uint32_t* keep;  /* Values to keep readable after a run, besides the outputs: each gets memory of its own. */
  const fovea_tap* taps; /* Attention weights to keep, see fovea/tap.h; all with the same struct_size. */
  fovea_runner runner;   /* NULL: workers are called one after the other. */
  void* runner_context;
  fovea_barrier barrier;   /* Beside a runner whose tasks run at the same time; NULL: it is called per stage. */
  uint64_t (*clock)(void); /* If given, ticks are summed per step (fovea_session_get_step_ticks). Called by workers. */
  uint64_t rows;          /* The limit of every input or cached space with a parent that is not in `limits`; 0: none. */
  const uint32_t* linked; /* Inputs that fovea_session_link will give: they have no memory of their own. */
  uint32_t linked_count;
  /* Of programs that keep texts, see fovea/cache.h. */
  uint32_t cached_texts;      /* How many; 0: as many as there can be segments in a run. At most 2^20. */
  uint32_t rewind_rows;       /* So many of a text's last rows can be taken back where a window drops others. */
  const uint32_t* cache_type; /* Rows are kept as this FOVEA_TYPE_F32, F16, BF16 or I8; NULL: as the program says. */
} fovea_session_options;

/* Three blocks, each with an alignment of 64 bytes. A size of 0 needs no memory. Set struct_size. */
typedef struct fovea_session_memory {
  size_t struct_size;
  uint64_t fixed_size, state_size, scratch_size;
  void *fixed, *state, *scratch;
} fovea_session_memory;

/* Fills the three sizes with the exact bytes needed: they succeed, one byte less fails. They depend on the model, the
 * options and the library's version, not on the machine. Statuses: FOVEA_E_NULL, FOVEA_E_STRUCT_SIZE, FOVEA_E_INDEX,
 * FOVEA_E_OPTION. Any thread. */
FOVEA_API fovea_status fovea_session_size(const fovea_model* model, const fovea_session_options* options,
                                          fovea_session_memory* sizes, fovea_error* error);

/* Places a session. FOVEA_E_TOO_SMALL (section: 0 fixed, 1 state, 2 scratch; expected: the exact need),
 * FOVEA_E_MISALIGNED, FOVEA_E_OPTION if blocks overlap, and what fovea_session_size returns; then *session is NULL. The
 * handle points into the fixed block. */
FOVEA_API fovea_status fovea_session_init(const fovea_model* model, const fovea_session_options* options,
                                          const fovea_session_memory* memory, fovea_session** session,
                                          fovea_error* error);

/* fovea_session_size and fovea_session_init in one call: `memory` is called once for each of the three blocks that is
 * not empty, in their order. The same statuses. */
FOVEA_API fovea_status fovea_session_make(const fovea_model* model, const fovea_session_options* options,
                                          fovea_memory memory, void* memory_context, fovea_session** session,
                                          fovea_error* error);

/* Spaces of which fovea_space_info.is_input is 0 need no limit and no segments of the caller. Their rows are those of
 * another space with some put in front, or one for every s rows of a segment but for its ends; or a fixed number for
 * each row of their parent: where a program has no other inputs, how many rows the parent has is all there is to say
 * (one length for a parent without parent). All these are known when the spaces they follow from are set. The rows of a
 * selected space are chosen during a run, so nothing is known of them before it.
 *
 * Says how the rows of an input space fall into segments: `lengths[i]` rows for row i of its parent, which thereby gets
 * `count` rows (and must get the same from every child). A space without parent takes one length. Empty segments are
 * allowed; pooling one gives zeros. Until called again the segments stay. A call that fails changes nothing:
 * FOVEA_E_ORDER while a run is in progress (see fovea_session_begin); FOVEA_E_ROWS, FOVEA_E_SEGMENTS; FOVEA_E_LENGTH,
 * where index is that of the length that is too long, or `count` if the parent's one segment of `count` rows, which
 * follows from the call, is (expected: the longest that is possible, found: what it would be). */
FOVEA_API fovea_status fovea_session_set_segments(fovea_session* session, uint32_t space, const uint32_t* lengths,
                                                  uint32_t count, fovea_error* error);

/* A matrix in the session's memory: row r starts at (char*)data + r * row_bytes. Rows of FOVEA_TYPE_I8 begin with f32
 * scales, one for each of (row_bytes - width) / 4 (rounded down) equal parts of the `width` integers after them:
 * element = integer * scale of its part. This struct never changes. */
typedef struct fovea_view {
  void* data;
  uint32_t type; /* FOVEA_TYPE_F32 or FOVEA_TYPE_I32; F16, BF16 or I8 only where the program casts */
  uint32_t rows;
  uint32_t width;
  uint32_t row_bytes;
} fovea_view;

/* Where to write an input of the next run: as many rows as its space now has, dense. Valid until set_segments is called
 * again. Content stays from run to run. FOVEA_E_INDEX if the value is no input or a linked one, FOVEA_E_ORDER before
 * set_segments and while a run is in progress.
 *
 * A carried input (fovea_value_info.carried_by) is what the last finished run wrote to the output that carries it: the
 * same memory, so that the view of such an input moves with each run, and writing it changes what that output's view
 * shows. It begins as zeros, and may be written before any run. A run that fails or is cancelled leaves it as it was.
 * Setting segments keeps it if its space keeps its number of rows, row by row whatever the segments are, and makes it
 * zeros if not. */
FOVEA_API fovea_status fovea_session_get_input(fovea_session* session, uint32_t value, fovea_view* view,
                                               fovea_error* error);

/* Makes `input` what `output` of the last run of `from` is: an output or kept value of another session of the same
 * model, of the same width and type. An input that options.linked names is read where it lies, without a copy, in this
 * and all later runs, so
 *   - `from` must live, and its scratch be its own, as long as this session runs;
 *   - while this session runs (begin to the last advance) `from` must neither run nor get other segments: if it has,
 *     fovea_session_advance returns FOVEA_E_ORDER and the run is over;
 *   - when `from` has run again the new rows are read. If it got other segments in between, link again.
 * A carried input takes a copy as its first value: nothing is linked afterwards, and names are not needed.
 * The input's space takes over the segments of the output's (and, being the same space, those of the spaces it lies in
 * or follows from), unless it has them already; what fovea_session_set_segments says about that holds. If they belong
 * to another space than the input's, that one must be an input space or have the same segments already. Statuses:
 * FOVEA_E_HANDLE; FOVEA_E_OPTION (one session, two models, other widths or types, an input that is neither named nor
 * carried); FOVEA_E_INDEX; FOVEA_E_ORDER (`from` has no finished run, a run of this session is in progress);
 * FOVEA_E_SEGMENTS and others of fovea_session_set_segments. A run of this session later returns FOVEA_E_ORDER if an
 * input that is named was not linked or `from` has no finished run, FOVEA_E_SEGMENTS if segments differ (tensor: the
 * input). */
FOVEA_API fovea_status fovea_session_link(fovea_session* session, uint32_t input, const fovea_session* from,
                                          uint32_t output, fovea_error* error);

/* Makes all carried inputs zeros and all cached texts empty, as they were after init. FOVEA_E_ORDER while a run is in
 * progress. */
FOVEA_API fovea_status fovea_session_reset(fovea_session* session, fovea_error* error);

/* Carried inputs as bytes: to go on later, in another place, or twice from one point (save one session, restore
 * another). The bytes are the rows that are bound now, after a header with the blob's checksum and the program: limits,
 * workers and machine do not matter. Restoring checks all of it and needs the same number of rows bound; then runs go
 * on with the same bits. Memory needs no alignment. FOVEA_E_ORDER while a run is in progress or before segments are
 * set; FOVEA_E_TOO_SMALL (expected: the exact bytes); FOVEA_E_STATE. A failed call changes nothing. Outputs of a
 * session that was reset or restored can be read again after its next run. */
FOVEA_API fovea_status fovea_session_saved_size(const fovea_session* session, uint64_t* size, fovea_error* error);
FOVEA_API fovea_status fovea_session_save(const fovea_session* session, void* memory, uint64_t size,
                                          fovea_error* error);
FOVEA_API fovea_status fovea_session_restore(fovea_session* session, const void* memory, uint64_t size,
                                             fovea_error* error);

/* Runs the whole program. FOVEA_E_ORDER if an input space has no segments or a run is in progress, FOVEA_E_SEGMENTS if
 * spaces disagree, FOVEA_E_ID if an id is out of range (tensor: the value, index: its index), FOVEA_E_ROWS if more rows
 * of a segment qualify than a selected space takes (step: which operation), FOVEA_E_RUNNER if the caller's runner or
 * barrier does not do what fovea/runner.h asks, FOVEA_E_CANCELLED. After a failure outputs are unspecified, carried
 * values and cached texts are as they were, and the session is ready for another run. */
FOVEA_API fovea_status fovea_session_run(fovea_session* session, fovea_error* error);

/* The same in pieces, for hosts that must do other work in between: begin checks the inputs, advance runs up to
 * `phases` phases and sets *left to the number still to do. advance returns FOVEA_E_ORDER without begin.
 *
 * A run is in progress from begin until *left is 0 or advance fails. Until then inputs must not change, and calls that
 * would change what the run depends on return FOVEA_E_ORDER and change nothing: begin and run, set_segments, input,
 * link, reset, save and restore, fovea_text_bind, fovea_cache_.., fovea_generate_start and fovea_generate_next. To
 * give up a run: fovea_session_cancel, then advance. */
FOVEA_API fovea_status fovea_session_begin(fovea_session* session, fovea_error* error);
FOVEA_API fovea_status fovea_session_advance(fovea_session* session, uint32_t phases, uint32_t* left,
                                             fovea_error* error);

/* Cancels the run in progress at its next tile, or the next run if there is none: a request that comes just before the
 * run, or between two steps of a generation, is not lost. It stays until fovea_session_advance, fovea_session_run or
 * fovea_generate_next has returned FOVEA_E_CANCELLED for it, or until it is cleared. Any thread, interrupts. */
FOVEA_API void fovea_session_cancel(fovea_session* session);

/* Clears a request to cancel that no run has obeyed. Call it between runs where a request may have come too late: after
 * the work that it was meant for, before other work. */
FOVEA_API void fovea_session_clear_cancel(fovea_session* session);

/* An output, or a kept value, of the last run. Valid until the next run. FOVEA_E_INDEX for others, FOVEA_E_ORDER before
 * a run. */
FOVEA_API fovea_status fovea_session_get_output(const fovea_session* session, uint32_t value, fovea_view* view,
                                                fovea_error* error);

/* The same by its name in the session's program; FOVEA_E_NAME if there is none of that name. */
FOVEA_API fovea_status fovea_session_find_output(const fovea_session* session, const char* name, fovea_view* view,
                                                 fovea_error* error);

/* How the rows of a space (derived ones too) fall into segments: offsets[count + 1], the session's own memory.
 * FOVEA_E_ORDER before the spaces it follows from are set, for a selected space before the run has chosen its rows;
 * each run chooses anew. */
FOVEA_API fovea_status fovea_session_get_segments(const fovea_session* session, uint32_t space,
                                                  const uint32_t** offsets, uint32_t* count, fovea_error* error);

/* Ticks of options.clock spent in a step, summed over workers and runs since init; 0 without a clock. */
FOVEA_API fovea_status fovea_session_get_step_ticks(const fovea_session* session, uint32_t step, uint64_t* ticks);

/* Pairs of a query and a key whose score step `step` makes, of all heads together, in the segments as they are bound:
 * what its time follows. 0 for other steps than attention. Exact where the pattern alone decides (windows, dilation,
 * edges, blocks; a key counts once however often its block is named, and again where something else shows it; of top_k
 * all that it chooses from), else at most so many: listed rows as if none lay in the window, windows around centers as
 * if none passed the ends, chunks with every key in each round and chunk that shows it, keys after a causal query
 * among them. FOVEA_E_ORDER before the spaces of the step have segments: rows that a run selects, and those that are
 * listed, are those of the last run. Takes time that grows with the queries (and heads, where they see different keys).
 */
FOVEA_API fovea_status fovea_session_get_step_pairs(const fovea_session* session, uint32_t step, uint64_t* pairs);

/* What the session's memory is made of, in bytes. */
typedef struct fovea_session_info {
  size_t struct_size; /* Set by the caller. */
  uint32_t tile_rows;
  uint32_t workers;
  uint64_t plan_bytes;     /* fixed: tables */
  uint64_t operator_bytes; /* fixed: GEMM operators of all workers */
  uint64_t input_bytes;    /* scratch */
  uint64_t value_bytes;    /* scratch: values that live across phases, outputs included */
  uint64_t keep_bytes;     /* scratch: kept values */
  uint64_t tap_bytes;      /* scratch: attention weights kept by taps */
  uint64_t worker_bytes;   /* scratch: tiles of all workers */
  uint64_t state_bytes;    /* state: carried values, twice, as a run reads one and writes the other */
  uint64_t cache_bytes;    /* state: rows of cached texts, and where they lie */
  uint32_t cached_texts;
} fovea_session_info;
FOVEA_API fovea_status fovea_session_get_info(const fovea_session* session, fovea_session_info* info);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_SESSION_H_ */
