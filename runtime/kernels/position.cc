// Sinusoidal position tables.
#include "runtime/kernels/position.h"

#include <math.h>

namespace fovea {

void FillPosition(double position, size_t width, double base, size_t denominator, bool interleaved, float* y) {
  const size_t pairs = width / 2;
  const double step = -log(base) / static_cast<double>(denominator == 0 ? 1 : denominator);
  for (size_t i = 0; i < pairs; ++i) {
    const double angle = position * exp(step * static_cast<double>(i));
    y[interleaved ? 2 * i : i] = static_cast<float>(sin(angle));
    y[interleaved ? 2 * i + 1 : pairs + i] = static_cast<float>(cos(angle));
  }
  if (width % 2 != 0) y[width - 1] = 0.0f;
}

}  // namespace fovea
