// Pools many rows into one.
#ifndef FOVEA_RUNTIME_KERNELS_POOL_H_
#define FOVEA_RUNTIME_KERNELS_POOL_H_

#include <stddef.h>

namespace fovea {

// Pools rows [begin, end) of x [rows, width], column by column, into y [width]; without rows y is zeros.
struct PoolKernels {
  void (*mean)(const float* x, size_t begin, size_t end, size_t width, float* y);
  void (*max)(const float* x, size_t begin, size_t end, size_t width, float* y);
  // The weighted mean in which row i of n has weight i, from 1 on.
  void (*rising_mean)(const float* x, size_t begin, size_t end, size_t width, float* y);
};

PoolKernels GetPoolKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_POOL_H_
