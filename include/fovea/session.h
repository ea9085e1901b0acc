/* fovea/session.h - running a program of a model in memory of the caller.
 *
 * A session is one program of a model with limits (the most rows), placed in three blocks of memory:
 *   fixed    plan and operators; must not move
 *   state    what a session remembers from run to run: carried values, and the KV cache (fovea/cache.h); may be empty
 *   scratch  inputs, outputs and working memory; sessions that are never used at the same time may share one block:
 *            then one session's inputs and outputs last only until another session of the block is used
 *
 * After fovea_session_init nothing is allocated, locked or looked up again. Threads: one at a time per session, its
 * workers aside; different sessions are independent. There is nothing to free.
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

typedef struct fovea_session fovea_session; /* Handle of a session, in memory of the caller. */

/* The most rows of an input space in any run; for a cached space (fovea_space_info.is_cached) the most rows of all
 * cached sequences together, with `segment_rows` for the longest one. This struct never changes. */
typedef struct fovea_limit {
  uint32_t space;
  uint32_t rows;         /* In all segments together, at least 1. */
  uint32_t segment_rows; /* In one segment; 0: as many as `rows` and the model's positions allow. */
} fovea_limit;

/* Options of a session. Zero fields mean the default. Arrays are read during the call only. Fields are described in
 * their groups; the order of groups is the order in which they were added. */
typedef struct fovea_session_options {
  size_t struct_size;

  /* Program and execution. */
  uint32_t program;   /* Index of the program. */
  uint32_t workers;   /* 0: 1. At most 64. */
  uint32_t tile_rows; /* Rows carried through a phase at a time; 0: up to 128, less for wide models. At most 1024. */

  /* Limits. A space without a limit gets `texts` rows (below) if it has no parent, else `rows`; FOVEA_E_OPTION if the
   * program needs it and these are 0. */
  uint32_t limit_count; /* Entries of `limits`. */
  const fovea_limit* limits;

  /* Values and attention maps to keep readable after a run. */
  uint32_t keep_count;   /* Entries of `keep`. */
  uint32_t tap_count;    /* Entries of `taps`. */
  const uint32_t* keep;  /* Values besides the outputs (hidden states): each gets separate memory. */
  const fovea_tap* taps; /* Attention maps, see fovea/tap.h; all with the same struct_size. */

  /* Threads and timing. */
  fovea_runner runner;     /* NULL: workers are called one after the other. */
  void* runner_context;    /* Passed to runner and barrier. */
  fovea_barrier barrier;   /* For a runner whose tasks run at the same time; NULL: the runner is called per stage. */
  uint64_t (*clock)(void); /* If given, ticks are summed per step (fovea_session_get_step_ticks). Called by workers. */

  /* Limits, continued. */
  uint64_t rows; /* The limit of every input or cached space with a parent that is not in `limits`; 0: none. */

  /* Inputs from other sessions. */
  const uint32_t* linked; /* Inputs that fovea_session_link will supply: they get no memory here. */
  uint32_t linked_count;  /* Entries of `linked`. */

  /* KV cache, for programs with cached spaces: see fovea/cache.h. */
  uint32_t cached_texts;      /* Number of sequences; 0: as many as a run can have segments. At most 2^20. */
  uint32_t rewind_rows;       /* Number of last rows that can be rewound although a window drops older rows. */
  const uint32_t* cache_type; /* Rows are stored as this fovea_type, F32, F16, BF16 or I8; NULL: the program's type. */

  /* Limits, continued. With both a batch needs no names of spaces: `texts` texts of `rows` tokens in all. */
  uint64_t texts; /* The limit of every input space without a parent that is not in `limits`; 0: 1. */
} fovea_session_options;
#define FOVEA_SESSION_OPTIONS_INIT FOVEA_INIT(fovea_session_options)

/* Three blocks, each with an alignment of 64 bytes. A size of 0 needs no memory. */
typedef struct fovea_session_memory {
  size_t struct_size;
  uint64_t fixed_size, state_size, scratch_size; /* Bytes of each block. */
  void *fixed, *state, *scratch;                 /* Plan and operators; what lasts from run to run; what a run needs. */
} fovea_session_memory;
#define FOVEA_SESSION_MEMORY_INIT FOVEA_INIT(fovea_session_memory)

/* Fills the three sizes with the exact bytes needed: they succeed, one byte less fails. They depend on the model, the
 * options and the library's version, not on the machine. Any thread. Statuses:
 *   FOVEA_E_HANDLE, FOVEA_E_NULL, FOVEA_E_STRUCT_SIZE
 *   FOVEA_E_INDEX    no such program, space, value or step
 *   FOVEA_E_OPTION   an option's value is out of range */
