// int8 rows times packed int4 weights on 64-bit Arm. Integer sums of 32 elements are exact and do not leave registers:
// XNNPACK's kernels keep more sums than there are. Scaled sums are f32, added in the order of k.
//
// A block is sixteen columns (without dot products four): a float per column (the sum of its scaled weights), then for
// every 32 of k weights and a bf16 scale per column, then a bias per column. A byte holds a weight in its low half and,
// in its high half, one of as many elements later as the kernel takes consecutively, both signed. Scales are stored
// divided by 16.
#include "runtime/kernels/gemm_arm-inl.h"
#include "runtime/kernels/gemm_arm.h"

#if FOVEA_GEMM_PACKED_ARM

namespace fovea {
namespace arm {
namespace {

constexpr size_t kColumns = 16, kDepth = 32;
constexpr size_t kWeightBytes = kColumns * kDepth / 2, kStepBytes = kWeightBytes + kColumns * sizeof(uint16_t);
constexpr size_t kFourStep = 4 * kDepth / 2 + 4 * sizeof(uint16_t);

// Sixteen times the weights in the low and in the high halves of bytes.
HWY_INLINE int8x16_t LowHalves(int8x16_t bytes) { return vshlq_n_s8(bytes, 4); }
HWY_INLINE int8x16_t HighHalves(int8x16_t bytes) { return vandq_s8(bytes, vdupq_n_s8(-16)); }

// The scales of columns 8 i to 8 i + 7, given the scales of a step.
HWY_INLINE void LoadScales(const uint8_t* scales, size_t i, float32x4_t& low, float32x4_t& high) {
  const uint16x8_t halves = vld1q_u16(reinterpret_cast<const uint16_t*>(scales) + 8 * i);
  low = vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(halves), 16));
  high = vreinterpretq_f32_u32(vshll_high_n_u16(halves, 16));
}

// The four scales there.
HWY_INLINE float32x4_t FourScales(const uint8_t* scales) {
  return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(reinterpret_cast<const uint16_t*>(scales)), 16));
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

