// int8 rows times packed int4 weights on 64-bit Arm. Integer sums of 32 elements are exact and do not leave registers:
// XNNPACK's kernels keep more sums than there are. Scaled sums are f32, added in the order of k.
//
// A block is sixteen columns: a float per column (the sum of its scaled weights), then for every 32 of k weights and a
// bf16 scale per column, then sixteen biases. A byte holds a weight in its low half and, in its high half, one of as
// many elements later as the kernel takes consecutively, both signed. Scales are stored divided by 16.
#include "runtime/kernels/gemm_arm-inl.h"
#include "runtime/kernels/gemm_arm.h"

#if FOVEA_GEMM_PACKED_ARM

namespace fovea {
namespace arm {
namespace {

constexpr size_t kColumns = 16, kDepth = 32;
constexpr size_t kWeightBytes = kColumns * kDepth / 2, kStepBytes = kWeightBytes + kColumns * sizeof(uint16_t);

// Sixteen times the weights in the low and in the high halves of bytes.
HWY_INLINE int8x16_t LowHalves(int8x16_t bytes) { return vshlq_n_s8(bytes, 4); }
HWY_INLINE int8x16_t HighHalves(int8x16_t bytes) { return vandq_s8(bytes, vdupq_n_s8(-16)); }

// The scales of columns 8 i to 8 i + 7, given the scales of a step.
HWY_INLINE void LoadScales(const uint8_t* scales, size_t i, float32x4_t& low, float32x4_t& high) {
  const uint16x8_t halves = vld1q_u16(reinterpret_cast<const uint16_t*>(scales) + 8 * i);
  low = vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(halves), 16));
  high = vreinterpretq_f32_u32(vshll_high_n_u16(halves, 16));
}

// Writes four columns of a row at y.
HWY_INLINE void Finish(float32x4_t sums, float scale, const uint8_t* biases, float* y) {
  vst1q_f32(y, vfmaq_n_f32(LoadFloats(biases), sums, scale));
}

HWY_INLINE float ZeroPoint(const QuantParams& params) { return static_cast<float>(params.zero_point); }

template <size_t kMost, size_t... kLess, class Multiply>
HWY_INLINE void ForBlocks(const GemmTile& tile, const Multiply& multiply) {
  const size_t block_bytes = 2 * kColumns * sizeof(float) + tile.k / kDepth * kStepBytes;
  const auto* weights = static_cast<const uint8_t*>(tile.weights);
  for (size_t c = 0; c < tile.columns; c += kColumns, weights += block_bytes) {
    ForRows<kMost, kLess...>(tile, weights, c, kColumns, multiply);
  }
}

// ---- Dot products (SDOT): four of k.

// Eight of k, from 8 * kEight on, of which x has sixteen.
template <uint32_t kEight, size_t kRows, size_t kVectors>
HWY_INLINE void AddEight(const uint8_t* w, const int8x16_t (&x)[kRows], int32x4_t (&sums)[kRows][kVectors]) {
  HWY_UNROLL(2) for (size_t pair = 0; pair < kVectors; pair += 2) {
    int8x16_t bytes[2];
    LoadPair<64 * kEight>(w + 16 * pair, bytes[0], bytes[1]);
    HWY_UNROLL(2) for (size_t j = 0; j < 2; ++j) {
      const int8x16_t low = LowHalves(bytes[j]), high = HighHalves(bytes[j]);
      constexpr uint32_t kLane = kEight % 2 * 2;
      HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
        sums[r][pair + j] = DotWithLane<kLane>(sums[r][pair + j], low, x[r]);
      }
      HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
        sums[r][pair + j] = DotWithLane<kLane + 1>(sums[r][pair + j], high, x[r]);
      }
    }
  }
}

