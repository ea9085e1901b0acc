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

// ---- Dot products (SDOT): blocks of 16 columns, four of k.

template <int kTurn, size_t kRows>
HWY_INLINE void AddDots(const uint8_t* w, const int8_t* x, size_t k, int32x4_t (&sums)[4][kRows]) {
  int8x16_t sixteen[kRows];
  HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) sixteen[r] = LoadBytes(x + r * k);
  AddFour<0, 256 * kTurn>(w, sixteen, sums);
  AddFour<1, 256 * kTurn + 64>(w, sixteen, sums);
  AddFour<2, 256 * kTurn + 128>(w, sixteen, sums);
  AddFour<3, 256 * kTurn + 192>(w, sixteen, sums);
}

// Writes columns 4 j to 4 j + 7 of kRows rows, given their integer sums. `last` has the scales. XNNPACK's assembly
// kernels multiply both scales first and do not fuse the addition.
template <size_t kRows>
HWY_INLINE void FinishDot(const QuantParams* params, const uint8_t* last, size_t j, const int32x4_t (*sums)[kRows],
                          const Block& block) {
  float32x4_t scales[2], biases[2];
  HWY_UNROLL(2) for (size_t i = 0; i < 2; ++i) {
    scales[i] = LoadFloats(last + (j + i) * 16);
    biases[i] = LoadFloats(last + 64 + (j + i) * 16);
  }
  float* y = block.y + 4 * j;
  HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r, y += block.stride) {
    float32x4_t v[2];
    HWY_UNROLL(2) for (size_t i = 0; i < 2; ++i) {
      v[i] = vaddq_f32(vmulq_f32(vcvtq_f32_s32(sums[i][r]), vmulq_n_f32(scales[i], params[r].scale)), biases[i]);
    }
    StorePair(v[0], v[1], y);
  }
}

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
  for (const int8_t* const last = x + k / 32 * 32; x != last; x += 32, w += 512) {
    AddDots<0>(w, x, k, sums);
    AddDots<1>(w, x + 16, k, sums);
  }
  if (k % 32 >= 16) AddDots<0>(w, x, k, sums), x += 16, w += 256;
  for (; x < end; x += 4, w += 64) {
    int8x16_t four[kRows];
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) four[r] = LoadBytes(x + r * k);
    AddFour<0, 0>(w, four, sums);
  }
  HWY_UNROLL(2) for (size_t j = 0; j < 4; j += 2) FinishDot(params, w, j, &sums[j], block);
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

// Columns 2 kFirst to 2 kFirst + 3.
template <int kOffset, size_t kFirst, size_t kPairs>
HWY_INLINE void AddFourColumns(const uint8_t* w, const int8x16_t (&x)[kPairs], int32x4_t (&sums)[8][kPairs]) {
  int8x16_t two[2];
  LoadPair<kOffset + 16 * static_cast<int>(kFirst)>(w, two[0], two[1]);
  HWY_UNROLL(2) for (size_t i = 0; i < 2; ++i) {
    HWY_UNROLL(4) for (size_t p = 0; p < kPairs; ++p) {
      sums[kFirst + i][p] = MultiplyRows(sums[kFirst + i][p], x[p], two[i]);
    }
  }
}

// Eight of k of all columns, at w + kOffset.
template <int kOffset, size_t kPairs>
HWY_INLINE void AddEight(const uint8_t* w, const int8x16_t (&x)[kPairs], int32x4_t (&sums)[8][kPairs]) {
  AddFourColumns<kOffset, 0>(w, x, sums);
  AddFourColumns<kOffset, 2>(w, x, sums);
  AddFourColumns<kOffset, 4>(w, x, sums);
  AddFourColumns<kOffset, 6>(w, x, sums);
}

