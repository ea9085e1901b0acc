/* fovea/tap.h - attention maps: the attention weights or scores that a session keeps, and how to read them.
 *
 * A tap is a request for the attention map of one attention step. It is made with the session
 * (fovea_session_options.taps), so its memory is part of fovea_session_size: nothing is allocated later, and outputs
 * have the same bits with and without taps. It names an attention step, the rows and heads that are wanted, and one of
 * two forms:
 *
 *   - dense: a number for each key of a row's segment; rows x heads x longest segment of keys
 *   - sparse: the keys that the pattern shows to a row and whose weight is not 0; rows x heads x the most keys that a
 *     row can see: with a sliding window a few for each row, however long the sequence; more for rows at the edges,
 *     which see all keys
 *
 *   fovea_session_options.taps -> fovea_session_run -> fovea_session_get_attention_map
 *                                                      (-> fovea_session_get_sparse_map)
 */
#ifndef FOVEA_TAP_H_
#define FOVEA_TAP_H_

#include "fovea/status.h"
#include "fovea/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fovea_session;

/* fovea_tap.form */
typedef enum fovea_tap_form { FOVEA_TAP_DENSE = 0, FOVEA_TAP_SPARSE = 1 } fovea_tap_form;

/* fovea_tap.rows: which query rows, in each segment of the query space. */
typedef enum fovea_tap_rows {
  FOVEA_TAP_ROWS_ALL = 0,
  FOVEA_TAP_ROWS_LAST = 1,  /* The last one. */
  FOVEA_TAP_ROWS_STRIDE = 2 /* offset, offset + stride, offset + 2 * stride, ...; none of segments that end before. */
} fovea_tap_rows;

/* fovea_tap.reduce: the wanted heads as one. A key that a head does not see has the weight 0 there. */
typedef enum fovea_reduce { FOVEA_REDUCE_NONE = 0, FOVEA_REDUCE_MEAN = 1, FOVEA_REDUCE_MAX = 2 } fovea_reduce;

/* A request for an attention map. Only the step must be set; all else zero means every row and head, dense. A step can
 * be tapped once. */
typedef struct fovea_tap {
  size_t struct_size;
  uint32_t step;   /* An attention step of the program. */
  uint32_t form;   /* fovea_tap_form */
  uint32_t rows;   /* fovea_tap_rows */
  uint32_t stride; /* FOVEA_TAP_ROWS_STRIDE: at least 1; else 0. */
  uint32_t offset; /* FOVEA_TAP_ROWS_STRIDE: the first row of a segment that is wanted, counted from 0; else 0. */
  uint32_t reduce; /* fovea_reduce */
  uint64_t heads;  /* Bit h: head h is wanted; 0: all are. Only for steps of up to 64 heads. */
  uint32_t what;   /* fovea_keep; scores only with FOVEA_REDUCE_NONE. */
} fovea_tap;
#define FOVEA_TAP_INIT FOVEA_INIT(fovea_tap)

/* The attention map that a tap kept in the last run. Pointers are into the session's memory and valid until the next
 * run. */
typedef struct fovea_attention_map {
  size_t struct_size;
  const uint32_t* query_rows; /* [rows] Tapped rows of the query space, ascending. */
  /* Dense: the weight that row query_rows[r] and wanted head h give to the j-th key of the row's segment is
   * data[(r * heads + h) * stride + j]; 0 where the pattern hides the key, and -infinity where scores are kept. Entries
   * for j past the segment's keys are unspecified. Sparse: NULL, see fovea_session_get_sparse_map. */
  const float* data;
  uint64_t entries;                /* Sparse: number of weights in all. Dense: 0. */
  uint32_t form;                   /* fovea_tap_form */
  uint32_t rows;                   /* Tapped rows. */
  uint32_t heads;                  /* Wanted heads, in ascending order; 1 if they are reduced. */
  uint32_t stride;                 /* Dense: the longest segment of keys that the session can hold. */
  uint32_t query_space, key_space; /* Spaces of the rows. */
  uint32_t key_rows;               /* Rows of the key space in this run. */
} fovea_attention_map;
#define FOVEA_ATTENTION_MAP_INIT FOVEA_INIT(fovea_attention_map)

/* Fills `map` for tap `tap`, its position in options.taps. Statuses:
 *   FOVEA_E_INDEX   no such tap
 *   FOVEA_E_ORDER   before a run
 *   FOVEA_E_HANDLE, FOVEA_E_NULL, FOVEA_E_STRUCT_SIZE */