// 4 kVectors columns, from `first` on.
template <size_t kRows, size_t kVectors>
HWY_INLINE void MultiplyDot(const GemmTile& tile, size_t row, const Block& block, size_t first) {
  const size_t k = tile.k;
  const QuantParams* params = tile.params + row;
  float32x4_t sums[kRows][kVectors];
  HWY_UNROLL(4) for (size_t j = 0; j < kVectors; ++j) {
    const float32x4_t of_column = LoadFloats(block.weights + 4 * first + 16 * j);
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) sums[r][j] = vmulq_n_f32(of_column, ZeroPoint(params[r]));
  }
  const uint8_t* w = block.weights + kColumns * sizeof(float);
  const int8_t* x = static_cast<const int8_t*>(tile.x) + row * k;
  for (const int8_t* const end = x + k; x != end; x += kDepth, w += kStepBytes) {
    int32x4_t exact[kRows][kVectors];
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
      HWY_UNROLL(4) for (size_t j = 0; j < kVectors; ++j) exact[r][j] = vdupq_n_s32(0);
    }
    int8x16_t sixteen[kRows];
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) sixteen[r] = LoadBytes(x + r * k);
    AddEight<0>(w + 4 * first, sixteen, exact);
    AddEight<1>(w + 4 * first, sixteen, exact);
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) sixteen[r] = LoadBytes(x + r * k + 16);
    AddEight<2>(w + 4 * first, sixteen, exact);
    AddEight<3>(w + 4 * first, sixteen, exact);
    HWY_UNROLL(2) for (size_t j = 0; j < kVectors; j += 2) {
      float32x4_t low, high;
      LoadScales(w + kWeightBytes, first / 8 + j / 2, low, high);
      HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
        sums[r][j] = vfmaq_f32(sums[r][j], vcvtq_f32_s32(exact[r][j]), low);
        sums[r][j + 1] = vfmaq_f32(sums[r][j + 1], vcvtq_f32_s32(exact[r][j + 1]), high);
      }
    }
  }
  HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(4) for (size_t j = 0; j < kVectors; ++j) {
      const size_t column = first + 4 * j;
      Finish(sums[r][j], params[r].scale, w + 4 * column, block.y + r * block.stride + column);
    }
  }
}

void GemmDot(const GemmTile& tile) {
  ForBlocks<6, 4, 2, 1>(tile, [&](auto height, size_t row, const Block& block) {
    constexpr size_t kVectors = height() > 2 ? 2 : 4;
    for (size_t first = 0; first < kColumns; first += 4 * kVectors) {
      MultiplyDot<height(), kVectors>(tile, row, block, first);
    }
  });
}

// ---- Matrix products (SMMLA): eight of k. A vector of sums is of two rows and two columns.

// Eight of k for 2 kVectors columns, in the low or the high halves of bytes.
template <bool kHigh, size_t kPairs, size_t kVectors>
HWY_INLINE void AddHalves(const uint8_t* w, const int8x16_t (&x)[kPairs], int32x4_t (&sums)[kPairs][kVectors]) {
  HWY_UNROLL(4) for (size_t j = 0; j < kVectors; j += 2) {
    int8x16_t bytes[2];
    LoadPair<0>(w + 16 * j, bytes[0], bytes[1]);
    HWY_UNROLL(2) for (size_t i = 0; i < 2; ++i) {
      const int8x16_t eight = kHigh ? HighHalves(bytes[i]) : LowHalves(bytes[i]);
      HWY_UNROLL(4) for (size_t p = 0; p < kPairs; ++p) sums[p][j + i] = MultiplyRows(sums[p][j + i], x[p], eight);
    }
  }
}

HWY_INLINE float32x4_t LowTwice(float32x4_t v) { return vcombine_f32(vget_low_f32(v), vget_low_f32(v)); }
HWY_INLINE float32x4_t HighTwice(float32x4_t v) { return vcombine_f32(vget_high_f32(v), vget_high_f32(v)); }