// The last of an odd number of rows is multiplied twice.
template <size_t kRows>
HWY_INLINE void MultiplyMatrix(const GemmTile& tile, size_t row, const Block& block) {
  constexpr size_t kPairs = (kRows + 1) / 2;
  const size_t k = tile.k;
  const QuantParams* params = tile.params + row;
  const uint8_t* w = block.weights;
  int32x4_t sums[8][kPairs];
  {
    int32x4_t zero_points[kPairs];
    HWY_UNROLL(4) for (size_t p = 0; p < kPairs; ++p) zero_points[p] = ParamsOfPair<kRows>(params, p).zero_points;
    HWY_UNROLL(8) for (size_t j = 0; j < 8; ++j) {
      const int32x4_t two = vreinterpretq_s32_s8(LoadTwice(reinterpret_cast<const int8_t*>(w) + 8 * j));
      HWY_UNROLL(4) for (size_t p = 0; p < kPairs; ++p) sums[j][p] = vmulq_s32(two, zero_points[p]);
    }
  }
  w += 64;
  RowPairs<kRows> rows(static_cast<const int8_t*>(tile.x) + row * k, k);
  int8x16_t low[kPairs], high[kPairs];
  for (const uint8_t* const last = w + k / 16 * 256; w != last; w += 256) {
    rows.Load(low, high);
    AddEight<0>(w, low, sums);
    AddEight<128>(w, high, sums);
  }
  if (k % 16 != 0) {
    rows.Load(low);
    AddEight<0>(w, low, sums);
    w += 128;
  }
  // In XNNPACK's order: by the row's scale, then by the column's.
  float32x4_t scaled[8][kPairs];
  HWY_UNROLL(4) for (size_t p = 0; p < kPairs; ++p) {
    const float32x4_t scales = ParamsOfPair<kRows>(params, p).scales;
    HWY_UNROLL(8) for (size_t j = 0; j < 8; ++j) scaled[j][p] = vmulq_f32(vcvtq_f32_s32(sums[j][p]), scales);
  }
  HWY_UNROLL(2) for (size_t j = 0; j < 4; j += 2) {
    float32x4_t scales[2], biases[2];
    HWY_UNROLL(2) for (size_t i = 0; i < 2; ++i) {
      scales[i] = LoadFloats(w + (j + i) * 16);
      biases[i] = LoadFloats(w + (j + i) * 16 + 64);
    }
    float* y = block.y + 4 * j;
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r, y += block.stride) {
      float32x4_t v[2];
      HWY_UNROLL(2) for (size_t i = 0; i < 2; ++i) {
        v[i] = vfmaq_f32(biases[i], OfRow(r, scaled[2 * (j + i)][r / 2], scaled[2 * (j + i) + 1][r / 2]), scales[i]);
      }
      StorePair(v[0], v[1], y);
    }
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

// ---- Products of bytes in 16 bits (SMULL, SMLAL2, SADALP): blocks of four columns, 16 of k. Two products fit 16 bits
// because weights are at least -127. A vector of sums is of one row and one column.

// Sums of two columns become, or grow by, sixteen products of each of four rows. gcc would copy some of eight products
// that are in as many registers.
#define FOVEA_PRODUCTS_OF_TWO_COLUMNS    \
  "smull v24.8h, %[a].8b, %[x0].8b\n"    \
  "smull v25.8h, %[a].8b, %[x1].8b\n"    \
  "smull v26.8h, %[a].8b, %[x2].8b\n"    \
  "smull v27.8h, %[a].8b, %[x3].8b\n"    \
  "smull v28.8h, %[b].8b, %[x0].8b\n"    \
  "smull v29.8h, %[b].8b, %[x1].8b\n"    \
  "smull v30.8h, %[b].8b, %[x2].8b\n"    \
  "smull v31.8h, %[b].8b, %[x3].8b\n"    \
  "smlal2 v24.8h, %[a].16b, %[x0].16b\n" \
  "smlal2 v25.8h, %[a].16b, %[x1].16b\n" \
  "smlal2 v26.8h, %[a].16b, %[x2].16b\n" \
  "smlal2 v27.8h, %[a].16b, %[x3].16b\n" \
  "smlal2 v28.8h, %[b].16b, %[x0].16b\n" \
  "smlal2 v29.8h, %[b].16b, %[x1].16b\n" \
  "smlal2 v30.8h, %[b].16b, %[x2].16b\n" \
  "smlal2 v31.8h, %[b].16b, %[x3].16b\n"
#define FOVEA_SUMS_OF_TWO_COLUMNS(add)                                                                        \
  add " %[a0].4s, v24.8h\n" add " %[a1].4s, v25.8h\n" add " %[a2].4s, v26.8h\n" add " %[a3].4s, v27.8h\n" add \
      " %[b0].4s, v28.8h\n" add " %[b1].4s, v29.8h\n" add " %[b2].4s, v30.8h\n" add " %[b3].4s, v31.8h\n"
#define FOVEA_OPERANDS_OF_TWO_COLUMNS(sum)                                                                 \
  [a0] sum(sums_a[0]), [a1] sum(sums_a[1]), [a2] sum(sums_a[2]), [a3] sum(sums_a[3]), [b0] sum(sums_b[0]), \
      [b1] sum(sums_b[1]), [b2] sum(sums_b[2]),                                                            \
      [b3] sum(sums_b[3])                                                                                  \
      : [a] "w"(a),                                                                                        \
        [b] "w"(b),                                                                                        \
        [x0] "w"(x[0]),                                                                                    \
        [x1] "w"(x[1]),                                                                                    \
        [x2] "w"(x[2]),                                                                                    \
        [x3] "w"(x[3])                                                                                     \
      : "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"
template <bool kFirst>
HWY_INLINE void AddTwoColumns(int8x16_t a, int8x16_t b, const int8x16_t (&x)[4], int32x4_t (&sums_a)[4],
                              int32x4_t (&sums_b)[4]) {
  if constexpr (kFirst) {
    __asm__ volatile(FOVEA_PRODUCTS_OF_TWO_COLUMNS FOVEA_SUMS_OF_TWO_COLUMNS("saddlp")
                     : FOVEA_OPERANDS_OF_TWO_COLUMNS("=w"));
  } else {
    __asm__ volatile(FOVEA_PRODUCTS_OF_TWO_COLUMNS FOVEA_SUMS_OF_TWO_COLUMNS("sadalp")
                     : FOVEA_OPERANDS_OF_TWO_COLUMNS("+w"));
  }
}

// The sixteen of k that are kTurn times sixteen further. kFirst: sums have no value yet; only with four rows.
template <size_t kTurn, bool kFirst = false, size_t kRows, size_t kBlocks>
HWY_INLINE void AddSixteen(const uint8_t* const (&w)[kBlocks], const int8_t* const (&from)[kRows],
                           int32x4_t (&sums)[4 * kBlocks][kRows]) {
  int8x16_t x[kRows];
  HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) x[r] = LoadBytes(from[r] + 16 * kTurn);
  constexpr size_t kAtOnce = kRows == 1 ? 4 : 2;  // columns; a product waits for the one before in its sum
  HWY_UNROLL(4) for (size_t c = 0; c < 4 * kBlocks; c += kAtOnce) {
    int8x16_t weights[kAtOnce];
    if (c % 4 == 0) LoadPair<64 * kTurn>(w[c / 4], weights[0], weights[1]);
    if (c % 4 == 2) LoadPair<64 * kTurn + 32>(w[c / 4], weights[0], weights[1]);
    if constexpr (kAtOnce == 4) LoadPair<64 * kTurn + 32>(w[c / 4], weights[2], weights[3]);
    if constexpr (kRows == 4) {
      AddTwoColumns<kFirst>(weights[0], weights[1], x, sums[c], sums[c + 1]);
      continue;
    }
    int16x8_t products[kAtOnce][kRows];
    HWY_UNROLL(4) for (size_t i = 0; i < kAtOnce; ++i) {
      HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
        products[i][r] = vmull_s8(vget_low_s8(weights[i]), vget_low_s8(x[r]));
        InOrder(products[i][r]);
      }
    }
    HWY_UNROLL(4) for (size_t i = 0; i < kAtOnce; ++i) {
      HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
        products[i][r] = vmlal_high_s8(products[i][r], weights[i], x[r]);
        InOrder(products[i][r]);
      }
    }
    HWY_UNROLL(4) for (size_t i = 0; i < kAtOnce; ++i) {
      HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
        sums[c + i][r] = vpadalq_s16(sums[c + i][r], products[i][r]);
        InOrder(sums[c + i][r]);
      }
    }
  }
}

