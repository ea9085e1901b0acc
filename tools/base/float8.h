// The float types of eight bits: to f32, exactly.
#ifndef FOVEA_TOOLS_BASE_FLOAT8_H_
#define FOVEA_TOOLS_BASE_FLOAT8_H_

#include <math.h>
#include <stdint.h>

namespace fovea::tools {

// E4M3 as in machine learning (e4m3fn): no infinities, up to 448.
inline float FromE4M3(uint8_t bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  if (exponent == 15 && fraction == 7) return NAN;
  const int whole = exponent == 0 ? fraction : fraction + 8;
  const float magnitude = ldexpf(static_cast<float>(whole), (exponent == 0 ? 1 : exponent) - 10);
  return bits < 128 ? magnitude : -magnitude;
}

// E5M2: the upper half of an f16.
inline float FromE5M2(uint8_t bits) {
  const int exponent = bits >> 2 & 31, fraction = bits & 3;
  if (exponent == 31 && fraction != 0) return NAN;
  const int whole = exponent == 0 ? fraction : fraction + 4;
  const float magnitude =
      exponent == 31 ? INFINITY : ldexpf(static_cast<float>(whole), (exponent == 0 ? 1 : exponent) - 17);
  return bits < 128 ? magnitude : -magnitude;
}

// E8M0: a power of two, from 2^-127 to 2^127.
inline float FromE8M0(uint8_t bits) { return bits == 255 ? NAN : ldexpf(1, bits - 127); }

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_FLOAT8_H_
