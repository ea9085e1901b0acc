// int8 rows times packed int8 weights on 64-bit Arm. Every kernel gives the bits of XNNPACK's for several rows.
//
// A block of columns is packed as an int32 per column (minus the sum of its weights), then weights, a number of
// consecutive elements of k for each column, padded with zeros, then a scale and a bias per column.
#include "runtime/kernels/gemm_arm-inl.h"
#include "runtime/kernels/gemm_arm.h"

#if FOVEA_GEMM_PACKED_ARM

namespace fovea {
namespace arm {
namespace {

// Writes columns 4 j to 4 j + 3 of kRows rows, given their integer sums. `last` has the scales of kColumns columns.
// XNNPACK's assembly kernels multiply both scales first and do not fuse the addition.
template <size_t kColumns, bool kScalesFirst, size_t kRows>
HWY_INLINE void Finish(const QuantParams* params, const uint8_t* last, size_t j, const int32x4_t (&sums)[kRows],
                       const Block& block) {
  const float32x4_t scales = LoadFloats(last + j * 16), biases = LoadFloats(last + kColumns * 4 + j * 16);
  HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
    const float32x4_t exact = vcvtq_f32_s32(sums[r]);
    const float32x4_t v = kScalesFirst ? vaddq_f32(vmulq_f32(exact, vmulq_n_f32(scales, params[r].scale)), biases)
                                       : vfmaq_f32(biases, vmulq_n_f32(exact, params[r].scale), scales);
    vst1q_f32(block.y + r * block.stride + 4 * j, v);
  }
}

// ---- Dot products (SDOT): blocks of 16 columns, four of k.

template <size_t kRows>
HWY_INLINE void MultiplyDot(const GemmTile& tile, size_t row, const Block& block) {
  const size_t k = tile.k;
  const int8_t* x = static_cast<const int8_t*>(tile.x) + row * k;
  const int8_t* const end = x + k;
  const QuantParams* params = tile.params + row;
  const uint8_t* w = block.weights;
  int32x4_t sums[4][kRows];
  HWY_UNROLL(4) for (size_t j = 0; j < 4; ++j) {
    const int32x4_t minus_sums = LoadInts(w + 16 * j);
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) sums[j][r] = vmulq_n_s32(minus_sums, params[r].zero_point);
  }
  w += 64;
  for (const int8_t* const last = x + k / 16 * 16; x != last; x += 16, w += 256) {
    int8x16_t sixteen[kRows];
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) sixteen[r] = LoadBytes(x + r * k);
    AddFour<0, 0>(w, sixteen, sums);
    AddFour<1, 64>(w, sixteen, sums);
    AddFour<2, 128>(w, sixteen, sums);
    AddFour<3, 192>(w, sixteen, sums);
  }
  for (; x < end; x += 4, w += 64) {
    int8x16_t four[kRows];
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) four[r] = LoadBytes(x + r * k);
    AddFour<0, 0>(w, four, sums);
  }
  HWY_UNROLL(4) for (size_t j = 0; j < 4; ++j) Finish<16, true>(params, w, j, sums[j], block);
}

void GemmDot(const GemmTile& tile) {
  const size_t block_bytes = 16 * ((tile.k + 3) / 4 * 4 + 12);
  const auto* weights = static_cast<const uint8_t*>(tile.weights);
  for (size_t c = 0; c < tile.columns; c += 16, weights += block_bytes) {
    ForRows<6, 4, 3, 2, 1>(tile, weights, c, 16, [&](auto height, size_t row, const Block& block) {
      MultiplyDot<height()>(tile, row, block);
    });
  }
}

// ---- Matrix products (SMMLA): blocks of 16 columns, eight of k. A vector of sums is of two rows and two columns.

template <size_t kPairs>
HWY_INLINE void AddEight(const uint8_t* w, const int8x16_t (&x)[kPairs], int32x4_t (&sums)[8][kPairs]) {
  HWY_UNROLL(4) for (size_t j = 0; j < 8; j += 2) {
    int8x16_t eight[2];
    LoadPair<0>(w + 16 * j, eight[0], eight[1]);
    HWY_UNROLL(2) for (size_t i = 0; i < 2; ++i) {
      HWY_UNROLL(4) for (size_t p = 0; p < kPairs; ++p) {
        sums[j + i][p] = MultiplyRows(sums[j + i][p], x[p], eight[i]);
      }
    }
  }
}