// Sixteen of k for four columns and many rows, a pair after another.
template <size_t kRows, size_t kPairs>
HWY_INLINE void AddSixteen(const uint8_t* w, RowPairs<kRows>& rows, int32x4_t (&sums)[kPairs][2]) {
  int8x16_t bytes[2];
  LoadPair<0>(w, bytes[0], bytes[1]);
  const int8x16_t low[2] = {LowHalves(bytes[0]), LowHalves(bytes[1])};
  const int8x16_t high[2] = {HighHalves(bytes[0]), HighHalves(bytes[1])};
  int8x16_t first[2], second[2];  // the next pair is loaded ahead for in-order processors
  rows.Load(0, first[0], second[0]);
  HWY_UNROLL(8) for (size_t p = 0; p < kPairs; ++p) {
    if (p + 1 < kPairs) rows.Load(p + 1, first[(p + 1) % 2], second[(p + 1) % 2]);
    HWY_UNROLL(2) for (size_t j = 0; j < 2; ++j) sums[p][j] = MultiplyRows(sums[p][j], first[p % 2], low[j]);
    HWY_UNROLL(2) for (size_t j = 0; j < 2; ++j) sums[p][j] = MultiplyRows(sums[p][j], second[p % 2], high[j]);
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
  HWY_UNROLL(8) for (size_t p = 0; p < kPairs; ++p) {
    const float32x4_t zero_points = vcvtq_f32_s32(ParamsOfPair<kRows>(params, p).zero_points);
    HWY_UNROLL(8) for (size_t j = 0; j < kVectors; ++j) {
      const int8_t* two = reinterpret_cast<const int8_t*>(block.weights) + 4 * first + 8 * j;
      sums[p][j] = vmulq_f32(vreinterpretq_f32_s8(LoadTwice(two)), zero_points);
    }
  }
  const uint8_t* w = block.weights + kColumns * sizeof(float);
  RowPairs<kRows> rows(static_cast<const int8_t*>(tile.x) + row * k, k);
  for (size_t left = k / kDepth; left != 0; --left, w += kStepBytes) {
    int32x4_t exact[kPairs][kVectors];
    HWY_UNROLL(8) for (size_t p = 0; p < kPairs; ++p) {
      HWY_UNROLL(8) for (size_t j = 0; j < kVectors; ++j) exact[p][j] = vdupq_n_s32(0);
    }
    HWY_UNROLL(2) for (size_t half = 0; half < 2; ++half) {
      const uint8_t* columns = w + 128 * half + 8 * first;
      if constexpr (kVectors == 2) {
        AddSixteen(columns, rows, exact);
        continue;
      }
      int8x16_t eight[kPairs];
      rows.Load(eight);
      AddHalves<false>(columns, eight, exact);
      rows.Load(eight);
      AddHalves<true>(columns, eight, exact);
    }
    constexpr size_t kScales = kVectors < 4 ? kVectors : 4;
    HWY_UNROLL(2) for (size_t j = 0; j < kVectors; j += kScales) {
      float32x4_t low, high;
      if constexpr (kScales == 2) {
        low = high = FourScales(w + kWeightBytes + 2 * first);
      } else {
        LoadScales(w + kWeightBytes, first / 8 + j / 4, low, high);
      }
      const float32x4_t scales[4] = {LowTwice(low), HighTwice(low), LowTwice(high), HighTwice(high)};
      HWY_UNROLL(4) for (size_t i = 0; i < kScales; ++i) {
        HWY_UNROLL(8) for (size_t p = 0; p < kPairs; ++p) {
          sums[p][j + i] = vfmaq_f32(sums[p][j + i], vcvtq_f32_s32(exact[p][j + i]), scales[i]);
        }
      }
    }
  }
  HWY_UNROLL(4) for (size_t j = 0; j < kVectors; j += 2) {
    HWY_UNROLL(16) for (size_t r = 0; r < kRows; ++r) {
      const float32x4_t four = OfRow(r, sums[r / 2][j], sums[r / 2][j + 1]);
      const size_t column = first + 2 * j;
      Finish(four, params[r].scale, w + 4 * column, block.y + r * block.stride + column);
    }
  }
}

// Sixteen of k, from 16 kHalf on, of a row, for sixteen columns.
template <int kHalf>
HWY_INLINE void AddSixteen(const uint8_t* w, RowPairs<1>& row, int32x4_t (&sums)[8]) {
  int8x16_t first[1], second[1];
  row.Load(first, second);
  const auto add = [&](auto two) {
    constexpr int kTwo = static_cast<int>(two());
    int8x16_t bytes[2];
    LoadPair<128 * kHalf + 16 * kTwo>(w, bytes[0], bytes[1]);
    HWY_UNROLL(2) for (size_t i = 0; i < 2; ++i) {
      sums[kTwo + i] = MultiplyRows(sums[kTwo + i], first[0], LowHalves(bytes[i]));
      sums[kTwo + i] = MultiplyRows(sums[kTwo + i], second[0], HighHalves(bytes[i]));
    }
  };
  add(Constant<0>()), add(Constant<2>()), add(Constant<4>()), add(Constant<6>());
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
  RowPairs<1> alone(static_cast<const int8_t*>(tile.x) + row * k, k);
  for (const uint8_t* const end = w + k / kDepth * kStepBytes; w != end; w += kStepBytes) {
    int32x4_t exact[8];
    HWY_UNROLL(8) for (size_t j = 0; j < 8; ++j) exact[j] = vdupq_n_s32(0);
    AddSixteen<0>(w, alone, exact);
    AddSixteen<1>(w, alone, exact);
    HWY_UNROLL(2) for (size_t j = 0; j < 4; j += 2) {
      float32x4_t scales[2];
      LoadScales(w + kWeightBytes, j / 2, scales[0], scales[1]);
      HWY_UNROLL(2) for (size_t i = 0; i < 2; ++i) {
        const int64x2_t low = vreinterpretq_s64_s32(exact[2 * (j + i)]);
        const int64x2_t high = vreinterpretq_s64_s32(exact[2 * (j + i) + 1]);
        const int32x4_t four = vreinterpretq_s32_s64(vzip1q_s64(low, high));
        sums[j + i] = vfmaq_f32(sums[j + i], vcvtq_f32_s32(four), scales[i]);
      }
    }
  }
  HWY_UNROLL(4) for (size_t j = 0; j < 4; ++j) Finish(sums[j], params.scale, w + 16 * j, block.y + 4 * j);
}

void GemmMatrix(const GemmTile& tile) {
  ForBlocks<12, 6, 4, 3, 2, 1>(tile, [&](auto height, size_t row, const Block& block) {
    constexpr size_t kRows = height(), kVectors = kRows > 6 ? 2 : kRows > 2 ? 4 : 8;
    if constexpr (kRows == 1) return MultiplyRow(tile, row, block);
    for (size_t first = 0; first < kColumns; first += 2 * kVectors) {
      MultiplyMatrix<kRows, kVectors>(tile, row, block, first);
    }
  });
}

// ---- Products in 16 bits (SMULL, SMLAL): blocks of four columns, a vector of 32 of k for each. Weights are a
// sixteenth of what the scales are for: sums of four products, and of four of these sums, fit 16 bits.

// Products of kCount columns, from kFirst on, with rows of 32, each pair of lanes added up: a vector for two columns,
// the first one's in its lower half.
template <size_t kFirst, size_t kCount, size_t kRows>
HWY_INLINE void MultiplyColumns(const uint8_t* w, const int8x16_t (&x)[2][kRows], int16x8_t (*pairs)[kRows]) {
  int8x16_t bytes[kCount];
  LoadPair<16 * kFirst>(w, bytes[0], bytes[1]);
  if constexpr (kCount == 4) LoadPair<16 * kFirst + 32>(w, bytes[2], bytes[3]);
  int16x8_t sums[kCount][kRows];
  constexpr size_t kAtOnce = kRows > 2 ? 1 : kCount;  // columns; a product waits for the one before in its sum
  HWY_UNROLL(2) for (size_t first = 0; first < kCount; first += kAtOnce) {
    int8x16_t low[kCount], high[kCount];
    HWY_UNROLL(4) for (size_t c = first; c < first + kAtOnce; ++c) {
      low[c] = vshrq_n_s8(vshlq_n_s8(bytes[c], 4), 4);
      high[c] = vshrq_n_s8(bytes[c], 4);
    }
    HWY_UNROLL(4) for (size_t c = first; c < first + kAtOnce; ++c) {
      HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
        sums[c][r] = vmull_s8(vget_low_s8(low[c]), vget_low_s8(x[0][r]));
        InOrder(sums[c][r]);
      }
    }
    HWY_UNROLL(4) for (size_t c = first; c < first + kAtOnce; ++c) {
      HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
        sums[c][r] = vmlal_high_s8(sums[c][r], low[c], x[0][r]);
        InOrder(sums[c][r]);
      }
    }
    HWY_UNROLL(4) for (size_t c = first; c < first + kAtOnce; ++c) {
      HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
        sums[c][r] = vmlal_s8(sums[c][r], vget_low_s8(high[c]), vget_low_s8(x[1][r]));
        InOrder(sums[c][r]);
      }
    }
    HWY_UNROLL(4) for (size_t c = first; c < first + kAtOnce; ++c) {
      HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
        sums[c][r] = vmlal_high_s8(sums[c][r], high[c], x[1][r]);
        InOrder(sums[c][r]);
      }
    }
  }
  HWY_UNROLL(2) for (size_t c = 0; c < kCount; c += 2) {
    HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) pairs[c / 2][r] = vpaddq_s16(sums[c][r], sums[c + 1][r]);
  }
}

