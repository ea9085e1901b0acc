// Numbers that operations make, read as positions and coordinates.
#ifndef FOVEA_RUNTIME_BASE_NEAREST_H_
#define FOVEA_RUNTIME_BASE_NEAREST_H_

#include <math.h>
#include <stdint.h>

namespace fovea {

// The nearest whole number, of those beyond 2^24 that bound, 0 for NaN.
inline int32_t NearestWhole(float x) {
  constexpr float kMost = 1u << 24;
  return isnan(x) ? 0 : static_cast<int32_t>(lrintf(fmaxf(-kMost, fminf(x, kMost))));
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BASE_NEAREST_H_
