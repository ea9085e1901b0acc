// f32 rows times split f16 weights (gemm_split.h) on 64-bit Arm with dot products (SDOT) or matrix products (SMMLA).
//
// Rows are split as the weights are. Two kinds of sums are exact: products of high bytes, and products of a high and a
// low byte, which weigh 256 times less. Products of two low bytes are left out: runtime/gemm/README.md has the errors.
#include "runtime/kernels/gemm_arm-inl.h"
#include "runtime/kernels/gemm_arm.h"
#include "runtime/kernels/gemm_split.h"

#if FOVEA_GEMM_PACKED_ARM

namespace fovea {
namespace arm {
namespace {

constexpr size_t kColumns = kSplitColumns;
constexpr int kFourBytes = 2 * 4 * kColumns, kLowBytes = 4 * kColumns;  // from four of k to the next, and to their lows
constexpr int kEightBytes = 2 * kFourBytes, kLowBytesOfEight = 2 * kLowBytes;
constexpr size_t kChunk = 4 * kSplitDepth;  // elements of rows that are split at once

// Elements of each row that are adjacent: 16 for dot products. For matrix products 8, whose bytes of two rows are an
// operand; of a single row, its high bytes and its low bytes.
template <size_t kRows, size_t kElements>
struct Group {
  int8_t high[kRows][kElements], low[kRows][kElements];
};

// Splits `count` elements, at most kSplitDepth; with zeros up to the next multiple of kSplitStep. Each kElements bytes
// are `stride` after the ones before. Returns the scale.
template <size_t kElements>
HWY_NOINLINE float SplitPart(const float* x, size_t count, size_t stride, int8_t* high, int8_t* low) {
  float padded[kSplitDepth];
  if (count % kSplitStep != 0) {
    memset(padded, 0, sizeof(padded));
    memcpy(padded, x, count * sizeof(*x));
    x = padded;
  }
  float32x4_t most4 = vdupq_n_f32(0);
  for (size_t i = 0; i < count; i += 16) {
    const float32x4_t low2 = vmaxq_f32(vabsq_f32(LoadFloats(x + i)), vabsq_f32(LoadFloats(x + i + 4)));
    const float32x4_t high2 = vmaxq_f32(vabsq_f32(LoadFloats(x + i + 8)), vabsq_f32(LoadFloats(x + i + 12)));
    most4 = vmaxq_f32(most4, vmaxq_f32(low2, high2));
  }
  const SplitScale scale(vmaxvq_f32(most4));
  const auto store = [&](int8_t*& to, int8x16_t bytes) {
    if constexpr (kElements == 16) {
      vst1q_s8(to, bytes);
    } else {
      vst1_s8(to, vget_low_s8(bytes));
      vst1_s8(to + stride, vget_high_s8(bytes));
    }
    to += 16 / kElements * stride;
  };
  for (size_t i = 0; i < RoundUp(count, kSplitStep); i += 16) {
    if (!scale.finite) {
      int8_t of_infinite[16];
      for (size_t j = 0; j < 16; ++j) of_infinite[j] = SplitScale::HighOfInfinite(x[i + j]);
      store(high, vld1q_s8(of_infinite));
      store(low, vdupq_n_s8(0));
      continue;
    }
    int16x8_t eight[2];
    HWY_UNROLL(2) for (size_t j = 0; j < 2; ++j) {
      const int32x4_t a = vcvtnq_s32_f32(vmulq_n_f32(LoadFloats(x + i + 8 * j), scale.inverse));
      const int32x4_t b = vcvtnq_s32_f32(vmulq_n_f32(LoadFloats(x + i + 8 * j + 4), scale.inverse));
      eight[j] = vuzp1q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b));
    }
    store(high, vrshrn_high_n_s16(vrshrn_n_s16(eight[0], 8), eight[1], 8));
    store(low, vuzp1q_s8(vreinterpretq_s8_s16(eight[0]), vreinterpretq_s8_s16(eight[1])));
  }
  return scale.scale;
}

template <size_t kRows, size_t kElements>
struct SplitRows {
  Group<kRows, kElements> parts[kChunk / kElements];
  float scales[kChunk / kSplitDepth][kRows];