template <size_t kRows, size_t kBlocks>
HWY_INLINE void Skip(size_t turns, const uint8_t* (&w)[kBlocks], const int8_t* (&x)[kRows]) {
  HWY_UNROLL(2) for (size_t b = 0; b < kBlocks; ++b) w[b] += 64 * turns;
  HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) x[r] += 16 * turns;
}

// Parameters of four rows, and of four columns.
struct Rows {
  int32x4_t zero_points;
  float32x4_t scales;
};
struct Columns {
  int32x4_t minus_sums;
  float32x4_t scales, biases;
};

// Writes four columns of row kRow, given its sums. In XNNPACK's order: by the row's scale, then by the column's.
template <size_t kRow, size_t kRows>
HWY_INLINE void WriteRow(const Rows& rows, const Columns& columns, const int32x4_t (*sums)[kRows], float* y) {
  const int32x4_t low = vpaddq_s32(sums[0][kRow], sums[1][kRow]), high = vpaddq_s32(sums[2][kRow], sums[3][kRow]);
  const int32x4_t exact = vmlaq_laneq_s32(vpaddq_s32(low, high), columns.minus_sums, rows.zero_points, kRow);
  const float32x4_t scaled = vmulq_laneq_f32(vcvtq_f32_s32(exact), rows.scales, kRow);
  vst1q_f32(y, vfmaq_f32(columns.biases, scaled, columns.scales));
}

