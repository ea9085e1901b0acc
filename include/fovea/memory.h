/* fovea/memory.h - memory from a function of the caller.
 *
 * fovea never allocates. A caller either asks for sizes and passes blocks (fovea_model_size, fovea_session_size), or
 * passes a function that supplies them: fovea_model_make and fovea_session_make call it for each block with the exact
 * size, before they return and never later.
 */
#ifndef FOVEA_MEMORY_H_
#define FOVEA_MEMORY_H_

#include "fovea/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a block of `size` bytes (never 0) with an alignment of 64, or NULL if there is none. `context` is the pointer
 * that was passed with the function.
 * Ownership: the block stays the caller's, who frees it when the handle made in it is no longer used, and also if the
 * call failed.
 * Failures of the call that asked:
 *   FOVEA_E_TOO_SMALL    the function returned NULL
 *   FOVEA_E_MISALIGNED   another alignment
 *   FOVEA_E_OPTION       blocks of one session overlap */
typedef void* (*fovea_memory)(void* context, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_MEMORY_H_ */
