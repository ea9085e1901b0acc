// f16 and bf16 to and from f32, rounding to nearest, ties to even.
#ifndef FOVEA_TOOLS_BASE_HALF_H_
#define FOVEA_TOOLS_BASE_HALF_H_

#include <stdint.h>
#include <string.h>

namespace fovea::tools {

inline uint32_t BitsOf(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}

inline float FloatOf(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

inline float FromBf16(uint16_t bits) { return FloatOf(static_cast<uint32_t>(bits) << 16); }

inline uint16_t ToBf16(float value) {
  const uint32_t bits = BitsOf(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);  // stays a NaN
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline float FromHalf(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31, fraction = half & 0x3ff;
  if (exponent == 31) return FloatOf(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0) return FloatOf(sign | BitsOf(static_cast<float>(fraction) * 0x1p-24f));
  return FloatOf(sign | (exponent + 112) << 23 | fraction << 13);
}

// Values that are too large become infinite.
inline uint16_t ToHalf(float value) {
  const uint32_t bits = BitsOf(value), magnitude = bits & 0x7fffffff;
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude < 0x38800000) {  // subnormal: adding 0.5 leaves the wanted bits at the end of the fraction
    return sign | static_cast<uint16_t>(BitsOf(FloatOf(magnitude) + 0.5f) - BitsOf(0.5f));
  }
  return sign | static_cast<uint16_t>((magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13);
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_HALF_H_
