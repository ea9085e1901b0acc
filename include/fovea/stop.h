/* fovea/stop.h - stop strings: strings that end a text, searched for in the bytes of a text that grows.
 *
 * Tokens do not begin and end where stop strings do: a string may begin within a token and span several. So the search
 * reads bytes, and does not depend on how they were decoded (fovea_text_decode, a stream of pieces): after each step a
 * stop reads the new bytes and reports how many bytes of the text are safe to show. Bytes that may be the beginning of
 * a stop string, and bytes of an incomplete UTF-8 character, are held back until that is known. A stop stores no text;
 * the caller keeps the bytes that are not safe yet.
 *
 *   fovea_stop_size -> memory -> fovea_stop_init, one for each text
 *   for each text: fovea_stop_start, then fovea_stop_next for its new bytes until `stopped` is 1. If it ends otherwise,
 *   all of it may be shown.
 *
 * Time is linear in the bytes of a text for each string. Nothing is allocated. One thread at a time uses a stop.
 */
#ifndef FOVEA_STOP_H_
#define FOVEA_STOP_H_

#include "fovea/status.h"
#include "fovea/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fovea_stop fovea_stop; /* Handle of a set of stop strings, in memory of the caller. */

/* Returns in *needed the exact bytes of a stop for `count` strings of sizes[i] bytes each, at least 1; sizes NULL: they
 * end with zeros. Statuses:
 *   FOVEA_E_NULL     an argument or a string is NULL (index: which string)
 *   FOVEA_E_OPTION   more than 256 strings
 *   FOVEA_E_LENGTH   an empty string, or 2 GiB of strings (index: which) */
FOVEA_API fovea_status fovea_stop_size(const char* const* strings, const uint32_t* sizes, uint32_t count,
                                       uint64_t* needed, fovea_error* error);

/* Makes a stop in `memory`, of alignment 64, ready for a text. The strings are copied; the handle points into `memory`
 * and needs no free. Statuses: as fovea_stop_size, and
 *   FOVEA_E_TOO_SMALL    `size` is less than `expected`, the exact bytes
 *   FOVEA_E_MISALIGNED   `memory` */
FOVEA_API fovea_status fovea_stop_init(const char* const* strings, const uint32_t* sizes, uint32_t count, void* memory,
                                       uint64_t size, fovea_stop** stop, fovea_error* error);

/* Begins another text. Statuses: FOVEA_E_HANDLE. */
FOVEA_API fovea_status fovea_stop_start(fovea_stop* stop);

/* State of the search in a text. Positions are bytes from the text's beginning. */
typedef struct fovea_stopped {
  size_t struct_size;
  uint64_t safe;    /* Number of bytes that may be shown. If the text has stopped: beginning of the string found. */
  uint64_t end;     /* Number of bytes read. If the text has stopped: end of the string found. */
  uint32_t stopped; /* 1: a string was found. */
  uint32_t string;  /* Index of that string. */
} fovea_stopped;
#define FOVEA_STOPPED_INIT FOVEA_INIT(fovea_stopped)

/* Reads the next bytes of a text. The string that ends first is found; of strings that end at the same byte the
 * longest, and of equal strings the one with the lowest index. Later calls read nothing and return the same. `stopped`
 * may be NULL. Statuses: FOVEA_E_HANDLE, FOVEA_E_NULL, FOVEA_E_STRUCT_SIZE. */
FOVEA_API fovea_status fovea_stop_next(fovea_stop* stop, const char* bytes, uint64_t size, fovea_stopped* stopped,
                                       fovea_error* error);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_STOP_H_ */
