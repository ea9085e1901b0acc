/* fovea/stop.h - strings that end a text, looked for in the bytes of a text that grows.
 *
 * Tokens do not begin and end where stop strings do: one may begin within a token and span several. So bytes are looked
 * at, whatever decodes them (fovea_text_decode, a stream of pieces): after each step a stop is given the new ones, and
 * says how many bytes of the text are safe to show. Bytes that may be the beginning of a stop string, and those of a
 * UTF-8 character that is not complete yet, are held back until it is known. A stop stores no text; the caller keeps
 * what it was not told to show.
 *
 *   fovea_stop_size -> memory -> fovea_stop_init, one for each text
 *   for each text: fovea_stop_start, then fovea_stop_next for its new bytes until `stopped` is 1. If it ends otherwise,
 *   all of it may be shown.
 *
 * Time is linear in the bytes of a text for each string. Nothing is allocated.
 */
#ifndef FOVEA_STOP_H_
#define FOVEA_STOP_H_

#include "fovea/status.h"
#include "fovea/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fovea_stop fovea_stop;

/* The exact bytes for `count` strings of sizes[i] bytes each, at least 1; sizes NULL: they end with zeros. Statuses:
 * FOVEA_E_NULL; FOVEA_E_OPTION (more than 256 strings); FOVEA_E_LENGTH (an empty string, or 2 GiB of them; index:
 * which).
 */
FOVEA_API fovea_status fovea_stop_size(const char* const* strings, const uint32_t* sizes, uint32_t count,
                                       uint64_t* needed, fovea_error* error);

/* Makes a stop in `memory`, of alignment 64, ready for a text. The strings are copied. Besides the above:
 * FOVEA_E_TOO_SMALL (expected: the exact bytes), FOVEA_E_MISALIGNED. */
FOVEA_API fovea_status fovea_stop_init(const char* const* strings, const uint32_t* sizes, uint32_t count, void* memory,
                                       uint64_t size, fovea_stop** stop, fovea_error* error);

/* Another text begins. FOVEA_E_HANDLE. */
FOVEA_API fovea_status fovea_stop_start(fovea_stop* stop);

/* What is known of a text. Positions are bytes from its beginning. Set struct_size. */
typedef struct fovea_stopped {
  size_t struct_size;
  uint64_t safe;    /* So many bytes may be shown. If the text has stopped: where the string begins. */
  uint64_t end;     /* So many bytes were read. If the text has stopped: where the string ends. */
  uint32_t stopped; /* 1: a string was found. */
  uint32_t string;  /* Which. */
} fovea_stopped;

/* Reads the next bytes of a text. The string that ends first is found, of those that end at one byte the longest, and
 * the lowest of equal ones. Calls after that read nothing and say the same. `stopped` may be NULL. Statuses:
 * FOVEA_E_HANDLE, FOVEA_E_NULL, FOVEA_E_STRUCT_SIZE. */
FOVEA_API fovea_status fovea_stop_next(fovea_stop* stop, const char* bytes, uint64_t size, fovea_stopped* stopped,
                                       fovea_error* error);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_STOP_H_ */