template <size_t kRows, size_t kBlocks>
HWY_INLINE void MultiplyPairs(const GemmTile& tile, size_t row, size_t block_bytes, const Block& block) {
  const int8_t* x[kRows];
  HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) x[r] = static_cast<const int8_t*>(tile.x) + (row + r) * tile.k;
  const uint8_t* w[kBlocks];
  HWY_UNROLL(2) for (size_t b = 0; b < kBlocks; ++b) w[b] = block.weights + b * block_bytes + 16;
  int32x4_t sums[4 * kBlocks][kRows];
  size_t turns = (tile.k + 15) / 16;
  if (kRows == 4 && turns >= 4) {
    AddSixteen<0, true>(w, x, sums);
    AddSixteen<1>(w, x, sums);
    AddSixteen<2>(w, x, sums);
    AddSixteen<3>(w, x, sums);
    Skip(4, w, x);
    turns -= 4;
  } else {
    HWY_UNROLL(8) for (size_t c = 0; c < 4 * kBlocks; ++c) {
      HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) sums[c][r] = vdupq_n_s32(0);
    }
  }
  for (size_t left = turns / 4; left != 0; --left) {
    AddSixteen<0>(w, x, sums);
    AddSixteen<1>(w, x, sums);
    AddSixteen<2>(w, x, sums);
    AddSixteen<3>(w, x, sums);
    Skip(4, w, x);
  }
  for (size_t left = turns % 4; left != 0; --left) {
    AddSixteen<0>(w, x, sums);
    Skip(1, w, x);
  }
  // Four rows' parameters: more follow the last row's (kGemmExtraParams).
  const int32x4_t two = LoadInts(tile.params + row), two_more = LoadInts(tile.params + row + 2);
  const Rows rows = {vuzp1q_s32(two, two_more), vreinterpretq_f32_s32(vuzp2q_s32(two, two_more))};
  HWY_UNROLL(2) for (size_t b = 0; b < kBlocks; ++b) {
    const Columns columns = {LoadInts(block.weights + b * block_bytes), LoadFloats(w[b]), LoadFloats(w[b] + 16)};
    float* y = block.y + 4 * b;
    WriteRow<0>(rows, columns, &sums[4 * b], y);
    if constexpr (kRows > 1) WriteRow<1>(rows, columns, &sums[4 * b], y += block.stride);
    if constexpr (kRows > 2) WriteRow<2>(rows, columns, &sums[4 * b], y += block.stride);
    if constexpr (kRows > 3) WriteRow<3>(rows, columns, &sums[4 * b], y += block.stride);
  }
}

void GemmPairs(const GemmTile& given) {
  const GemmTile tile = given;  // whose members no store to y can change
  const size_t block_bytes = 4 * ((tile.k + 15) / 16 * 16 + 12);
  ForFours(tile, block_bytes, [&](auto height, size_t row, Block block, size_t blocks) {
    const auto multiply = [&](auto count) {
      MultiplyPairs<height(), count()>(tile, row, block_bytes, block);
      block.weights += count() * block_bytes;
      block.y += 4 * count();
    };
    size_t b = 0;
    if constexpr (height() == 1) {
      for (; b + 2 <= blocks; b += 2) multiply(Constant<2>());
    }
    for (; b < blocks; ++b) multiply(Constant<1>());
  });
}

}  // namespace
}  // namespace arm

void GemmArmI8(const GemmTile& tile) { arm::ForPacking(tile, arm::GemmMatrix, arm::GemmDot, arm::GemmPairs); }

}  // namespace fovea

#endif  // FOVEA_GEMM_PACKED_ARM
