// Activation functions, alone and as gates.
#ifndef FOVEA_RUNTIME_KERNELS_ACTIVATION_H_
#define FOVEA_RUNTIME_KERNELS_ACTIVATION_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/blob/numbers.h"

namespace fovea {

// Indexed by Activation. y may be any of the inputs. NaN gives NaN; finite inputs and infinities never do, except
// infinity times zero in a gate. Absolute error below 3e-7 * max(1, |x|).
struct ActivationKernels {
  // y = act(x)
  void (*apply[kActivationCount])(const float* x, size_t count, float* y);
  // y = act(a) * b
  void (*gate[kActivationCount])(const float* a, const float* b, size_t count, float* y);
};

ActivationKernels GetActivationKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_ACTIVATION_H_
