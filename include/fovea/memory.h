/* fovea/memory.h - memory by a function of the caller.
 *
 * fovea never allocates. A caller either asks for sizes and hands blocks over (fovea_model_size, fovea_session_size),
 * or gives a function that does the second half: fovea_model_make and fovea_session_make call it for each block with
 * the exact size, before they return and never later.
 */
#ifndef FOVEA_MEMORY_H_
#define FOVEA_MEMORY_H_

#include "fovea/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns `size` bytes (never 0) with an alignment of 64, or NULL if it has none: then the call that asked fails
 * with FOVEA_E_TOO_SMALL; other alignments are refused with FOVEA_E_MISALIGNED, blocks of one session that overlap with
 * FOVEA_E_OPTION. The memory stays the caller's: to be freed, by the caller, when the handle made in it is no
 * longer used, and also when the call failed. `context` is the one beside the function. */
typedef void* (*fovea_memory)(void* context, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_MEMORY_H_ */