  // `count` elements of each row.
  HWY_INLINE void Split(const float* x, size_t stride, size_t count) {
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t i = 0; i < count; i += kSplitDepth) {
        Group<kRows, kElements>& first = parts[i / kElements];
        scales[i / kSplitDepth][r] = SplitPart<kElements>(x + r * stride + i, HWY_MIN(kSplitDepth, count - i),
                                                          sizeof(first), first.high[r], first.low[r]);
      }
    }
  }
};

// Sixteen bytes of each row at x + kOffset.
template <int kOffset, size_t kRows>
HWY_INLINE void LoadRows(const uint8_t* x, int8x16_t (&rows)[kRows]) {
  static_assert(kRows == 4 || kRows == 6, "");
  LoadPair<kOffset>(x, rows[0], rows[1]);
  LoadPair<kOffset + 32>(x, rows[2], rows[3]);
  if constexpr (kRows == 6) LoadPair<kOffset + 64>(x, rows[4], rows[5]);
}

// Both bytes of part[kIndex].
template <int kIndex>
HWY_INLINE void LoadBoth(const Group<1, 16>* part, int8x16_t (&high)[1], int8x16_t (&low)[1]) {
  LoadPair<32 * kIndex>(reinterpret_cast<const uint8_t*>(part), high[0], low[0]);
}
template <int kIndex>
HWY_INLINE void LoadBoth(const Group<2, 16>* part, int8x16_t (&high)[2], int8x16_t (&low)[2]) {
  LoadPair<64 * kIndex>(reinterpret_cast<const uint8_t*>(part), high[0], high[1]);
  LoadPair<64 * kIndex + 32>(reinterpret_cast<const uint8_t*>(part), low[0], low[1]);
}

// Adds four of k, of which both bytes of x have kLane, times the high bytes of columns 4 kVector to 4 kVector + 7.
template <uint32_t kLane, int kW, size_t kVector, size_t kRows>
HWY_INLINE void AddUpper(const uint8_t* w, const int8x16_t (&high)[kRows], const int8x16_t (&low)[kRows],
                         int32x4_t (&upper)[4][kRows], int32x4_t (&mixed)[4][kRows]) {
  int8x16_t two[2];
  LoadPair<kW + 16 * static_cast<int>(kVector)>(w, two[0], two[1]);
  HWY_UNROLL(2) for (size_t j = 0; j < 2; ++j) {
    HWY_UNROLL(2) for (size_t r = 0; r < kRows; ++r) {
      int32x4_t& sum = upper[kVector + j][r];
      sum = DotWithLane<kLane>(sum, two[j], high[r]);
    }
    HWY_UNROLL(2) for (size_t r = 0; r < kRows; ++r) {
      int32x4_t& sum = mixed[kVector + j][r];
      sum = DotWithLane<kLane>(sum, two[j], low[r]);
    }
  }
}

// Adds both kinds of products of sixteen of k, whose weights are at w + kW.
template <int kW, uint32_t kLane = 0, size_t kRows>
HWY_INLINE void AddBoth(const uint8_t* w, const int8x16_t (&high)[kRows], const int8x16_t (&low)[kRows],
                        int32x4_t (&upper)[4][kRows], int32x4_t (&mixed)[4][kRows]) {
  AddUpper<kLane, kW, 0>(w, high, low, upper, mixed);
  AddUpper<kLane, kW, 2>(w, high, low, upper, mixed);
  AddFour<kLane, kW + kLowBytes>(w, high, mixed);
  if constexpr (kLane < 3) AddBoth<kW + kFourBytes, kLane + 1>(w, high, low, upper, mixed);
}

HWY_INLINE float32x4_t AddScaled(float32x4_t sum, int32x4_t exact, float32x4_t scales, float scale) {
  return vfmaq_f32(sum, vcvtq_f32_s32(exact), vmulq_n_f32(scales, scale));
}

