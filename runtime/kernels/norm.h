// Normalisation of rows: layer norm, RMS norm (both with an optional residual) and unit length.
#ifndef FOVEA_RUNTIME_KERNELS_NORM_H_
#define FOVEA_RUNTIME_KERNELS_NORM_H_

#include <stddef.h>

#include "runtime/blob/numbers.h"

namespace fovea {

// All matrices are [rows, width]; `residual`, `weight`, `bias` and `sum` may be null. With s = x + residual:
// `sum`, if given, receives s. `y` may be x or residual, `sum` may be x or residual, but not the same one as `y`.
struct NormKernels {
  // y = (s - mean) / sqrt(variance + epsilon) * weight + bias, population variance.
  void (*layer_norm)(const float* x, const float* residual, const float* weight, const float* bias, float epsilon,
                     size_t rows, size_t width, float* sum, float* y);
  // y = s / sqrt(mean(s^2) + epsilon) * (weight + weight_offset); without `weight` just the quotient.
  void (*rms_norm)(const float* x, const float* residual, const float* weight, float weight_offset, float epsilon,
                   size_t rows, size_t width, float* sum, float* y);
  // y = x / length; y may be x.
  void (*l2_normalize)(const float* x, NormClamp clamp, float epsilon, size_t rows, size_t width, float* y);
};

NormKernels GetNormKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_NORM_H_
