// One int8 row times packed int4 weights. XNNPACK's kernels go by 16-bit products and take twice the instructions.
//
// A block is eight columns: a float of each (the sum of its scaled weights), then for every 32 of k four turns' worth
// of weights and a bf16 scale of each column, then eight biases. A byte holds w of element i in its low and of element
// i + 8 in its high half, with signs; scales are a sixteenth.
#if defined(FOVEA_RUNTIME_KERNELS_GEMM_PACKED_I4_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_GEMM_PACKED_I4_INL_H_
#undef FOVEA_RUNTIME_KERNELS_GEMM_PACKED_I4_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_GEMM_PACKED_I4_INL_H_
#endif

#include "runtime/kernels/gemm_packed-inl.h"

#if FOVEA_GEMM_PACKED_I4
HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace packed {
namespace i4 {

constexpr size_t kColumns = 8, kDepth = 32;
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

}  // namespace i4
}  // namespace packed

void GemmPackedI4(const GemmTile& tile) {
  namespace i4 = packed::i4;
  const size_t block_bytes = 2 * i4::kColumns * sizeof(float) + tile.k / i4::kDepth * i4::kStepBytes;
  const auto* block = static_cast<const uint8_t*>(tile.weights);
  for (size_t c = 0; c < tile.columns; c += i4::kColumns, block += block_bytes) {
    i4::Multiply(tile, block, HWY_MIN(i4::kColumns, tile.columns - c), tile.y + c);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();
#endif

#endif  // toggle
