// int8 rows times int8 or int4 weights that are packed by eights: XNNPACK's layouts for AVX2, and the very bits of its
// kernels there, which widen to 16 bits before they multiply and take up to twice the instructions.
#if defined(FOVEA_RUNTIME_KERNELS_GEMM_EIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_GEMM_EIGHTS_INL_H_
#undef FOVEA_RUNTIME_KERNELS_GEMM_EIGHTS_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_GEMM_EIGHTS_INL_H_
#endif

#include <string.h>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "runtime/kernels/gemm.h"

#undef FOVEA_GEMM_EIGHTS
#if defined(FOVEA_WITH_XNNPACK) && HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define FOVEA_GEMM_EIGHTS 1
#else
#define FOVEA_GEMM_EIGHTS 0
#endif

// XNNPACK packs int8 weights so where AVX2 is all there is.
#undef FOVEA_GEMM_EIGHTS_I8
#if FOVEA_GEMM_EIGHTS && HWY_TARGET == HWY_AVX2
#define FOVEA_GEMM_EIGHTS_I8 1
#else
#define FOVEA_GEMM_EIGHTS_I8 0
#endif

#if FOVEA_GEMM_EIGHTS
HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace eights {
namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::FixedTag<uint8_t, 32> kU8;
constexpr hn::FixedTag<int8_t, 32> kI8;
constexpr hn::FixedTag<int16_t, 16> kI16;
constexpr hn::FixedTag<int32_t, 8> kI32;
constexpr hn::FixedTag<float, 8> kFloats;
using U8 = hn::Vec<decltype(kU8)>;
using I16 = hn::Vec<decltype(kI16)>;
using Floats = hn::Vec<decltype(kFloats)>;

constexpr size_t kColumns = 8;

// Eight elements of x in every 64 bits.
HWY_INLINE hn::Vec<decltype(kI8)> EightOf(const int8_t* x) {
  int64_t eight;
  memcpy(&eight, x, sizeof(eight));
  return hn::BitCast(kI8, hn::Set(hn::FixedTag<int64_t, 4>(), eight));
}

// ---- int4, one row
//
// A block is eight columns: a float of each (the sum of its scaled weights), then for every 32 of k four turns' worth
// of weights and a bf16 scale of each column, then eight biases. A byte holds w of element i in its low and of element
// i + 8 in its high half, with signs; scales are a sixteenth.

constexpr size_t kDepth = 32;
constexpr size_t kWeightBytes = kColumns * kDepth / 2, kStepBytes = kWeightBytes + kColumns * sizeof(uint16_t);
constexpr size_t kAhead = 1024;  // bytes that are asked for before they are read: weights are read once, from memory

// Which bytes of four (of eight) columns' values each half of a vector gets in all its lanes, or in its first one.
// clang-format off
#define FOVEA_FOUR(a, b) 0x80, 0x80, a, b, 0x80, 0x80, a, b, 0x80, 0x80, a, b, 0x80, 0x80, a, b
alignas(32) constexpr uint8_t kScaleBytes[4][32] = {
    {FOVEA_FOUR(0, 1), FOVEA_FOUR(4, 5)},   {FOVEA_FOUR(2, 3), FOVEA_FOUR(6, 7)},
    {FOVEA_FOUR(8, 9), FOVEA_FOUR(12, 13)}, {FOVEA_FOUR(10, 11), FOVEA_FOUR(14, 15)}};
#undef FOVEA_FOUR
#define FOVEA_FIRST(a) a, a + 1, a + 2, a + 3, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80
alignas(32) constexpr uint8_t kFirstBytes[2][32] = {
    {FOVEA_FIRST(0), FOVEA_FIRST(8)}, {FOVEA_FIRST(4), FOVEA_FIRST(12)}};
#undef FOVEA_FIRST
// clang-format on

// Four lanes of each column: of columns 0 and 2, 1 and 3, 4 and 6, 5 and 7.
struct Sums {
  Floats of[4];
};

HWY_INLINE void Begin(const uint8_t* block, Floats zero_point, Sums& sums) {
  HWY_UNROLL(4) for (size_t i = 0; i < 4; ++i) {
    const U8 four = hn::LoadDup128(kU8, block + i / 2 * 16);
    const U8 first = hn::TableLookupBytesOr0(four, hn::Load(kU8, kFirstBytes[i % 2]));
    sums.of[i] = hn::Mul(hn::BitCast(kFloats, first), zero_point);
  }
}

// 32 of k. Products of a byte and half a byte, four pairs of them, stay within 16 bits: at most 15360.
HWY_INLINE void Add(const uint8_t* HWY_RESTRICT w, const int8_t* HWY_RESTRICT x, Sums& sums) {
  HWY_UNROLL(3) for (size_t line = 0; line < 3; ++line) hwy::Prefetch(w + kAhead + line * 64);
  hn::Vec<decltype(kI8)> turns[4];
  I16 offset = hn::Zero(kI16);  // weights enter as w + 8
  HWY_UNROLL(4) for (size_t t = 0; t < 4; ++t) {
    turns[t] = EightOf(x + t * 8);
    offset = hn::Sub(offset, hn::SatWidenMulPairwiseAdd(kI16, hn::Set(kU8, 8), turns[t]));
  }
  const U8 low = hn::Set(kU8, 0x0f), flip = hn::Set(kU8, 0x88);
  const U8 scales = hn::LoadDup128(kU8, w + kWeightBytes);
  HWY_UNROLL(2) for (size_t four = 0; four < 2; ++four) {
    I16 acc = offset;
    HWY_UNROLL(2) for (size_t turn = 0; turn < 2; ++turn) {
      const U8 bytes = hn::Xor(hn::LoadU(kU8, w + turn * 64 + four * 32), flip);
      const U8 high = hn::BitCast(kU8, hn::ShiftRight<4>(hn::BitCast(hn::FixedTag<uint16_t, 16>(), bytes)));
      acc = hn::Add(acc, hn::SatWidenMulPairwiseAdd(kI16, hn::And(bytes, low), turns[turn * 2]));
      acc = hn::Add(acc, hn::SatWidenMulPairwiseAdd(kI16, hn::And(high, low), turns[turn * 2 + 1]));
    }
    // Sixteen times the sums, as scales are a sixteenth.
    const I16 none = hn::Zero(kI16);
    const auto even = hn::ShiftRight<12>(hn::BitCast(kI32, hn::InterleaveLower(kI16, none, acc)));
    const auto odd = hn::ShiftRight<12>(hn::BitCast(kI32, hn::InterleaveUpper(kI16, none, acc)));
    const auto scale = [&](size_t i) HWY_ATTR {
      return hn::BitCast(kFloats, hn::TableLookupBytesOr0(scales, hn::Load(kU8, kScaleBytes[i])));
    };
    sums.of[four * 2] = hn::MulAdd(hn::ConvertTo(kFloats, even), scale(four * 2), sums.of[four * 2]);
    sums.of[four * 2 + 1] = hn::MulAdd(hn::ConvertTo(kFloats, odd), scale(four * 2 + 1), sums.of[four * 2 + 1]);
  }
}

HWY_INLINE void Finish(const uint8_t* bias, Floats scale, size_t count, Sums& sums, float* y) {
  HWY_UNROLL(4) for (Floats& sum : sums.of) {
    sum = hn::Add(sum, hn::Shuffle2301(sum));
    sum = hn::Add(sum, hn::Shuffle1032(sum));
  }
  constexpr hn::FixedTag<double, 4> kPairs;
  const auto low = hn::BitCast(kPairs, hn::InterleaveLower(kFloats, sums.of[0], sums.of[1]));
  const auto high = hn::BitCast(kPairs, hn::InterleaveLower(kFloats, sums.of[2], sums.of[3]));
  const Floats all = hn::BitCast(kFloats, hn::ConcatEven(kPairs, high, low));
  const Floats biases = hn::BitCast(kFloats, hn::LoadU(kU8, bias));
  hn::StoreN(hn::MulAdd(all, scale, biases), kFloats, y, count);
}

// A block of columns, of which `count` are wanted.
HWY_INLINE void Multiply(const GemmTile& tile, const uint8_t* block, size_t count, float* y) {
  Sums sums;
  Begin(block, hn::Set(kFloats, static_cast<float>(tile.params->zero_point)), sums);
  const uint8_t* w = block + kColumns * sizeof(float);
  const int8_t* x = static_cast<const int8_t*>(tile.x);
  for (const int8_t* const end = x + tile.k; x != end; x += kDepth, w += kStepBytes) Add(w, x, sums);
  Finish(w, hn::Set(kFloats, tile.params->scale), count, sums, y);
}

#if FOVEA_GEMM_EIGHTS_I8

// ---- int8
//
// A block is eight columns: an int32 of each (minus the sum of its weights), then for every 8 of k eight weights of
// each column, with zeros at the end, then eight scales and eight biases.
//
// Bytes are multiplied as |x| (w ^ s), where s is -1 if x is negative and 0 if not: that is x w, less |x| if x is
// negative. Two such products fit 16 bits because w is at least -127. What is missing is the same for all columns.

using I32 = hn::Vec<decltype(kI32)>;
constexpr size_t kTurn = 8;          // of k
constexpr size_t kRowsAtOnce = 128;  // whose negative elements are summed before

// The sum of |x| over negative elements of a row, whole turns of it.
HWY_INLINE int32_t SumBelow(const int8_t* x, size_t k) {
  const auto sums_of = [](auto d, const int8_t* from) HWY_ATTR {
    const auto v = hn::LoadU(d, from);
    return hn::SumsOf8(hn::BitCast(hn::RebindToUnsigned<decltype(d)>(), hn::And(hn::Abs(v), hn::BroadcastSignBit(v))));
  };
  const hn::FixedTag<uint64_t, 4> four;
  auto sum = hn::Zero(four);
  size_t i = 0;
  for (; i + 32 <= k; i += 32) sum = hn::Add(sum, sums_of(kI8, x + i));
  uint64_t all = hn::ReduceSum(four, sum);
  for (; i < k; i += kTurn) all += hn::GetLane(sums_of(hn::FixedTag<int8_t, kTurn>(), x + i));
  return static_cast<int32_t>(all);
}

// Without this gcc moves sums from register to register and to memory in every turn, and takes 1.1 to 1.2 times as long.
HWY_INLINE void StaysInRegister([[maybe_unused]] I32& sum) {
#if HWY_COMPILER_GCC_ACTUAL
  __asm__("" : "+x"(sum.raw));
#endif
}

// kRows rows of kBlocks blocks of columns, of which `count` are wanted.
template <size_t kRows, size_t kBlocks>
HWY_INLINE void MultiplyBytes(const GemmTile& tile, size_t row, const uint8_t* HWY_RESTRICT block, size_t block_bytes,
                              const int32_t* below, size_t count, float* y) {
  constexpr size_t kHalves = 2 * kBlocks;
  const size_t k = tile.k;
  const int8_t* HWY_RESTRICT x = static_cast<const int8_t*>(tile.x) + row * k;
  const uint8_t* w = block + kColumns * sizeof(int32_t);
  const auto ones = hn::Set(kI16, 1);
  I32 sums[kRows][kHalves];
  HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(4) for (size_t half = 0; half < kHalves; ++half) sums[r][half] = hn::Zero(kI32);
  }
  for (size_t i = 0; i < k; i += kTurn, w += kColumns * kTurn) {
    HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
      const auto vx = EightOf(x + r * k + i);
      const U8 size = hn::BitCast(kU8, hn::Abs(vx));
      const auto sign = hn::BroadcastSignBit(vx);
      HWY_UNROLL(4) for (size_t half = 0; half < kHalves; ++half) {
        const auto vw = hn::BitCast(kI8, hn::Load(kU8, w + half / 2 * block_bytes + half % 2 * 32));
        const I16 pairs = hn::SatWidenMulPairwiseAdd(kI16, size, hn::Xor(vw, sign));
        sums[r][half] = hn::Add(sums[r][half], hn::WidenMulPairwiseAdd(kI32, pairs, ones));
        StaysInRegister(sums[r][half]);
      }
    }
  }
  HWY_UNROLL(2) for (size_t b = 0; b < kBlocks; ++b) {
    const uint8_t* first = block + b * block_bytes;
    const uint8_t* last = w + b * block_bytes;
    const I32 minus_sums = hn::BitCast(kI32, hn::Load(kU8, first));
    const Floats scales = hn::BitCast(kFloats, hn::Load(kU8, last));
    const Floats biases = hn::BitCast(kFloats, hn::Load(kU8, last + kColumns * sizeof(float)));
    const size_t wanted = count - b * kColumns;
    HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
      const QuantParams& params = tile.params[row + r];
      // Columns 0 to 3 and 4 to 7, two lanes each.
      const I32 low = hn::Add(sums[r][2 * b], hn::Shuffle2301(sums[r][2 * b]));
      const I32 high = hn::Add(sums[r][2 * b + 1], hn::Shuffle2301(sums[r][2 * b + 1]));
      const I32 columns = hn::ConcatEven(kI32, high, low);
      const I32 rest = hn::MulAdd(minus_sums, hn::Set(kI32, params.zero_point), hn::Set(kI32, below[r]));
      const Floats exact = hn::ConvertTo(kFloats, hn::Add(columns, rest));
      const Floats v = hn::MulAdd(hn::Mul(exact, hn::Set(kFloats, params.scale)), scales, biases);
      float* to = y + (row + r) * tile.y_stride + b * kColumns;
      if (wanted >= kColumns) {
        hn::StoreU(v, kFloats, to);
      } else {
        hn::StoreN(v, kFloats, to, wanted);
      }
    }
  }
}