// The last of an odd number of rows is multiplied twice.
template <size_t kRows>
HWY_INLINE void MultiplyMatrix(const GemmTile& tile, size_t row, const Block& block) {
  constexpr size_t kPairs = (kRows + 1) / 2;
  const size_t k = tile.k;
  const int8_t* x = static_cast<const int8_t*>(tile.x) + row * k;
  const QuantParams* params = tile.params + row;
  const uint8_t* w = block.weights;
  int32x4_t sums[8][kPairs];
  HWY_UNROLL(8) for (size_t j = 0; j < 8; ++j) {
    const int32x2_t two = vld1_s32(reinterpret_cast<const int32_t*>(w) + 2 * j);
    HWY_UNROLL(4) for (size_t p = 0; p < kPairs; ++p) {
      sums[j][p] = vcombine_s32(vmul_n_s32(two, params[2 * p].zero_point),
                                vmul_n_s32(two, params[HWY_MIN(2 * p + 1, kRows - 1)].zero_point));
    }
  }
  w += 64;
  RowPairs<kRows> rows(x, k);
  int8x16_t eight[kPairs];
  for (size_t left = k / 16; left != 0; --left, w += 256) {
    rows.Load(eight);
    AddEight(w, eight, sums);
    rows.Load(eight);
    AddEight(w + 128, eight, sums);
  }
  for (size_t i = k / 16 * 16; i < k; i += 8, w += 128) {
    rows.Load(eight);
    AddEight(w, eight, sums);
  }
  HWY_UNROLL(4) for (size_t j = 0; j < 4; ++j) {
    int32x4_t of_rows[kRows];
    HWY_UNROLL(4) for (size_t p = 0; p < kPairs; ++p) {
      const int64x2_t low = vreinterpretq_s64_s32(sums[2 * j][p]), high = vreinterpretq_s64_s32(sums[2 * j + 1][p]);
      of_rows[2 * p] = vreinterpretq_s32_s64(vzip1q_s64(low, high));
      if (2 * p + 1 < kRows) of_rows[2 * p + 1] = vreinterpretq_s32_s64(vzip2q_s64(low, high));
    }
    Finish<16, false>(params, w, j, of_rows, block);
  }
}

void GemmMatrix(const GemmTile& tile) {
  const size_t block_bytes = 16 * ((tile.k + 7) / 8 * 8 + 12);
  const auto* weights = static_cast<const uint8_t*>(tile.weights);
  for (size_t c = 0; c < tile.columns; c += 16, weights += block_bytes) {
    ForRows<6, 4, 3, 2, 1>(tile, weights, c, 16, [&](auto height, size_t row, const Block& block) {
      MultiplyMatrix<height()>(tile, row, block);
    });
  }
}

// ---- Products of bytes in 16 bits (SMULL, SMLAL): blocks of eight columns, two of k. Four groups of such pairs rotate
// over the columns: column c has pair (c + g) % 4 of eight consecutive elements in group g. Two products fit 16 bits
// because weights are at least -127.

// Adds eight of k, or sixteen in two turns, of which `w` has group kGroup.
template <size_t kTurns, size_t kRows, size_t kVectors>
HWY_INLINE void AddGroup(const uint8_t* w, size_t block_bytes, const int8x16_t (&x)[kTurns][kRows],
                         int32x4_t (&sums)[kVectors][kRows]) {
  HWY_UNROLL(2) for (size_t b = 0; b < kVectors / 2; ++b) {
    int8x16_t group[kTurns];
    HWY_UNROLL(2) for (size_t t = 0; t < kTurns; ++t) group[t] = LoadBytes(w + b * block_bytes + 64 * t);
    constexpr size_t kAtOnce = HWY_MIN(kRows, 2);  // a product waits for the one before in its sum
    const auto in_order = [](auto& low, auto& high) {
      if constexpr (kRows > 1) InOrder(low), InOrder(high);
    };
    HWY_UNROLL(4) for (size_t row = 0; row < kRows; row += kAtOnce) {
      int16x8_t low[kAtOnce], high[kAtOnce];
      HWY_UNROLL(2) for (size_t r = 0; r < kAtOnce; ++r) {
        low[r] = vmull_s8(vget_low_s8(group[0]), vget_low_s8(x[0][row + r]));
        high[r] = vmull_high_s8(group[0], x[0][row + r]);
        if constexpr (kTurns == 1) in_order(low[r], high[r]);
      }
      if constexpr (kTurns == 2) {
        HWY_UNROLL(2) for (size_t r = 0; r < kAtOnce; ++r) {
          low[r] = vmlal_s8(low[r], vget_low_s8(group[1]), vget_low_s8(x[1][row + r]));
          high[r] = vmlal_high_s8(high[r], group[1], x[1][row + r]);
          in_order(low[r], high[r]);
        }
      }
      HWY_UNROLL(2) for (size_t r = 0; r < kAtOnce; ++r) {
        sums[2 * b][row + r] = vpadalq_s16(sums[2 * b][row + r], low[r]);
        sums[2 * b + 1][row + r] = vpadalq_s16(sums[2 * b + 1][row + r], high[r]);
        in_order(sums[2 * b][row + r], sums[2 * b + 1][row + r]);
      }
    }
  }
}