FOVEA_API fovea_status fovea_session_size(const fovea_model* model, const fovea_session_options* options,
                                          fovea_session_memory* sizes, fovea_error* error);

/* Places a session; the handle points into the fixed block. After a failure *session is NULL. Statuses: as
 * fovea_session_size, and
 *   FOVEA_E_TOO_SMALL    a block has fewer than `expected` bytes (section: 0 fixed, 1 state, 2 scratch)
 *   FOVEA_E_MISALIGNED   a block
 *   FOVEA_E_OPTION       blocks overlap */
FOVEA_API fovea_status fovea_session_init(const fovea_model* model, const fovea_session_options* options,
                                          const fovea_session_memory* memory, fovea_session** session,
                                          fovea_error* error);

/* Does the work of fovea_session_size and fovea_session_init in one call, with the same statuses: `memory` is called
 * once for each of the three blocks that is not empty, in their order (fovea/memory.h). */
FOVEA_API fovea_status fovea_session_make(const fovea_model* model, const fovea_session_options* options,
                                          fovea_memory memory, void* memory_context, fovea_session** session,
                                          fovea_error* error);

/* Sets the segments (sequence lengths) of an input space: `lengths[i]` rows for row i of its parent, which thereby gets
 * `count` rows (and must get the same from every child). A space without parent takes one length. Empty segments are
 * allowed; pooling one gives zeros. Segments remain until the next call. A call that fails changes nothing.
 *
 * Spaces with fovea_space_info.is_input 0 need no limit and no segments of the caller. Their rows follow from another
 * space (with some rows in front, or one row for every s rows of a segment but for its ends), or are a fixed number for
 * each row of their parent: if a program has no other inputs, the caller only sets how many rows the parent has (one
 * length for a parent without parent). All these are known when the spaces they follow from are set. The rows of a
 * selected space are chosen during a run and unknown before it.
 * Statuses:
 *   FOVEA_E_ORDER      a run is in progress (see fovea_session_begin)
 *   FOVEA_E_ROWS       more rows than the limit
 *   FOVEA_E_SEGMENTS   more segments than the limit, or a number that disagrees with another child's
 *   FOVEA_E_LENGTH     a segment is too long (index: its length's index, or `count` for the parent's one segment of
 *                      `count` rows, which follows from the call; expected: the longest possible, found: its length)
 *   FOVEA_E_HANDLE, FOVEA_E_NULL, FOVEA_E_INDEX */
FOVEA_API fovea_status fovea_session_set_segments(fovea_session* session, uint32_t space, const uint32_t* lengths,
                                                  uint32_t count, fovea_error* error);

/* A matrix in the session's memory: row r starts at (char*)data + r * row_bytes. Rows of FOVEA_TYPE_I8 begin with f32
 * scales, one for each of (row_bytes - width) / 4 (rounded down) equal parts of the `width` integers after them:
 * element = integer * scale of its part. This struct never changes. */
typedef struct fovea_view {
  void* data;
  uint32_t type;      /* fovea_type: F32 or I32; F16, BF16 or I8 only where the program casts. */
  uint32_t rows;      /* Rows in this run. */
  uint32_t width;     /* Elements of a row. */
  uint32_t row_bytes; /* Bytes from a row to the next. */
} fovea_view;

/* Returns the place of an input of the next run: as many rows as its space has, dense. Valid until the next
 * fovea_session_set_segments; content stays from run to run.
 *
 * A carried input (fovea_value_info.carried_by) has the rows that the last finished run wrote to the output that
 * carries it. They share memory: the view of such an input moves with each run, and writing it changes the output's
 * view. It begins as zeros, and may be written before any run. A run that fails or is cancelled leaves it as it was.
 * Setting segments keeps it, row by row, if its space keeps its number of rows, and makes it zeros if not.
 * Statuses:
 *   FOVEA_E_INDEX   the value is no input, or is a linked one
 *   FOVEA_E_ORDER   before fovea_session_set_segments, or while a run is in progress
 *   FOVEA_E_HANDLE, FOVEA_E_NULL */
FOVEA_API fovea_status fovea_session_get_input(fovea_session* session, uint32_t value, fovea_view* view,
                                               fovea_error* error);