// 2 kVectors columns, from `first` on. The last of an odd number of rows is multiplied twice.
template <size_t kRows, size_t kVectors>
HWY_INLINE void MultiplyMatrix(const GemmTile& tile, size_t row, const Block& block, size_t first) {
  constexpr size_t kPairs = (kRows + 1) / 2;
  const size_t k = tile.k;
  const QuantParams* params = tile.params + row;
  float32x4_t sums[kPairs][kVectors];
  HWY_UNROLL(8) for (size_t j = 0; j < kVectors; ++j) {
    const float32x2_t two = vld1_f32(reinterpret_cast<const float*>(block.weights) + first + 2 * j);
    HWY_UNROLL(4) for (size_t p = 0; p < kPairs; ++p) {
      sums[p][j] = vcombine_f32(vmul_n_f32(two, ZeroPoint(params[2 * p])),
                                vmul_n_f32(two, ZeroPoint(params[HWY_MIN(2 * p + 1, kRows - 1)])));
    }
  }
  const uint8_t* w = block.weights + kColumns * sizeof(float);
  RowPairs<kRows> rows(static_cast<const int8_t*>(tile.x) + row * k, k);
  for (size_t left = k / kDepth; left != 0; --left, w += kStepBytes) {
    int32x4_t exact[kPairs][kVectors];
    HWY_UNROLL(4) for (size_t p = 0; p < kPairs; ++p) {
      HWY_UNROLL(8) for (size_t j = 0; j < kVectors; ++j) exact[p][j] = vdupq_n_s32(0);
    }
    HWY_UNROLL(2) for (size_t half = 0; half < 2; ++half) {
      const uint8_t* columns = w + 128 * half + 8 * first;
      int8x16_t eight[kPairs];
      rows.Load(eight);
      AddHalves<false>(columns, eight, exact);
      rows.Load(eight);
      AddHalves<true>(columns, eight, exact);
    }
    HWY_UNROLL(2) for (size_t j = 0; j < kVectors; j += 4) {
      float32x4_t low, high;
      LoadScales(w + kWeightBytes, first / 8 + j / 4, low, high);
      const float32x4_t scales[4] = {LowTwice(low), HighTwice(low), LowTwice(high), HighTwice(high)};
      HWY_UNROLL(4) for (size_t i = 0; i < 4; ++i) {
        HWY_UNROLL(4) for (size_t p = 0; p < kPairs; ++p) {
          sums[p][j + i] = vfmaq_f32(sums[p][j + i], vcvtq_f32_s32(exact[p][j + i]), scales[i]);
        }
      }
    }
  }
  HWY_UNROLL(4) for (size_t j = 0; j < kVectors; j += 2) {
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
      const float64x2_t low = vreinterpretq_f64_f32(sums[r / 2][j]), high = vreinterpretq_f64_f32(sums[r / 2][j + 1]);
      const float64x2_t four = r % 2 == 0 ? vzip1q_f64(low, high) : vzip2q_f64(low, high);
      const size_t column = first + 2 * j;
      Finish(vreinterpretq_f32_f64(four), params[r].scale, w + 4 * column, block.y + r * block.stride + column);
    }
  }
}

// One row, multiplied twice; half of each vector of sums is used.
HWY_INLINE void MultiplyRow(const GemmTile& tile, size_t row, const Block& block) {
  const size_t k = tile.k;
  const QuantParams& params = tile.params[row];
  float32x4_t sums[4];
  HWY_UNROLL(4) for (size_t j = 0; j < 4; ++j) {
    sums[j] = vmulq_n_f32(LoadFloats(block.weights + 16 * j), ZeroPoint(params));
  }
  const uint8_t* w = block.weights + kColumns * sizeof(float);
  const int8_t* x = static_cast<const int8_t*>(tile.x) + row * k;
  for (const int8_t* const end = x + k; x != end; x += kDepth, w += kStepBytes) {
    int32x4_t exact[1][8];
    HWY_UNROLL(8) for (size_t j = 0; j < 8; ++j) exact[0][j] = vdupq_n_s32(0);
    HWY_UNROLL(2) for (size_t half = 0; half < 2; ++half) {
      AddHalves<false>(w + 128 * half, {LoadTwice(x + 16 * half)}, exact);
      AddHalves<true>(w + 128 * half, {LoadTwice(x + 16 * half + 8)}, exact);
    }
    HWY_UNROLL(2) for (size_t j = 0; j < 4; j += 2) {
      float32x4_t scales[2];
      LoadScales(w + kWeightBytes, j / 2, scales[0], scales[1]);
      HWY_UNROLL(2) for (size_t i = 0; i < 2; ++i) {
        const int64x2_t low = vreinterpretq_s64_s32(exact[0][2 * (j + i)]);
        const int64x2_t high = vreinterpretq_s64_s32(exact[0][2 * (j + i) + 1]);
        const int32x4_t four = vreinterpretq_s32_s64(vzip1q_s64(low, high));
        sums[j + i] = vfmaq_f32(sums[j + i], vcvtq_f32_s32(four), scales[i]);
      }
    }
  }
  HWY_UNROLL(4) for (size_t j = 0; j < 4; ++j) Finish(sums[j], params.scale, w + 16 * j, block.y + 4 * j);
}

