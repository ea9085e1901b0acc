// Activation functions, alone and as gates.
#ifndef FOVEA_RUNTIME_KERNELS_ACTIVATION_H_
#define FOVEA_RUNTIME_KERNELS_ACTIVATION_H_

#include <stddef.h>
#include <stdint.h>

namespace fovea {

// The numbers are part of the blob format.
enum class Activation : uint32_t {
  kNone = 0,
  kRelu = 1,
  kGelu = 2,      // x * Phi(x), by the error function
  kGeluTanh = 3,  // its tanh approximation
  kSilu = 4,      // x * sigmoid(x)
  kTanh = 5,
  kSigmoid = 6,
  kLogSigmoid = 7,   // log(sigmoid(x))
  kHardSigmoid = 8,  // 0.2 x + 0.5 between 0 and 1
};
inline constexpr uint32_t kActivationCount = 9;

// Indexed by Activation. y may be any of the inputs. NaN gives NaN, finite inputs and infinities never do (but infinity
// times zero in a gate). Absolute error below 3e-7 * max(1, |x|).
struct ActivationKernels {
  // y = act(x)
  void (*apply[kActivationCount])(const float* x, size_t count, float* y);
  // y = act(a) * b
  void (*gate[kActivationCount])(const float* a, const float* b, size_t count, float* y);
};

ActivationKernels GetActivationKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_ACTIVATION_H_