FOVEA_API fovea_status fovea_session_get_attention_map(const struct fovea_session* session, uint32_t tap,
                                                       fovea_attention_map* map, fovea_error* error);

/* fovea_sparse_map.layout: a matrix of rows * heads lines (line r * heads + h is tapped row r, wanted head h) and
 * key_rows columns. Column k is row k of the whole key space; fovea_session_get_segments(key_space) returns the
 * segments of these rows. */
typedef enum fovea_sparse_layout {
  /* Line by line: entries offsets[l] .. offsets[l + 1] - 1 belong to line l. offsets, keys, values. */
  FOVEA_SPARSE_CSR = 0,
  /* Each entry with its line and key, in the same order. lines, keys, values. */
  FOVEA_SPARSE_COO = 1,
  /* Column by column: entries offsets[k] .. offsets[k + 1] - 1 belong to key k. offsets, lines, values. */
  FOVEA_SPARSE_CSC = 2
} fovea_sparse_layout;

/* The caller's arrays. Arrays that the layout lacks are neither read nor written and may be NULL. In a line keys
 * ascend, in a column lines do; no entry repeats, no weight is 0 and no score -infinity. */
typedef struct fovea_sparse_map {
  size_t struct_size;
  uint64_t offset_capacity; /* Entries in `offsets`: at least lines + 1 (CSR), key_rows + 1 (CSC). */
  uint64_t entry_capacity;  /* Entries in each further array: at least fovea_attention_map.entries. */
  uint64_t* offsets;        /* Where each line (CSR) or key (CSC) begins in the further arrays, and their end. */
  uint32_t* lines;          /* COO, CSC: the line of each weight. */
  uint32_t* keys;           /* COO, CSR: the key of each weight. */
  float* values;            /* The weights. */
  uint32_t layout;          /* fovea_sparse_layout */
} fovea_sparse_map;
#define FOVEA_SPARSE_MAP_INIT FOVEA_INIT(fovea_sparse_map)

/* Writes a sparse map into the caller's arrays, in time proportional to the entries; fovea_attention_map has their
 * number. Statuses: as fovea_session_get_attention_map, and
 *   FOVEA_E_OPTION     a dense tap, or an unknown layout
 *   FOVEA_E_CAPACITY   an array is too small (expected: the entries needed)
 *   FOVEA_E_NULL       an array of the layout is NULL */
FOVEA_API fovea_status fovea_session_get_sparse_map(const struct fovea_session* session, uint32_t tap,
                                                    const fovea_sparse_map* arrays, fovea_error* error);

/* All maps of the last run as the bytes of a safetensors file: a device records it, `fovea attend --from` shows it, and
 * any reader of safetensors can plot it. Tensors:
 *
 *   <step>.weights       dense: f32 [tapped rows, heads, longest segment of keys], zeros after the keys of a row;
 *                        sparse: f32 [entries]
 *   <step>.line_offsets  sparse: i64 [tapped rows * heads + 1], as FOVEA_SPARSE_CSR
 *   <step>.keys          sparse: i32 [entries]
 *   <step>.query_rows    i32 [tapped rows]
 *   <space>.offsets      i32 [segments + 1], of the spaces of these rows and keys, and of all spaces above them
 *
 * Its metadata, all text: fovea_taps (the version, 1), program, taps (their number); for tap N tap.N.step (the
 * beginning of the tensors' names: the step's name; of a later step of the same name # and N follow it),
 * tap.N.query_space, tap.N.key_space, tap.N.heads ("0 1 3"), tap.N.reduce (none, mean, max), tap.N.keeps (weights,
 * scores); parent.<space> (empty: none). The size depends on the run.
 *
 * Returns in *size the bytes that fovea_taps_file_write writes. Statuses of both functions:
 *   FOVEA_E_HANDLE, FOVEA_E_NULL
 *   FOVEA_E_ORDER        before a run
 *   FOVEA_E_BUILD        a build without taps */
FOVEA_API fovea_status fovea_taps_file_size(const struct fovea_session* session, uint64_t* size, fovea_error* error);

/* Writes the file to `memory`, of an alignment of 8 bytes; nothing refers to it afterwards. Statuses besides the above:
 *   FOVEA_E_TOO_SMALL    `size` is less than `expected`, the exact bytes
 *   FOVEA_E_MISALIGNED   `memory` */
FOVEA_API fovea_status fovea_taps_file_write(const struct fovea_session* session, void* memory, uint64_t size,
                                             fovea_error* error);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_TAP_H_ */