// Adds `count` of k to the sums at `from`, rows from_stride apart, and writes them to block.y. Both kinds of products
// and the sums of one or two rows fit the registers.
template <size_t kRows>
HWY_INLINE void MultiplyFew(const SplitRows<kRows, 16>& x, size_t count, const float* from, size_t from_stride,
                            const Block& block) {
  const uint8_t* w = block.weights;
  const Group<kRows, 16>* part = x.parts;
  const Group<kRows, 16>* const last = part + count / 16;
  const float* of_rows = x.scales[0];
  float32x4_t sums[4][kRows];
  HWY_UNROLL(4) for (size_t j = 0; j < 4; ++j) {
    HWY_UNROLL(2) for (size_t r = 0; r < kRows; ++r) sums[j][r] = LoadFloats(from + r * from_stride + 4 * j);
  }
  do {
    const uint8_t* const scales = w;
    const Group<kRows, 16>* const end = part + HWY_MIN(static_cast<size_t>(last - part), kSplitDepth / 16);
    w += kColumns * sizeof(float);
    int32x4_t upper[4][kRows], mixed[4][kRows];
    HWY_UNROLL(4) for (size_t j = 0; j < 4; ++j) {
      HWY_UNROLL(2) for (size_t r = 0; r < kRows; ++r) upper[j][r] = mixed[j][r] = vdupq_n_s32(0);
    }
    do {
      int8x16_t high[kRows], low[kRows];
      LoadBoth<0>(part, high, low);
      AddBoth<0>(w, high, low, upper, mixed);
      LoadBoth<1>(part, high, low);
      AddBoth<4 * kFourBytes>(w, high, low, upper, mixed);
      part += 2, w += 8 * kFourBytes;
    } while (part != end);
    HWY_UNROLL(4) for (size_t j = 0; j < 4; ++j) {
      const float32x4_t of_columns = LoadFloats(scales + 16 * j);
      HWY_UNROLL(2) for (size_t r = 0; r < kRows; ++r) {
        const int32x4_t exact = vaddq_s32(vshlq_n_s32(upper[j][r], 8), mixed[j][r]);
        sums[j][r] = AddScaled(sums[j][r], exact, of_columns, of_rows[r]);
      }
    }
    of_rows += kRows;
  } while (part != last);
  HWY_UNROLL(4) for (size_t j = 0; j < 4; ++j) {
    HWY_UNROLL(2) for (size_t r = 0; r < kRows; ++r) vst1q_f32(block.y + r * block.stride + 4 * j, sums[j][r]);
  }
}

// Adds products of sixteen of k: bytes of x at kX and bytes of weights at kW.
template <int kX, int kW, size_t kRows>
HWY_INLINE void AddSixteen(const Group<kRows, 16>* part, const uint8_t* w, int32x4_t (&sums)[4][kRows]) {
  int8x16_t x[kRows];
  LoadRows<kX>(reinterpret_cast<const uint8_t*>(part), x);
  AddFour<0, kW>(w, x, sums);
  AddFour<1, kW + kFourBytes>(w, x, sums);
  AddFour<2, kW + 2 * kFourBytes>(w, x, sums);
  AddFour<3, kW + 3 * kFourBytes>(w, x, sums);
}

template <int kX, int kW, size_t kRows>
HWY_INLINE void AddPlane(const Group<kRows, 16>* part, const Group<kRows, 16>* end, const uint8_t* w,
                         int32x4_t (&sums)[4][kRows]) {
  do {
    AddSixteen<kX, kW>(part, w, sums);
    AddSixteen<kX + static_cast<int>(sizeof(*part)), kW + 4 * kFourBytes>(part, w, sums);
    part += 2, w += 8 * kFourBytes;
  } while (part != end);
}

// Adds matrix products of eight of k: bytes of pairs of rows at kX and bytes of weights at kW. A vector of sums is of
// two rows and two columns.
template <int kX, int kW, size_t kPairs>
HWY_INLINE void AddEight(const uint8_t* x, const uint8_t* w, int32x4_t (&sums)[8][kPairs]) {
  int8x16_t pairs[kPairs];
  if constexpr (kPairs > 1) LoadPair<kX>(x, pairs[0], pairs[1]);
  if constexpr (kPairs % 2 == 1) pairs[kPairs - 1] = LoadBytes(x + kX + 16 * (kPairs - 1));
  const auto add = [&](const int8x16_t(&two)[2], size_t vector) __attribute__((always_inline)) {
    HWY_UNROLL(2) for (size_t j = 0; j < 2; ++j) {
      HWY_UNROLL(3) for (size_t p = 0; p < kPairs; ++p) {
        sums[vector + j][p] = MultiplyRows(sums[vector + j][p], pairs[p], two[j]);
      }
    }
  };
  int8x16_t two[2];
  LoadPair<kW>(w, two[0], two[1]);
  add(two, 0);
  LoadPair<kW + 32>(w, two[0], two[1]);
  add(two, 2);
  LoadPair<kW + 64>(w, two[0], two[1]);
  add(two, 4);
  LoadPair<kW + 96>(w, two[0], two[1]);
  add(two, 6);
}

