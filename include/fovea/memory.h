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

/* The use of a block: scratch is read and written most, so it gains most from fast memory; a model without packed
 * weights is small tables. */
typedef enum fovea_block {
  FOVEA_BLOCK_MODEL = 0,  /* fovea_model_make: tables and packed weights, read by every run */
  FOVEA_BLOCK_FIXED = 1,  /* fovea_session_make: the session's plan and operators */
  FOVEA_BLOCK_STATE = 2,  /* fovea_session_make: carried values and KV cache */
  FOVEA_BLOCK_SCRATCH = 3 /* fovea_session_make: inputs, outputs and working memory */
} fovea_block;

/* Returns a block of `size` bytes (never 0) with an alignment of 64, or NULL if there is none. `context` is the pointer
 * that was passed with the function, `block` a fovea_block.
 * Ownership: the block stays the caller's, who frees it when the handle made in it is no longer used, and also if the
 * call failed.
 * Failures of the call that asked:
 *   FOVEA_E_TOO_SMALL    the function returned NULL
 *   FOVEA_E_MISALIGNED   another alignment
 *   FOVEA_E_OPTION       blocks of one session overlap */
typedef void* (*fovea_memory)(void* context, uint64_t size, uint32_t block);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_MEMORY_H_ */
