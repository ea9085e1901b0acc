// Many rows into one.
#ifndef FOVEA_RUNTIME_KERNELS_POOL_H_
#define FOVEA_RUNTIME_KERNELS_POOL_H_

#include <stddef.h>

namespace fovea {

// Over rows [begin, end) of x [rows, width], column by column, into y [width]; no rows give zeros.
struct PoolKernels {
  void (*mean)(const float* x, size_t begin, size_t end, size_t width, float* y);
  void (*max)(const float* x, size_t begin, size_t end, size_t width, float* y);
  // The mean in which row i of n counts i times, from 1 on.
  void (*rising_mean)(const float* x, size_t begin, size_t end, size_t width, float* y);
};

PoolKernels GetPoolKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_POOL_H_