template <int kX, int kW, size_t kRows, size_t kPairs>
HWY_INLINE void AddPlane(const Group<kRows, 8>* part, const Group<kRows, 8>* end, const uint8_t* w,
                         int32x4_t (&sums)[8][kPairs]) {
  constexpr int kNext = static_cast<int>(sizeof(*part));
  do {
    const auto* x = reinterpret_cast<const uint8_t*>(part);
    AddEight<kX, kW>(x, w, sums);
    AddEight<kX + kNext, kW + kEightBytes>(x, w, sums);
    AddEight<kX + 2 * kNext, kW + 2 * kEightBytes>(x, w, sums);
    AddEight<kX + 3 * kNext, kW + 3 * kEightBytes>(x, w, sums);
    part += 4, w += 4 * kEightBytes;
  } while (part != end);
}

// Four columns from 4 j on of row r.
template <size_t kRows>
HWY_INLINE int32x4_t SumsOf(size_t j, size_t r, const int32x4_t (&sums)[4][kRows]) {
  return sums[j][r];
}
template <size_t kPairs>
HWY_INLINE int32x4_t SumsOf(size_t j, size_t r, const int32x4_t (&sums)[8][kPairs]) {
  return OfRow(r, sums[2 * j][r / 2], sums[2 * j + 1][r / 2]);
}

// A single row, by matrix products: its high and its low bytes are the two rows of an operand.
HWY_INLINE void MultiplyFew(const SplitRows<1, 8>& x, size_t count, const float* from, size_t, const Block& block) {
  const uint8_t* w = block.weights;
  const Group<1, 8>* part = x.parts;
  const Group<1, 8>* const last = part + count / 8;
  const float* of_rows = x.scales[0];
  float32x4_t sums[4];
  HWY_UNROLL(4) for (size_t j = 0; j < 4; ++j) sums[j] = LoadFloats(from + 4 * j);
  do {
    const uint8_t* const scales = w;
    const Group<1, 8>* const end = part + HWY_MIN(static_cast<size_t>(last - part), kSplitDepth / 8);
    w += kColumns * sizeof(float);
    int32x4_t by_high[8][1], by_low[8][1];
    HWY_UNROLL(8) for (size_t v = 0; v < 8; ++v) by_high[v][0] = by_low[v][0] = vdupq_n_s32(0);
    do {
      const auto* both = reinterpret_cast<const uint8_t*>(part);
      AddEight<0, 0>(both, w, by_high);
      AddEight<0, kLowBytesOfEight>(both, w, by_low);
      AddEight<16, kEightBytes>(both, w, by_high);
      AddEight<16, kEightBytes + kLowBytesOfEight>(both, w, by_low);
      part += 2, w += 2 * kEightBytes;
    } while (part != end);
    HWY_UNROLL(4) for (size_t j = 0; j < 4; ++j) {
      const int32x4_t mixed = vaddq_s32(SumsOf(j, 1, by_high), SumsOf(j, 0, by_low));
      const int32x4_t exact = vaddq_s32(vshlq_n_s32(SumsOf(j, 0, by_high), 8), mixed);
      sums[j] = AddScaled(sums[j], exact, LoadFloats(scales + 16 * j), *of_rows);
    }
    ++of_rows;
  } while (part != last);
  HWY_UNROLL(4) for (size_t j = 0; j < 4; ++j) vst1q_f32(block.y + 4 * j, sums[j]);
}

