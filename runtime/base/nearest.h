// Conversion of computed floats to integers, for operations whose results are used as positions and coordinates.
#ifndef FOVEA_RUNTIME_BASE_NEAREST_H_
#define FOVEA_RUNTIME_BASE_NEAREST_H_

#include <math.h>
#include <stdint.h>

namespace fovea {

// The nearest integer; numbers beyond 2^24 are clamped to it, NaN gives 0.
inline int32_t NearestWhole(float x) {
  constexpr float kMost = 1u << 24;
  return isnan(x) ? 0 : static_cast<int32_t>(lrintf(fmaxf(-kMost, fminf(x, kMost))));
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BASE_NEAREST_H_
