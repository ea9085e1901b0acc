// Factors of a transform, apart from its kernels: they are known before a processor is.
#include "runtime/kernels/fourier.h"

namespace fovea {

Fourier PlanFourier(uint32_t size, const float* cosines, const float* sines) {
  Fourier fourier = {cosines, sines, size, 0, {}, 0};
  const auto add = [&](uint32_t factor) {
    fourier.factors[fourier.count++] = factor;
    fourier.factor_sum += factor;
  };
  auto left = static_cast<uint32_t>(fourier.complex_size());
  for (; left % 4 == 0; left /= 4) add(4);
  for (uint32_t factor = 2; factor * factor <= left; ++factor) {
    for (; left % factor == 0; left /= factor) add(factor);
  }
  if (left > 1) add(left);
  return fourier;
}

}  // namespace fovea