// More rows, one plane of bytes after another, so that one kind of sums is in registers.
template <size_t kRows, size_t kElements>
HWY_INLINE void MultiplyMany(const SplitRows<kRows, kElements>& x, size_t count, const float* from, size_t from_stride,
                             const Block& block) {
  constexpr size_t kWide = 64 / kElements, kHigh = kRows * kElements / 16;  // vectors of sums: of columns, of rows
  constexpr int kLow = kRows * kElements, kLowWeights = kElements == 16 ? kLowBytes : kLowBytesOfEight;
  const uint8_t* w = block.weights;
  const Group<kRows, kElements>* part = x.parts;
  const Group<kRows, kElements>* const last = part + count / kElements;
  const float* of_rows = x.scales[0];
  do {
    const uint8_t* const scales = w;
    const size_t groups = HWY_MIN(static_cast<size_t>(last - part), kSplitDepth / kElements);
    w += kColumns * sizeof(float);
    int32x4_t exact[kWide][kHigh];
    HWY_UNROLL(8) for (size_t v = 0; v < kWide; ++v) {
      HWY_UNROLL(8) for (size_t h = 0; h < kHigh; ++h) exact[v][h] = vdupq_n_s32(0);
    }
    AddPlane<0, 0>(part, part + groups, w, exact);
    HWY_UNROLL(8) for (size_t v = 0; v < kWide; ++v) {
      HWY_UNROLL(8) for (size_t h = 0; h < kHigh; ++h) exact[v][h] = vshlq_n_s32(exact[v][h], 8);
    }
    AddPlane<0, kLowWeights>(part, part + groups, w, exact);
    AddPlane<kLow, 0>(part, part + groups, w, exact);
    float32x4_t of_columns[4];
    HWY_UNROLL(4) for (size_t j = 0; j < 4; ++j) of_columns[j] = LoadFloats(scales + 16 * j);
    const float* sum = from;
    float* y = block.y;
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r, sum += from_stride, y += block.stride) {
      HWY_UNROLL(4) for (size_t j = 0; j < 4; ++j) {
        vst1q_f32(y + 4 * j, AddScaled(LoadFloats(sum + 4 * j), SumsOf(j, r, exact), of_columns[j], of_rows[r]));
      }
    }
    from = block.y;
    from_stride = block.stride;
    of_rows += kRows;
    part += groups;
    w += kFourBytes / 4 * kElements * groups;
  } while (part != last);
}

// Adds a chunk of k, from i on, to all columns of some rows.
template <size_t kRows, size_t kElements>
HWY_NOINLINE void MultiplyChunk(const GemmTile& tile, size_t row, size_t i) {
  const size_t k = tile.k, stride = tile.y_stride, block_bytes = kColumns * static_cast<size_t>(SplitColumnBytes(k));
  const size_t count = HWY_MIN(kChunk, k - i), whole = static_cast<size_t>(RoundUp(count, kSplitStep));
  SplitRows<kRows, kElements> rows;
  rows.Split(static_cast<const float*>(tile.x) + row * k + i, k, count);
  const auto* weights = static_cast<const uint8_t*>(tile.weights);
  for (size_t c = 0; c < tile.columns; c += kColumns, weights += block_bytes) {
    float* y = tile.y + row * stride + c;
    const size_t columns = HWY_MIN(kColumns, tile.columns - c);
    const uint8_t* w = weights + kColumns * static_cast<size_t>(SplitColumnBytes(i));
    float part[kRows * kColumns];
    const Block block = columns == kColumns ? Block{w, y, stride} : Block{w, part, kColumns};
    const float* from = i == 0 ? reinterpret_cast<const float*>(weights) : block.y;
    if (columns != kColumns && i != 0) {
      memset(part, 0, sizeof(part));
      for (size_t r = 0; r < kRows; ++r) memcpy(part + r * kColumns, y + r * stride, columns * sizeof(*y));
    }
    if constexpr (kRows > (kElements == 16 ? 2 : 1)) {
      MultiplyMany(rows, whole, from, i == 0 ? 0 : block.stride, block);
    } else {
      MultiplyFew(rows, whole, from, i == 0 ? 0 : block.stride, block);
    }
    if (columns == kColumns) continue;
    for (size_t r = 0; r < kRows; ++r) memcpy(y + r * stride, part + r * kColumns, columns * sizeof(*y));
  }
}

// All rows pass over a chunk of the weights, which stays in cache, before the next.
template <size_t kElements>
void GemmSplit(const GemmTile& tile) {
  for (size_t i = 0; i < tile.k; i += kChunk) {
    size_t row = 0;
    for (; row + 6 <= tile.rows; row += 6) MultiplyChunk<6, kElements>(tile, row, i);
    for (; row + 4 <= tile.rows; row += 4) MultiplyChunk<4, kElements>(tile, row, i);
    for (; row + 2 <= tile.rows; row += 2) MultiplyChunk<2, kElements>(tile, row, i);
    for (; row < tile.rows; ++row) MultiplyChunk<1, kElements>(tile, row, i);
  }
}

}  // namespace
}  // namespace arm

void GemmArmF16(const GemmTile& tile) { arm::ForPacking(tile, arm::GemmSplit<8>, arm::GemmSplit<16>, nullptr); }

}  // namespace fovea

#endif  // FOVEA_GEMM_PACKED_ARM
