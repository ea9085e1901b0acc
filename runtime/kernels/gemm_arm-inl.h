// Shared by the kernels for 64-bit Arm: loops over packed blocks, loads, and the store of a part of a block.
#ifndef FOVEA_RUNTIME_KERNELS_GEMM_ARM_INL_H_
#define FOVEA_RUNTIME_KERNELS_GEMM_ARM_INL_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#include "runtime/kernels/dot_arm-inl.h"
#include "runtime/kernels/gemm_arm.h"

#if FOVEA_GEMM_PACKED_ARM || FOVEA_GEMM_IN_PLACE_ARM

namespace fovea {
namespace arm {

template <size_t kValue>
using Constant = std::integral_constant<size_t, kValue>;

// Calls the kernel for the tile's packing.
using Kernel = void (*)(const GemmTile& tile);
inline void ForPacking(const GemmTile& tile, Kernel matrix, Kernel dot, Kernel plain) {
  const GemmPacking packing = tile.packing;
  (packing == GemmPacking::kNeonI8mm ? matrix : packing == GemmPacking::kNeonDot ? dot : plain)(tile);
}

// Columns of the widest block.
constexpr size_t kMostColumns = 16;

// A block of columns: its packed weights, and rows of results, `stride` floats apart.
struct Block {
  const uint8_t* weights;
  float* y;
  size_t stride;
};

// Calls multiply(height, row, block) with heights that cover the tile's rows: the first as often as possible, then the
// rest. The block is `width` columns at column c; where y has fewer, the results go through a buffer.
template <size_t kMost, size_t... kLess, class Multiply>
HWY_INLINE void ForRows(const GemmTile& tile, const uint8_t* weights, size_t c, size_t width,
                        const Multiply& multiply) {
  const size_t count = HWY_MIN(width, tile.columns - c);
  size_t row = 0;
  const auto cover = [&](auto height) {
    for (; row + height() <= tile.rows; row += height()) {
      float* y = tile.y + row * tile.y_stride + c;
      float whole[height() * kMostColumns];
      const bool direct = count == width;
      multiply(height, row, Block{weights, direct ? y : whole, direct ? tile.y_stride : kMostColumns});
      if (direct) continue;
      for (size_t r = 0; r < height(); ++r) memcpy(y + r * tile.y_stride, whole + r * kMostColumns, count * sizeof(*y));
    }
  };
  cover(Constant<kMost>());
  (cover(Constant<kLess>()), ...);
}

// The same for blocks of four columns: multiply(height, row, block, blocks) is for `blocks` of them, block_bytes apart:
// at most four, for which rows of x stay in cache.
template <class Multiply>
HWY_INLINE void ForFours(const GemmTile& tile, size_t block_bytes, const Multiply& multiply) {
  const auto* weights = static_cast<const uint8_t*>(tile.weights);
  for (size_t c = 0; c < tile.columns; c += 16, weights += 4 * block_bytes) {
    const size_t blocks = HWY_MIN((tile.columns - c + 3) / 4, 4);
    ForRows<4, 3, 2, 1>(tile, weights, c, 16,
                        [&](auto height, size_t row, const Block& block) { multiply(height, row, block, blocks); });
  }
}

HWY_INLINE int8x16_t LoadBytes(const void* p) { return vld1q_s8(static_cast<const int8_t*>(p)); }
HWY_INLINE int32x4_t LoadInts(const void* p) { return vld1q_s32(static_cast<const int32_t*>(p)); }
HWY_INLINE int64x2_t LoadLongs(const void* p) { return vld1q_s64(static_cast<const int64_t*>(p)); }
HWY_INLINE float32x4_t LoadFloats(const void* p) { return vld1q_f32(static_cast<const float*>(p)); }

// 32 bytes at p + kOffset in one instruction, which gcc forms for few of the vectors that intrinsics load; not earlier
// than in the source, which would take more registers than there are.
template <int kOffset>
HWY_INLINE void LoadPair(const uint8_t* p, int8x16_t& low, int8x16_t& high) {
  __asm__ volatile("ldp %q0, %q1, [%2, #%c3]"
                   : "=&w"(low), "=w"(high)
                   : "r"(p), "i"(kOffset), "m"(*reinterpret_cast<const uint8_t(*)[kOffset + 32]>(p)));
}

// 32 bytes to y in one instruction, which gcc does not form.
HWY_INLINE void StorePair(float32x4_t low, float32x4_t high, float* y) {
  __asm__("stp %q1, %q2, [%3]" : "=m"(*reinterpret_cast<float(*)[8]>(y)) : "w"(low), "w"(high), "r"(y));
}

// Adds the products of four of k, of which x has kLane, with 16 columns whose bytes are at w + kOffset.
template <uint32_t kLane, int kOffset, size_t kRows>
HWY_INLINE void AddFour(const uint8_t* w, const int8x16_t (&x)[kRows], int32x4_t (&sums)[4][kRows]) {
  int8x16_t two[2];
  LoadPair<kOffset>(w, two[0], two[1]);
  HWY_UNROLL(2) for (size_t j = 0; j < 2; ++j) {
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) sums[j][r] = DotWithLane<kLane>(sums[j][r], two[j], x[r]);
  }
  LoadPair<kOffset + 32>(w, two[0], two[1]);
  HWY_UNROLL(2) for (size_t j = 0; j < 2; ++j) {
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) sums[j + 2][r] = DotWithLane<kLane>(sums[j + 2][r], two[j], x[r]);
  }
}