void GemmMatrix(const GemmTile& tile) {
  ForBlocks<6, 4, 3, 2, 1>(tile, [&](auto height, size_t row, const Block& block) {
    constexpr size_t kRows = height(), kVectors = kRows > 2 ? 4 : 8;
    if constexpr (kRows == 1) return MultiplyRow(tile, row, block);
    for (size_t first = 0; first < kColumns; first += 2 * kVectors) {
      MultiplyMatrix<kRows, kVectors>(tile, row, block, first);
    }
  });
}

// ---- Products in 16 bits: single elements of k. A sum of 32 products of a byte and a weight is from -32512 to 32768:
// it fits when it begins at -128. Weights are a sixteenth of what the scales are for.

constexpr int16_t kBegin = -128;

// Few rows: elements of x are repeated in all lanes and multiplied as bytes (SMLAL).
template <size_t kRows>
struct ByBytes {
  static constexpr size_t kHalves = 2;  // eight columns each

  // 32 of k.
  static HWY_INLINE void Add(const uint8_t* w, const int8_t* from, size_t k, int16x8_t (&sums)[2][kRows]) {
    const int8_t* x[kRows];
    HWY_UNROLL(2) for (size_t r = 0; r < kRows; ++r) x[r] = from + r * k;
    for (const uint8_t* const end = w + kWeightBytes; w != end; w += 4 * kColumns) {
      HWY_UNROLL(4) for (size_t two = 0; two < 4; ++two) AddTwo(w + two * kColumns, x, sums);
    }
  }

 private:
  static HWY_INLINE void AddTwo(const uint8_t* w, const int8_t* (&x)[kRows], int16x8_t (&sums)[2][kRows]) {
    const int8x16_t bytes = LoadBytes(w);
    const int8x16_t weights[2] = {vshrq_n_s8(vshlq_n_s8(bytes, 4), 4), vshrq_n_s8(bytes, 4)};
    int8x16x2_t elements[kRows];
    HWY_UNROLL(2) for (size_t r = 0; r < kRows; ++r) {
      elements[r] = vld2q_dup_s8(x[r]);
      x[r] += 2;
      __asm__("" : "+r"(x[r]));  // or each address is computed from one that does not move
    }
    HWY_UNROLL(2) for (size_t odd = 0; odd < 2; ++odd) {
      HWY_UNROLL(2) for (size_t r = 0; r < kRows; ++r) {
        const int8x16_t element = elements[r].val[odd];
        sums[0][r] = vmlal_s8(sums[0][r], vget_low_s8(weights[odd]), vget_low_s8(element));
        sums[1][r] = vmlal_high_s8(sums[1][r], weights[odd], element);
        InOrder(sums[0][r]), InOrder(sums[1][r]);
      }
    }
  }
};

// Several rows: weights and x are widened to 16 bits, and elements of x stay lanes of a vector (MLA).
template <size_t kRows>
struct ByLanes {
  static constexpr size_t kHalves = 1;