/* Makes `output` of the last run of `from` the input `input`: an output or kept value of another session of the same
 * model, of the same width and type. An input that options.linked names is read in place, without a copy, in this and
 * all later runs, so
 *   - `from` must live as long as this session runs, and must not share its scratch;
 *   - while this session runs (begin to the last advance) `from` must neither run nor get other segments: if it has,
 *     fovea_session_advance returns FOVEA_E_ORDER and the run is over;
 *   - when `from` has run again the new rows are read. If it got other segments in between, link again.
 * A carried input is set to a copy as its first value: nothing is linked afterwards, and options.linked need not name
 * it. The input's space gets the segments of the output's space, unless it has them already, under the rules of
 * fovea_session_set_segments; if both are the same space, so do the spaces above it and the spaces it follows from. If
 * the segments belong to another space than the input's, that space must be an input space or have the same segments
 * already. Statuses:
 *   FOVEA_E_HANDLE
 *   FOVEA_E_OPTION   one session, two models, another width or type, or an input that is neither linked nor carried
 *   FOVEA_E_INDEX    no such input or output
 *   FOVEA_E_ORDER    `from` has no finished run, or a run of this session is in progress
 *   FOVEA_E_SEGMENTS, FOVEA_E_ROWS, FOVEA_E_LENGTH   as fovea_session_set_segments
 * A later run of this session returns FOVEA_E_ORDER if a linked input was not linked or `from` has no finished run, and
 * FOVEA_E_SEGMENTS if segments differ (tensor: the input). */
FOVEA_API fovea_status fovea_session_link(fovea_session* session, uint32_t input, const fovea_session* from,
                                          uint32_t output, fovea_error* error);

/* Makes all carried inputs zeros and empties the KV cache, as after fovea_session_init. Statuses: FOVEA_E_HANDLE,
 * FOVEA_E_ORDER (a run is in progress). */
FOVEA_API fovea_status fovea_session_reset(fovea_session* session, fovea_error* error);

/* Saving and restoring carried inputs (recurrent state): to continue later, in another place, or twice from one point
 * (save one session, restore another). The bytes are the rows that are bound, after a header with the blob's checksum
 * and the program: limits, workers and machine may differ. Restoring checks all of it and needs the same number of
 * bound rows; later runs then give the same bits. Memory needs no alignment. A failed call changes nothing. Outputs of
 * a session that was reset or restored can be read again after its next run. Statuses of the three functions:
 *   FOVEA_E_HANDLE, FOVEA_E_NULL
 *   FOVEA_E_ORDER       a run is in progress, or segments are not set
 *   FOVEA_E_TOO_SMALL   save: `size` is less than `expected`, the exact bytes
 *   FOVEA_E_STATE       restore: not such a state
 *
 * Returns in *size the bytes that fovea_session_save writes. */
FOVEA_API fovea_status fovea_session_saved_size(const fovea_session* session, uint64_t* size, fovea_error* error);
/* Writes the carried inputs to `memory`. */
FOVEA_API fovea_status fovea_session_save(const fovea_session* session, void* memory, uint64_t size,
                                          fovea_error* error);
/* Replaces the carried inputs by saved ones. */
FOVEA_API fovea_status fovea_session_restore(fovea_session* session, const void* memory, uint64_t size,
                                             fovea_error* error);

/* Runs the whole program. After a failure outputs are unspecified, carried values and the KV cache are as they were,
 * and the session is ready for another run. Statuses:
 *   FOVEA_E_HANDLE
 *   FOVEA_E_ORDER       an input space has no segments, or a run is in progress
 *   FOVEA_E_SEGMENTS    spaces disagree
 *   FOVEA_E_ID          an id is out of range (tensor: the value; index: the id's place)
 *   FOVEA_E_ROWS        more rows of a segment (index) qualify than a selected space can hold (step: the operation)
 *   FOVEA_E_RUNNER      the runner or barrier breaks the rules of fovea/runner.h
 *   FOVEA_E_CANCELLED   fovea_session_cancel */
FOVEA_API fovea_status fovea_session_run(fovea_session* session, fovea_error* error);

/* Running in pieces, for hosts that must do other work in between.
 *
 * fovea_session_begin checks the inputs and starts a run, with the statuses of fovea_session_run. The run is in
 * progress until *left is 0 or fovea_session_advance fails. Until then inputs must not change, and calls that would
 * change what the run depends on return FOVEA_E_ORDER and change nothing: begin and run, set_segments, get_input, link,
 * reset, save and restore, fovea_text_bind, all of fovea/cache.h, fovea_generate_start and fovea_generate_next. To
 * abandon a run: fovea_session_cancel, then advance. */
FOVEA_API fovea_status fovea_session_begin(fovea_session* session, fovea_error* error);

/* Runs up to `phases` phases and sets *left to the number that remain. FOVEA_E_ORDER without begin; else the statuses
 * of fovea_session_run. */
FOVEA_API fovea_status fovea_session_advance(fovea_session* session, uint32_t phases, uint32_t* left,
                                             fovea_error* error);

