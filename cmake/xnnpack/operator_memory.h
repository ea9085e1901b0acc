/* Included before XNNPACK's fully-connected-nc.c. XNNPACK has one allocator per process, but every model has separate
 * memory: the one object that a create call allocates is placed in memory of the call's weights provider. So no
 * thread-local variable is needed. */
#include <string.h>

#include "../../runtime/gemm/xnnpack_provider.h"
#include "xnnpack/allocator.h"

static inline void* fovea_operator_memory(xnn_weights_cache_t cache, size_t size) {
  const struct fovea_xnnpack_provider* provider = (const struct fovea_xnnpack_provider*)cache;
  return size <= provider->object_bytes ? memset(provider->object, 0, size) : NULL;
}

/* `weights_cache` is the parameter of the function that allocates. */
#define xnn_allocate_zero_simd_memory(size) fovea_operator_memory(weights_cache, size)