// Keeps the compiler from reordering the computation of v with the next vector's, which would take more registers than
// there are.
template <class Vector>
HWY_INLINE void InOrder(Vector& v) {
  __asm__ volatile("" : "+w"(v));
}

// Eight bytes, twice.
HWY_INLINE int8x16_t LoadTwice(const int8_t* p) {
  return vreinterpretq_s8_s64(vld1q_dup_s64(reinterpret_cast<const int64_t*>(p)));
}

// Eight bytes, twice, which are then behind x. gcc would increase the address apart.
HWY_INLINE int8x16_t NextTwice(const int8_t*& x) {
  int8x16_t v;
  __asm__ volatile("ld1r {%0.2d}, [%1], #8" : "=w"(v), "+r"(x) : "m"(*reinterpret_cast<const int8_t(*)[8]>(x)));
  return v;
}

// kRows rows in pairs (quantize.h), for MultiplyRows. The last of an odd number is paired with itself.
template <size_t kRows>
class RowPairs {
 public:
  static constexpr size_t kPairs = (kRows + 1) / 2;

  RowPairs(const int8_t* x, size_t k) { HWY_UNROLL(8) for (size_t p = 0; p < kPairs; ++p) from_[p] = x + 2 * p * k; }
  // The next eight elements of each.
  HWY_INLINE void Load(int8x16_t (&eight)[kPairs]) {
    HWY_UNROLL(8) for (size_t p = 0; p < kRows / 2; ++p) {
      __asm__ volatile("ldr %q0, [%1], #16"
                       : "=w"(eight[p]), "+r"(from_[p])
                       : "m"(*reinterpret_cast<const int8_t(*)[16]>(from_[p])));
    }
    if constexpr (kRows % 2 == 1) eight[kPairs - 1] = NextTwice(from_[kPairs - 1]);
  }
  // The next sixteen of whole pair p.
  HWY_INLINE void Load(size_t p, int8x16_t& low, int8x16_t& high) {
    __asm__ volatile("ldp %q0, %q1, [%2], #32"
                     : "=&w"(low), "=&w"(high), "+r"(from_[p])
                     : "m"(*reinterpret_cast<const int8_t(*)[32]>(from_[p])));
  }
  // The next sixteen of each.
  HWY_INLINE void Load(int8x16_t (&low)[kPairs], int8x16_t (&high)[kPairs]) {
    HWY_UNROLL(8) for (size_t p = 0; p < kRows / 2; ++p) Load(p, low[p], high[p]);
    if constexpr (kRows % 2 == 1) {
      low[kPairs - 1] = NextTwice(from_[kPairs - 1]);
      high[kPairs - 1] = NextTwice(from_[kPairs - 1]);
    }
  }

 private:
  const int8_t* from_[kPairs];
};

// Four columns of row r of two vectors of a pair, each of two columns.
HWY_INLINE float32x4_t OfRow(size_t r, float32x4_t low, float32x4_t high) {
  const float64x2_t a = vreinterpretq_f64_f32(low), b = vreinterpretq_f64_f32(high);
  return vreinterpretq_f32_f64(r % 2 == 0 ? vzip1q_f64(a, b) : vzip2q_f64(a, b));
}
HWY_INLINE int32x4_t OfRow(size_t r, int32x4_t low, int32x4_t high) {
  const int64x2_t a = vreinterpretq_s64_s32(low), b = vreinterpretq_s64_s32(high);
  return vreinterpretq_s32_s64(r % 2 == 0 ? vzip1q_s64(a, b) : vzip2q_s64(a, b));
}

// A pair's parameters: the first row's in the first two lanes. The last of an odd number of rows is paired with itself.
struct PairParams {
  int32x4_t zero_points;
  float32x4_t scales;
};
template <size_t kRows>
HWY_INLINE PairParams ParamsOfPair(const QuantParams* params, size_t p) {
  static_assert(sizeof(QuantParams) == 8 && offsetof(QuantParams, scale) == 4, "two vectors are loaded as one");
  const int32x4_t both = vreinterpretq_s32_s8(
      2 * p + 1 < kRows ? LoadBytes(params + 2 * p) : LoadTwice(reinterpret_cast<const int8_t*>(params + 2 * p)));
  return {vtrn1q_s32(both, both), vreinterpretq_f32_s32(vtrn2q_s32(both, both))};
}

}  // namespace arm
}  // namespace fovea

#endif  // FOVEA_GEMM_PACKED_ARM || FOVEA_GEMM_IN_PLACE_ARM

#endif  // FOVEA_RUNTIME_KERNELS_GEMM_ARM_INL_H_