/* Runs phases until `ticks` of options.clock have passed, at least one, and sets *left as fovea_session_advance does,
 * with its statuses. A phase that has begun is finished: more time passes by up to the longest phase.
 * FOVEA_E_OPTION: the session has no clock. */
FOVEA_API fovea_status fovea_session_advance_for(fovea_session* session, uint64_t ticks, uint32_t* left,
                                                 fovea_error* error);

/* Cancels the run in progress at its next tile, or the next run if there is none: a request just before the run, or
 * between two steps of a generation, is not lost. It remains until fovea_session_advance, fovea_session_run or
 * fovea_generate_next has returned FOVEA_E_CANCELLED for it, or until it is cleared. Any thread, interrupts. */
FOVEA_API void fovea_session_cancel(fovea_session* session);

/* Clears a request to cancel that no run has obeyed. Call it between runs if a request may have come too late: after
 * the work that it was meant for, before other work. */
FOVEA_API void fovea_session_clear_cancel(fovea_session* session);

/* Returns an output, or a kept value, of the last run. Valid until the next run. Statuses:
 *   FOVEA_E_INDEX   neither an output nor kept
 *   FOVEA_E_ORDER   before a run
 *   FOVEA_E_HANDLE, FOVEA_E_NULL */
FOVEA_API fovea_status fovea_session_get_output(const fovea_session* session, uint32_t value, fovea_view* view,
                                                fovea_error* error);

/* Returns an output by its name in the session's program, with the same statuses and FOVEA_E_NAME (no such name). */
FOVEA_API fovea_status fovea_session_find_output(const fovea_session* session, const char* name, fovea_view* view,
                                                 fovea_error* error);

/* Returns the segments of any space, derived ones included: segment i is rows [offsets[i], offsets[i + 1]); the
 * count + 1 offsets are the session's memory. Statuses:
 *   FOVEA_E_ORDER   the spaces it follows from are not set; for a selected space no run has chosen its rows (each run
 *                   chooses again)
 *   FOVEA_E_HANDLE, FOVEA_E_NULL, FOVEA_E_INDEX */
FOVEA_API fovea_status fovea_session_get_segments(const fovea_session* session, uint32_t space,
                                                  const uint32_t** offsets, uint32_t* count, fovea_error* error);

/* Returns in *ticks the ticks of options.clock spent in a step, summed over workers and runs since init; 0 without a
 * clock. */
FOVEA_API fovea_status fovea_session_get_step_ticks(const fovea_session* session, uint32_t step, uint64_t* ticks);

/* Returns in *pairs how many pairs of a query and a key step `step` scores in the bound segments, in all heads
 * together: the number that its time follows. 0 for steps other than attention.
 * Exact if the pattern alone decides (windows, dilation, edges, blocks; a key counts once however often its block is
 * named, and again if another field shows it; with top_k all keys that it chooses from). Else an upper bound: listed
 * rows count as if none were in the window, windows around centers as if none passed the ends, chunks with every key in
 * each round and chunk that shows it, keys after a causal query included.
 * FOVEA_E_ORDER before the spaces of the step have segments; rows that a run selects, and listed rows, are counted as
 * in the last run. Takes time that grows with the queries (and heads, if they see different keys). */
FOVEA_API fovea_status fovea_session_get_step_pairs(const fovea_session* session, uint32_t step, uint64_t* pairs);

/* Parts of the session's memory, in bytes. */
typedef struct fovea_session_info {
  size_t struct_size;
  uint32_t tile_rows;      /* Rows of a tile. */
  uint32_t workers;        /* Workers of a run. */
  uint64_t plan_bytes;     /* fixed: tables */
  uint64_t operator_bytes; /* fixed: GEMM operators of all workers */
  uint64_t input_bytes;    /* scratch */
  uint64_t value_bytes;    /* scratch: values that live across phases, outputs included */
  uint64_t keep_bytes;     /* scratch: kept values */
  uint64_t tap_bytes;      /* scratch: attention maps */
  uint64_t worker_bytes;   /* scratch: tiles of all workers */
  uint64_t state_bytes;    /* state: carried values, twice, as a run reads one copy and writes the other */
  uint64_t cache_bytes;    /* state: KV cache, rows and page tables */
  uint32_t cached_texts;   /* Sequences of the KV cache. */
} fovea_session_info;
#define FOVEA_SESSION_INFO_INIT FOVEA_INIT(fovea_session_info)

/* Fills `info`. */
FOVEA_API fovea_status fovea_session_get_info(const fovea_session* session, fovea_session_info* info);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_SESSION_H_ */
