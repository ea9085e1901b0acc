// Softmax of rows.
#ifndef FOVEA_RUNTIME_KERNELS_SOFTMAX_H_
#define FOVEA_RUNTIME_KERNELS_SOFTMAX_H_

#include <stddef.h>

namespace fovea {

struct SoftmaxKernels {
  // Each row of x [rows, width] becomes e^x / sum(e^x); y may be x. Entries of -infinity give 0; a row of only
  // -infinity gives zeros. A NaN makes its row NaN. Relative error below 1e-6.
  void (*softmax)(const float* x, size_t rows, size_t width, float* y);
  // Its natural logarithm, x - log(sum(e^x)): absolute error below 1e-6 * (1 + |y|). Entries of -infinity are kept.
  void (*log_softmax)(const float* x, size_t rows, size_t width, float* y);
};

SoftmaxKernels GetSoftmaxKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_SOFTMAX_H_
