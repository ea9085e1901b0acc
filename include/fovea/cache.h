/* fovea/cache.h - texts that a session keeps from run to run.
 *
 * A decoder reads keys and values of all tokens before the new ones. A program that says so
 * (fovea_space_info.is_cached) keeps them: a run takes the new rows of some texts, any number of each, appends to those
 * texts, and when it has finished the rows belong to them. A run that fails or is cancelled leaves every text as it
 * was. A prompt in one run, in pieces, or row by row: results have the same bits, whatever other texts are in the run.
 *
 * Texts are numbered from 0, fovea_session_options.cached_texts of them, and empty at first. Segment i of a run goes on
 * with text i unless fovea_cache_select says otherwise, so texts join, pause and leave as the caller likes; one that is
 * not to get rows in a run has an empty segment or none.
 *
 * Rows lie in pages of page_rows in the session's state block. Texts that are forked share pages; one that grows gets
 * its own copy of the page it writes to, and of no other. Where a window bounds what is seen
 * (fovea_space_info.window), pages that no query can see any more are used again, so a text may go on for ever: it
 * keeps window + rewind_rows of its last rows.
 *
 * A program may have several cached spaces (layers with a window and without); they have the same texts. All functions
 * are called between runs, by one thread at a time: FOVEA_E_ORDER while a run is in progress, FOVEA_E_HANDLE for an
 * invalid session, FOVEA_E_INDEX for a text that there is not (expected: how many). A call that fails changes nothing.
 */
#ifndef FOVEA_CACHE_H_
#define FOVEA_CACHE_H_

#include "fovea/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Set struct_size to sizeof(fovea_cache_info). */
typedef struct fovea_cache_info {
  size_t struct_size;
  uint32_t texts;
  uint32_t max_rows;    /* The longest text. */
  uint32_t page_rows;   /* Rows of a page. */
  uint32_t unused_rows; /* Of unused pages, in the space that has the fewest. */
  uint64_t bytes;       /* Of all kept rows, and where they lie: fovea_session_info.cache_bytes. */
  uint64_t row_bytes;   /* Of one row of a text, in all cached values together. */
} fovea_cache_info;
FOVEA_API fovea_status fovea_cache_get_info(const fovea_session* session, fovea_cache_info* info);

/* Which text each segment of the following runs goes on with: texts[i] for segment i; NULL: text i. Stays until called
 * again. FOVEA_E_SEGMENTS (more texts than there can be segments), FOVEA_E_OPTION (a text twice; index: its place). */
FOVEA_API fovea_status fovea_cache_select(fovea_session* session, const uint32_t* texts, uint32_t count,
                                          fovea_error* error);

/* How many rows a text has: the position of its next one. */
FOVEA_API fovea_status fovea_cache_get_rows(const fovea_session* session, uint32_t text, uint32_t* rows,
                                            fovea_error* error);

/* Takes rows back: the text has its first `rows` rows again; 0: it starts over. FOVEA_E_LENGTH if it has fewer
 * (expected: how many), or if a window that the next row sees has been dropped (expected: the fewest that are possible:
 * rewind_rows less than the text once had). */
FOVEA_API fovea_status fovea_cache_rewind(fovea_session* session, uint32_t text, uint32_t rows, fovea_error* error);

/* Text `to` becomes what text `from` is, without copying rows: a prefix that several texts share, a second
 * continuation. What `to` had is gone. */
FOVEA_API fovea_status fovea_cache_fork(fovea_session* session, uint32_t from, uint32_t to, fovea_error* error);

/* Texts 0 to count - 1 become what texts from[0], from[1], .. were, all at once: the step of a beam search. Others stay
 * as they are. */
FOVEA_API fovea_status fovea_cache_reorder(fovea_session* session, const uint32_t* from, uint32_t count,
                                           fovea_error* error);

/* A text as bytes: to keep a prompt's keys and values, to go on in another process, or in another session of the same
 * program and type of rows. Restoring checks all of it but the numbers themselves and replaces the text; then runs go
 * on with the same bits. Limits, workers and machine do not matter. Memory needs no alignment. FOVEA_E_TOO_SMALL
 * (expected: the exact bytes); FOVEA_E_STATE (no saved text, of another model, program or type, or cut off);
 * FOVEA_E_LENGTH (longer than texts can get here); FOVEA_E_ROWS (not enough unused pages: expected and found in rows).
 */
FOVEA_API fovea_status fovea_cache_saved_size(const fovea_session* session, uint32_t text, uint64_t* size,
                                              fovea_error* error);
FOVEA_API fovea_status fovea_cache_save(const fovea_session* session, uint32_t text, void* memory, uint64_t size,
                                        fovea_error* error);
FOVEA_API fovea_status fovea_cache_restore(fovea_session* session, uint32_t text, const void* memory, uint64_t size,
                                           fovea_error* error);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_CACHE_H_ */
