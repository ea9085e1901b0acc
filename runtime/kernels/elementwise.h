// Element-wise arithmetic. In each call y may be any of the inputs of its size.
#ifndef FOVEA_RUNTIME_KERNELS_ELEMENTWISE_H_
#define FOVEA_RUNTIME_KERNELS_ELEMENTWISE_H_

#include <stddef.h>

namespace fovea {

struct ElementwiseKernels {
  void (*add)(const float* a, const float* b, size_t count, float* y);
  void (*multiply)(const float* a, const float* b, size_t count, float* y);
  void (*scale)(const float* x, float factor, size_t count, float* y);
  // y = x * factor + shift
  void (*scale_shift)(const float* x, float factor, float shift, size_t count, float* y);
  // y = a * factor + b
  void (*scale_add)(const float* a, float factor, const float* b, size_t count, float* y);
  // y = x clamped to [-limit, limit], or to at most limit, + shift. NaN stays
  void (*bound)(const float* x, float limit, float shift, size_t count, float* y);
  void (*bound_above)(const float* x, float limit, size_t count, float* y);
  // y = x + row for every row of x [rows, width]
  void (*add_row)(const float* x, const float* row, size_t rows, size_t width, float* y);
  // y = max(x, bound)
  void (*at_least)(const float* x, float bound, size_t count, float* y);
  // -infinity if count is 0
  float (*largest)(const float* x, size_t count);
};

ElementwiseKernels GetElementwiseKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_ELEMENTWISE_H_
