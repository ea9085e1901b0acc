/* fovea/cache.h - the KV cache: sequences that a session keeps from run to run.
 *
 * A decoder reads keys and values of all tokens before the new ones. A program with a cached space
 * (fovea_space_info.is_cached) keeps them: a run reads the new rows of some sequences, any number of each, and appends
 * their keys and values; when the run has finished the rows belong to the sequences. A run that fails or is cancelled
 * leaves every sequence as it was. Results have the same bits if a prompt is read in one run (prefill), in pieces
 * (chunked prefill) or row by row, regardless of the other sequences in the run (continuous batching).
 *
 * A cached sequence is called a text here. Texts are numbered from 0 to fovea_session_options.cached_texts - 1, and are
 * empty at first. Segment i of a run continues text i unless fovea_cache_select assigns another one, so texts can join,
 * pause and leave between runs; a text that gets no rows in a run has an empty segment or none.
 *
 * Rows are stored in pages of page_rows in the session's state block (paged attention). Forked texts share pages
 * (copy-on-write): a text that grows copies the page that it writes to, and no other. If a sliding window bounds what
 * queries see (fovea_space_info.window), pages that no query can see any more are used again, so a text may grow for
 * ever: it keeps window + rewind_rows of its last rows.
 *
 * A program may have several cached spaces (layers with a window and without); they have the same texts.
 *
 * Threads: between runs, one thread at a time. A call that fails changes nothing. Every function returns
 *   FOVEA_E_HANDLE   invalid session
 *   FOVEA_E_ORDER    a run is in progress
 *   FOVEA_E_INDEX    no such text (expected: the number of texts)
 * and the statuses listed with it.
 */
#ifndef FOVEA_CACHE_H_
#define FOVEA_CACHE_H_

#include "fovea/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fovea_cache_info {
  size_t struct_size;
  uint32_t texts;       /* Number of sequences that fit. */
  uint32_t max_rows;    /* The longest text possible. */
  uint32_t page_rows;   /* Rows per page. */
  uint32_t unused_rows; /* Rows in unused pages, for the space that has the fewest. */
  uint64_t bytes;       /* All cached rows and their page tables: fovea_session_info.cache_bytes. */
  uint64_t row_bytes;   /* One row of a text, in all cached values together. */
} fovea_cache_info;     /* Room in a KV cache. */
#define FOVEA_CACHE_INFO_INIT FOVEA_INIT(fovea_cache_info)

/* Fills `info`. */
FOVEA_API fovea_status fovea_cache_get_info(const fovea_session* session, fovea_cache_info* info);

/* Assigns texts to the segments of all following runs: segment i continues texts[i]; NULL: text i. It is valid until
 * the next call. Statuses:
 *   FOVEA_E_SEGMENTS   more texts than a run can have segments
 *   FOVEA_E_OPTION     a text is named twice (index: the second entry) */
FOVEA_API fovea_status fovea_cache_select(fovea_session* session, const uint32_t* texts, uint32_t count,
                                          fovea_error* error);

/* Returns in *rows the number of rows (tokens) in a text, which is the position of its next one. */
FOVEA_API fovea_status fovea_cache_get_rows(const fovea_session* session, uint32_t text, uint32_t* rows,
                                            fovea_error* error);

/* Truncates a text to its first `rows` rows; 0 empties it. Statuses:
 *   FOVEA_E_LENGTH   the text has fewer rows (expected: their number), or rows that the next row's window sees have
 *                    been dropped (expected: the fewest rows possible, which is rewind_rows less than the text once
 * had)
 */
FOVEA_API fovea_status fovea_cache_rewind(fovea_session* session, uint32_t text, uint32_t rows, fovea_error* error);

/* Makes text `to` equal to text `from` without copying rows: a prefix that several texts share (prompt caching), a
 * second continuation. The former rows of `to` are dropped. */
FOVEA_API fovea_status fovea_cache_fork(fovea_session* session, uint32_t from, uint32_t to, fovea_error* error);

/* Makes texts 0 to count - 1 equal to the former texts from[0], from[1], ..., all at once: one step of a beam search.
 * Texts from `count` on do not change. */
FOVEA_API fovea_status fovea_cache_reorder(fovea_session* session, const uint32_t* from, uint32_t count,
                                           fovea_error* error);

/* Saving and restoring a text: to keep a prompt's keys and values, or to continue in another process or in another
 * session of the same program and row type. Restoring checks everything but the numbers themselves and replaces the
 * text; later runs then give the same bits. Limits, workers and machine may differ. Memory needs no alignment.
 *
 * Returns in *size the bytes that fovea_cache_save writes. */
FOVEA_API fovea_status fovea_cache_saved_size(const fovea_session* session, uint32_t text, uint64_t* size,
                                              fovea_error* error);

/* Writes a text to `memory`. Statuses:
 *   FOVEA_E_TOO_SMALL   `size` is less than `expected`, the exact bytes */
FOVEA_API fovea_status fovea_cache_save(const fovea_session* session, uint32_t text, void* memory, uint64_t size,
                                        fovea_error* error);

/* Replaces a text by a saved one. Statuses:
 *   FOVEA_E_STATE    no saved text, one of another model, program or row type, or truncated bytes
 *   FOVEA_E_LENGTH   longer than a text of this session can be
 *   FOVEA_E_ROWS     too few unused pages (expected and found in rows) */
FOVEA_API fovea_status fovea_cache_restore(fovea_session* session, uint32_t text, const void* memory, uint64_t size,
                                           fovea_error* error);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_CACHE_H_ */
