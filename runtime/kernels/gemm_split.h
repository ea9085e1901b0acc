// Numbers split into two bytes, for products of f16 weights by integer dot products: layout and scales.
//
// 128 consecutive elements (kSplitDepth) share a scale: each is 256 high + low times the scale, rounded to the nearest,
// with bytes from -128 to 127. The largest of them is +-32639.
//
// A block of packed weights is 16 columns: the bias of each, then for each 128 of k the scale of each, times 256, then
// for each four of k (eight for matrix products) the columns' high bytes, and their low bytes. Padding is zero: columns
// to 16, k to 32.
#ifndef FOVEA_RUNTIME_KERNELS_GEMM_SPLIT_H_
#define FOVEA_RUNTIME_KERNELS_GEMM_SPLIT_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/base/checked.h"

namespace fovea {

inline constexpr size_t kSplitColumns = 16;
inline constexpr size_t kSplitDepth = 128;
inline constexpr size_t kSplitStep = 32;

// Bytes per column. The bytes of k elements and then more begin after as many, if k is a multiple of kSplitDepth.
constexpr uint64_t SplitColumnBytes(uint64_t k) {
  return sizeof(float) + DivideUp(k, kSplitDepth) * sizeof(float) + 2 * RoundUp(k, kSplitStep);
}

// The scale of elements of which the largest magnitude is `most`.
struct SplitScale {
  explicit SplitScale(float most) {
    uint32_t bits;
    memcpy(&bits, &most, sizeof(bits));
    finite = bits < kInfinity;
    if (!finite) {
      scale = most;
      inverse = 0;
      return;
    }
    // Below the least, elements smaller than 2^-126 become zero.
    constexpr float kMost = 127 * 256 + 127, kLeast = 0x1p-110f;
    most = most < kLeast ? kLeast : most;
    scale = most / kMost;
    inverse = kMost / most;
  }

  // The high byte beside an infinity, with a low byte of 0: sums become infinite or NaN.
  static int8_t HighOfInfinite(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return (bits & 0x7fffffffu) != kInfinity ? int8_t{0} : bits >> 31 != 0 ? int8_t{-1} : int8_t{1};
  }

  float scale, inverse;
  bool finite;

 private:
  static constexpr uint32_t kInfinity = 0x7f800000u;
};

// Packs n rows of k f16 weights, with a bias each or none, in blocks of columns. `group`: 4 or 8 elements of k whose
// bytes are adjacent.
void PackSplit(const uint16_t* rows, const float* bias, size_t n, size_t k, size_t group, uint8_t* packed);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_GEMM_SPLIT_H_