  static HWY_INLINE void Add(const uint8_t* w, const int8_t* x, size_t k, int16x8_t (&sums)[1][kRows]) {
    for (const int8_t* const end = x + kDepth; x != end; x += 8, w += 4 * kColumns) {
      int16x8_t eight[kRows];
      HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
        eight[r] = vmovl_s8(vld1_s8(x + r * k));
        InOrder(eight[r]);  // or clang 19 widens each element by itself
      }
      AddTwo<0>(w, eight, sums[0]);
      AddTwo<1>(w, eight, sums[0]);
      AddTwo<2>(w, eight, sums[0]);
      AddTwo<3>(w, eight, sums[0]);
    }
  }

 private:
  template <int kTwo>
  static HWY_INLINE void AddTwo(const uint8_t* w, const int16x8_t (&x)[kRows], int16x8_t (&sums)[kRows]) {
    const int16x8_t bytes = vmovl_s8(vld1_s8(reinterpret_cast<const int8_t*>(w) + kColumns * kTwo));
    const int16x8_t even = vshrq_n_s16(vshlq_n_s16(bytes, 12), 12), odd = vshrq_n_s16(bytes, 4);
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
      sums[r] = vmlaq_laneq_s16(sums[r], even, x[r], 2 * kTwo);
      InOrder(sums[r]);
    }
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
      sums[r] = vmlaq_laneq_s16(sums[r], odd, x[r], 2 * kTwo + 1);
      InOrder(sums[r]);
    }
  }
};

// 8 kHalves columns, from `first` on.
template <class Products, size_t kRows>
HWY_INLINE void MultiplyElements(const GemmTile& tile, size_t row, const Block& block, size_t first) {
  constexpr size_t kHalves = Products::kHalves;
  const size_t k = tile.k;
  const QuantParams* params = tile.params + row;
  float32x4_t sums[2 * kHalves][kRows];
  HWY_UNROLL(4) for (size_t j = 0; j < 2 * kHalves; ++j) {
    const float32x4_t of_column = LoadFloats(block.weights + 4 * first + 16 * j);
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
      sums[j][r] = vmulq_n_f32(of_column, ZeroPoint(params[r]) * 0.0625f);
    }
  }
  const uint8_t* w = block.weights + kColumns * sizeof(float);
  const int8_t* x = static_cast<const int8_t*>(tile.x) + row * k;
  for (const int8_t* const end = x + k; x != end; x += kDepth, w += kStepBytes) {
    int16x8_t exact[kHalves][kRows];
    HWY_UNROLL(2) for (size_t h = 0; h < kHalves; ++h) {
      HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) exact[h][r] = vdupq_n_s16(kBegin);
    }
    Products::Add(w + first, x, k, exact);
    const int16x8_t back = vdupq_n_s16(-kBegin);
    HWY_UNROLL(2) for (size_t h = 0; h < kHalves; ++h) {
      float32x4_t low, high;
      LoadScales(w + kWeightBytes, first / 8 + h, low, high);
      HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
        const int32x4_t four = vaddl_s16(vget_low_s16(exact[h][r]), vget_low_s16(back));
        sums[2 * h][r] = vfmaq_f32(sums[2 * h][r], vcvtq_f32_s32(four), low);
        sums[2 * h + 1][r] = vfmaq_f32(sums[2 * h + 1][r], vcvtq_f32_s32(vaddl_high_s16(exact[h][r], back)), high);
      }
    }
  }
  HWY_UNROLL(4) for (size_t j = 0; j < 2 * kHalves; ++j) {
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
      const size_t column = first + 4 * j;
      Finish(sums[j][r], params[r].scale * 16, w + 4 * column, block.y + r * block.stride + column);
    }
  }
}

void GemmElements(const GemmTile& tile) {
  ForBlocks<6, 4, 2, 1>(tile, [&](auto height, size_t row, const Block& block) {
    constexpr size_t kRows = height();
    using Products = std::conditional_t<(kRows > 2), ByLanes<kRows>, ByBytes<kRows>>;
    for (size_t first = 0; first < kColumns; first += 8 * Products::kHalves) {
      MultiplyElements<Products, kRows>(tile, row, block, first);
    }
  });
}

}  // namespace
}  // namespace arm

void GemmArmI4(const GemmTile& tile) { arm::ForPacking(tile, arm::GemmMatrix, arm::GemmDot, arm::GemmElements); }

}  // namespace fovea

#endif  // FOVEA_GEMM_PACKED_ARM
