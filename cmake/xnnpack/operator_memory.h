/* Included before XNNPACK's fully-connected-nc.c. XNNPACK has one allocator per process, while every model has memory
 * of its own: the one object that a create call allocates is placed where the call's weights provider says, so that no
 * thread has to be told by another way. */
#include <string.h>

#include "../../runtime/gemm/xnnpack_provider.h"
#include "xnnpack/allocator.h"

static inline void* fovea_operator_memory(xnn_weights_cache_t cache, size_t size) {
  const struct fovea_xnnpack_provider* provider = (const struct fovea_xnnpack_provider*)cache;
  return size <= provider->object_bytes ? memset(provider->object, 0, size) : NULL;
}

/* `weights_cache` is the parameter of the function that allocates. */
#define xnn_allocate_zero_simd_memory(size) fovea_operator_memory(weights_cache, size)
