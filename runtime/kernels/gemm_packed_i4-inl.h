// int8 rows times packed int4 weights. XNNPACK's kernels use 16-bit products and take up to three times as long.
// Integers are summed over a block of 32 in two lanes, scaled sums are f32: bits differ from XNNPACK's kernels.
//
// A block is eight columns: a float per column (the sum of its scaled weights), then for every 32 of k four groups of
// weights and a bf16 scale per column, then eight biases. A byte holds the weight of element i in its low half and of
// element i + 8 in its high half, signed; scales are stored divided by 16.
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

// Shuffle of the bf16 scale of a column into both lanes of four columns.
// clang-format off
#define FOVEA_TWICE(a) 0x80, 0x80, a, a + 1, 0x80, 0x80, a, a + 1
alignas(32) constexpr uint8_t kScaleBytes[2][32] = {
    {FOVEA_TWICE(0), FOVEA_TWICE(2), FOVEA_TWICE(4), FOVEA_TWICE(6)},
    {FOVEA_TWICE(8), FOVEA_TWICE(10), FOVEA_TWICE(12), FOVEA_TWICE(14)}};
#undef FOVEA_TWICE
// clang-format on

// 32 of k for kRows rows, k apart, and eight columns: columns 0 to 3 and 4 to 7, two lanes each. Sums of four pairs of
// products of a byte and half a byte fit 16 bits: at most 15360.
template <size_t kRows>
HWY_INLINE void Add(const uint8_t* HWY_RESTRICT w, const int8_t* HWY_RESTRICT x, size_t k, Floats (&sums)[kRows][2]) {
  I16 offsets[kRows];  // weights enter as w + 8
  HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
    I16 eights = hn::Zero(kI16);
    HWY_UNROLL(4) for (size_t t = 0; t < 4; ++t) {
      eights = hn::Add(eights, hn::SatWidenMulPairwiseAdd(kI16, hn::Set(kU8, 8), EightOf(x + r * k + t * 8)));
    }
    offsets[r] = eights;
  }
  const U8 low = hn::Set(kU8, 0x0f), flip = hn::Set(kU8, 0x88);
  const U8 scales = hn::LoadDup128(kU8, w + kWeightBytes);
  HWY_UNROLL(2) for (size_t four = 0; four < 2; ++four) {
    U8 turns[4];
    HWY_UNROLL(2) for (size_t t = 0; t < 4; t += 2) {
      const U8 bytes = hn::Xor(hn::LoadU(kU8, w + t * 32 + four * 32), flip);
      const U8 high = hn::BitCast(kU8, hn::ShiftRight<4>(hn::BitCast(hn::FixedTag<uint16_t, 16>(), bytes)));
      turns[t] = hn::And(bytes, low);
      turns[t + 1] = hn::And(high, low);
    }
    const Floats scale = hn::BitCast(kFloats, hn::TableLookupBytesOr0(scales, hn::Load(kU8, kScaleBytes[four])));
    HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
      const auto product = [&](size_t t) HWY_ATTR {
        return hn::SatWidenMulPairwiseAdd(kI16, turns[t], EightOf(x + r * k + t * 8));
      };
      const I16 pairs = hn::Add(hn::Add(product(0), product(1)), hn::Add(product(2), product(3)));
      // Sixteen times the sums, because scales are divided by 16.
      const auto exact = hn::WidenMulPairwiseAdd(kI32, hn::Sub(pairs, offsets[r]), hn::Set(kI16, 16));
      sums[r][four] = hn::MulAdd(hn::ConvertTo(kFloats, exact), scale, sums[r][four]);
    }
  }
}

// kRows rows of a block of columns, of which the first `count` are written.
template <size_t kRows>
HWY_INLINE void Multiply(const GemmTile& tile, size_t row, const uint8_t* block, size_t block_bytes, size_t count,
                         Fetch fetch, float* y) {
  const size_t k = tile.k;
  const hn::FixedTag<uint64_t, 4> kWide;
  Floats sums[kRows][2];
  HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
    const Floats zero_point = hn::Set(kFloats, static_cast<float>(tile.params[row + r].zero_point));
    HWY_UNROLL(2) for (size_t four = 0; four < 2; ++four) {
      const auto of_columns =
          hn::BitCast(hn::FixedTag<uint32_t, 4>(), hn::LoadU(hn::FixedTag<uint8_t, 16>(), block + four * 16));
      sums[r][four] = hn::Mul(hn::BitCast(kFloats, hn::PromoteTo(kWide, of_columns)), zero_point);
    }
  }
  const uint8_t* w = block + kColumns * sizeof(float);
  const int8_t* x = static_cast<const int8_t*>(tile.x) + row * k;
  for (const int8_t* const end = x + k; x != end; x += kDepth, w += kStepBytes) {
    if (fetch.Next()) {
      HWY_UNROLL(3) for (size_t line = 0; line < 3; ++line) hwy::Prefetch(w + block_bytes + line * 64);
    }
    Add<kRows>(w, x, k, sums);
  }
  const Floats biases = hn::BitCast(kFloats, hn::LoadU(kU8, w));
  HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
    const Floats low = hn::Add(sums[r][0], hn::Shuffle2301(sums[r][0]));
    const Floats high = hn::Add(sums[r][1], hn::Shuffle2301(sums[r][1]));
    const Floats v =
        hn::MulAdd(hn::ConcatEven(kFloats, high, low), hn::Set(kFloats, tile.params[row + r].scale), biases);
    hn::StoreN(v, kFloats, y + (row + r) * tile.y_stride, count);
  }
}

}  // namespace i4
}  // namespace packed

void GemmPackedI4(const GemmTile& tile) {
  namespace i4 = packed::i4;
  const size_t block_bytes = 2 * i4::kColumns * sizeof(float) + tile.k / i4::kDepth * i4::kStepBytes;
  const auto* block = static_cast<const uint8_t*>(tile.weights);
  for (size_t c = 0; c < tile.columns; c += i4::kColumns, block += block_bytes) {
    const size_t count = HWY_MIN(i4::kColumns, tile.columns - c);
    packed::ForRows<4, 2, 1>(tile.rows, [&](auto height, size_t row, packed::Fetch fetch) HWY_ATTR {
      i4::Multiply<height()>(tile, row, block, block_bytes, count, fetch, tile.y + c);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();
#endif

#endif  // toggle