template <size_t kTurns, size_t kRows, size_t kVectors>
HWY_INLINE void AddTurns(const int8_t* from, size_t k, const uint8_t* w, size_t block_bytes,
                         int32x4_t (&sums)[kVectors][kRows]) {
  int8x16_t x[kTurns][kRows];  // eight elements, twice
  HWY_UNROLL(2) for (size_t t = 0; t < kTurns; ++t) {
    HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) { x[t][r] = LoadTwice(from + r * k + 8 * t); }
  }
  HWY_UNROLL(4) for (size_t group = 0; group < 4; ++group) {
    AddGroup(w + 16 * group, block_bytes, x, sums);
    if (group == 3) break;
    HWY_UNROLL(2) for (size_t t = 0; t < kTurns; ++t) {
      HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) x[t][r] = vextq_s8(x[t][r], x[t][r], 2);
    }
  }
}

template <size_t kRows, size_t kBlocks>
HWY_INLINE void MultiplyPairs(const GemmTile& tile, size_t row, size_t block_bytes, const Block& block) {
  const size_t k = tile.k;
  const int8_t* x = static_cast<const int8_t*>(tile.x) + row * k;
  const int8_t* const end = x + k;
  const QuantParams* params = tile.params + row;
  const uint8_t* w = block.weights;
  int32x4_t sums[2 * kBlocks][kRows];
  HWY_UNROLL(4) for (size_t j = 0; j < 2 * kBlocks; ++j) {
    const int32x4_t minus_sums = LoadInts(w + j / 2 * block_bytes + j % 2 * 16);
    HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) sums[j][r] = vmulq_n_s32(minus_sums, params[r].zero_point);
  }
  w += 32;
  for (const int8_t* const last = x + k / 16 * 16; x != last; x += 16, w += 128) {
    AddTurns<2>(x, k, w, block_bytes, sums);
  }
  if (x < end) {
    const bool two = end - x > 8;
    AddTurns<1>(x, k, w, block_bytes, sums);
    if (two) AddTurns<1>(x + 8, k, w + 64, block_bytes, sums);
    w += two ? 128 : 64;
  }
  HWY_UNROLL(2) for (size_t b = 0; b < kBlocks; ++b) {
    const Block part = {nullptr, block.y + 8 * b, block.stride};
    HWY_UNROLL(2) for (size_t j = 0; j < 2; ++j) {
      Finish<8, false>(params, w + b * block_bytes, j, sums[2 * b + j], part);
    }
  }
}

void GemmPairs(const GemmTile& tile) {
  const size_t block_bytes = 8 * ((tile.k + 7) / 8 * 8 + 12);
  const auto* weights = static_cast<const uint8_t*>(tile.weights);
  for (size_t c = 0; c < tile.columns; c += 16, weights += 2 * block_bytes) {
    if (tile.columns - c > 8) {
      ForRows<4, 2, 1>(tile, weights, c, 16, [&](auto height, size_t row, const Block& block) {
        MultiplyPairs<height(), 2>(tile, row, block_bytes, block);
      });
    } else {
      ForRows<4, 1>(tile, weights, c, 8, [&](auto height, size_t row, const Block& block) {
        MultiplyPairs<height(), 1>(tile, row, block_bytes, block);
      });
    }
  }
}

}  // namespace
}  // namespace arm

void GemmArmI8(const GemmTile& tile) { arm::ForPacking(tile, arm::GemmMatrix, arm::GemmDot, arm::GemmPairs); }

}  // namespace fovea

#endif  // FOVEA_GEMM_PACKED_ARM