template <size_t kRows>
HWY_INLINE void MultiplyFour(const GemmTile& tile, size_t row, const Block& block) {
  const int8_t* from[kRows];
  HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) from[r] = static_cast<const int8_t*>(tile.x) + (row + r) * tile.k;
  const QuantParams* params = tile.params + row;
  const float32x4_t of_columns = LoadFloats(block.weights);
  float32x4_t sums[kRows];
  HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) sums[r] = vmulq_n_f32(of_columns, ZeroPoint(params[r]) * 0.0625f);
  const uint8_t* w = block.weights + 4 * sizeof(float);
  for (const uint8_t* const end = w + tile.k / kDepth * kFourStep; w != end; w += kFourStep) {
    int8x16_t x[2][kRows];
    HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
      LoadPair<0>(reinterpret_cast<const uint8_t*>(from[r]), x[0][r], x[1][r]);
      from[r] += kDepth;
    }
    int16x8_t pairs[2][kRows];
    if constexpr (kRows == 1) {
      MultiplyColumns<0, 4>(w, x, pairs);
    } else {
      MultiplyColumns<0, 2>(w, x, &pairs[0]);
      MultiplyColumns<2, 2>(w, x, &pairs[1]);
    }
    const uint16x4_t halves = vld1_u16(reinterpret_cast<const uint16_t*>(w + 4 * kDepth / 2));
    const float32x4_t scales = vreinterpretq_f32_u32(vshll_n_u16(halves, 16));
    HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
      const int32x4_t exact = vpaddlq_s16(vpaddq_s16(pairs[0][r], pairs[1][r]));
      sums[r] = vfmaq_f32(sums[r], vcvtq_f32_s32(exact), scales);
    }
  }
  HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
    Finish(sums[r], params[r].scale * 16, w, block.y + r * block.stride);
  }
}

void GemmPairs(const GemmTile& given) {
  const GemmTile tile = given;  // whose members no store to y can change
  const size_t four_bytes = 2 * 4 * sizeof(float) + tile.k / kDepth * kFourStep;
  ForFours(tile, four_bytes, [&](auto height, size_t row, Block block, size_t blocks) {
    for (; blocks != 0; --blocks, block.weights += four_bytes, block.y += 4) {
      MultiplyFour<height()>(tile, row, block);
    }
  });
}

}  // namespace
}  // namespace arm

void GemmArmI4(const GemmTile& tile) { arm::ForPacking(tile, arm::GemmMatrix, arm::GemmDot, arm::GemmPairs); }

}  // namespace fovea

#endif  // FOVEA_GEMM_PACKED_ARM