// `rows` rows from `row` on.
template <size_t kBlocks>
HWY_INLINE void MultiplyRows(const GemmTile& tile, size_t row, size_t rows, const uint8_t* block, size_t block_bytes,
                             const int32_t* below, size_t count, float* y) {
  size_t r = 0;
  for (; r + 2 <= rows; r += 2) MultiplyBytes<2, kBlocks>(tile, row + r, block, block_bytes, below + r, count, y);
  if (r < rows) MultiplyBytes<1, kBlocks>(tile, row + r, block, block_bytes, below + r, count, y);
}

#endif  // FOVEA_GEMM_EIGHTS_I8

}  // namespace eights

#if FOVEA_GEMM_EIGHTS_I8
void GemmI8Eights(const GemmTile& tile) {
  using eights::kColumns;
  const size_t turns = (tile.k + eights::kTurn - 1) / eights::kTurn;
  const size_t block_bytes = kColumns * (turns * eights::kTurn + sizeof(int32_t) + 2 * sizeof(float));
  int32_t below[eights::kRowsAtOnce];
  for (size_t row = 0; row < tile.rows; row += eights::kRowsAtOnce) {
    const size_t rows = HWY_MIN(eights::kRowsAtOnce, tile.rows - row);
    for (size_t r = 0; r < rows; ++r) {
      below[r] = eights::SumBelow(static_cast<const int8_t*>(tile.x) + (row + r) * tile.k, tile.k);
    }
    const auto* block = static_cast<const uint8_t*>(tile.weights);
    for (size_t c = 0; c < tile.columns; c += 2 * kColumns, block += 2 * block_bytes) {
      const size_t count = tile.columns - c;
      if (count > kColumns) {
        eights::MultiplyRows<2>(tile, row, rows, block, block_bytes, below, count, tile.y + c);
      } else {
        eights::MultiplyRows<1>(tile, row, rows, block, block_bytes, below, count, tile.y + c);
      }
    }
  }
}
#endif

void GemmI4Eights(const GemmTile& tile) {
  const size_t block_bytes = 2 * eights::kColumns * sizeof(float) + tile.k / eights::kDepth * eights::kStepBytes;
  const auto* block = static_cast<const uint8_t*>(tile.weights);
  for (size_t c = 0; c < tile.columns; c += eights::kColumns, block += block_bytes) {
    eights::Multiply(tile, block, HWY_MIN(eights::kColumns, tile.columns - c), tile.y + c);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();
#endif  // FOVEA_GEMM_EIGHTS

#endif  // toggle
