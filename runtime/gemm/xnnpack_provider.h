/* The weights provider for XNNPACK, in C: cmake/xnnpack/operator_memory.h includes it in XNNPACK's own source. */
#ifndef FOVEA_RUNTIME_GEMM_XNNPACK_PROVIDER_H_
#define FOVEA_RUNTIME_GEMM_XNNPACK_PROVIDER_H_

#include <stddef.h>
#include <xnnpack.h>

/* XNNPACK uses only the first member. */
struct fovea_xnnpack_provider {
  struct xnn_weights_cache_provider functions;
  void* object; /* where a create call places the operator */
  size_t object_bytes;
};

#endif /* FOVEA_RUNTIME_GEMM_XNNPACK_PROVIDER_H_ */
