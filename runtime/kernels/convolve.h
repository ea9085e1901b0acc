// Depthwise convolution: a sum of rows, each multiplied column by column by its own weights.
#ifndef FOVEA_RUNTIME_KERNELS_CONVOLVE_H_
#define FOVEA_RUNTIME_KERNELS_CONVOLVE_H_

#include <stddef.h>

namespace fovea {

struct ConvolveKernels {
  // y[c] = bias[c] + the sum over t, in this order, of rows[t][c] * weights[t * width + c], t < taps. A null bias
  // counts as zeros.
  void (*row)(const float* const* rows, const float* weights, size_t taps, const float* bias, size_t width, float* y);
};

ConvolveKernels GetConvolveKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_CONVOLVE_H_
