// int8 rows times packed int8 weights. XNNPACK's kernels widen both to 16 bits before multiplying.
//
// A block is eight columns: an int32 per column (minus the sum of its weights), then for every 8 of k eight weights of
// each column, padded with zeros, then eight scales and eight biases.
//
// Bytes are multiplied as |x| (w ^ s), where s is -1 if x is negative and 0 if not: that is x w, minus |x| if x is
// negative. Two such products fit 16 bits because w is at least -127. The missing term is the same for all columns.
#if defined(FOVEA_RUNTIME_KERNELS_GEMM_PACKED_I8_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_GEMM_PACKED_I8_INL_H_
#undef FOVEA_RUNTIME_KERNELS_GEMM_PACKED_I8_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_GEMM_PACKED_I8_INL_H_
#endif

#include "runtime/kernels/gemm_packed-inl.h"

#if FOVEA_GEMM_PACKED
HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace packed {
namespace i8 {

constexpr size_t kColumns = 8;
constexpr size_t kTurn = 8;          // along k
constexpr size_t kTurnsAtOnce = 4;   // without a branch
constexpr size_t kRowsAtOnce = 128;  // whose negative elements are summed beforehand

// The sum of |x| over negative elements of a row, in whole turns.
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

// Weights with flipped bits. The instruction reads the weights itself: compilers would load them for all rows first,
// which is an instruction more.
HWY_INLINE I8 Flipped(const uint8_t* w, I8 flips) {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
  I8 flipped;
  __asm__("vpxor %2, %1, %0" : "=x"(flipped.raw) : "x"(flips.raw), "m"(*reinterpret_cast<const __m256i*>(w)));
  return flipped;
#else
  return hn::Xor(hn::BitCast(kI8, hn::Load(kU8, w)), flips);
#endif
}

// kRows rows of kBlocks blocks of columns, of which the first `count` are written.
template <size_t kRows, size_t kBlocks>
HWY_INLINE void MultiplyBytes(const GemmTile& tile, size_t row, const uint8_t* HWY_RESTRICT block, size_t block_bytes,
                              const int32_t* below, size_t count, Fetch fetch, float* y) {
  constexpr size_t kHalves = 2 * kBlocks;
  const size_t k = tile.k;
  const int8_t* HWY_RESTRICT x = static_cast<const int8_t*>(tile.x) + row * k;
  const uint8_t* w[kBlocks];
  HWY_UNROLL(2) for (size_t b = 0; b < kBlocks; ++b) w[b] = block + b * block_bytes + kColumns * sizeof(int32_t);
  const auto ones = hn::Set(kI16, 1);
  I32 sums[kRows][kHalves];
  HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(4) for (size_t half = 0; half < kHalves; ++half) sums[r][half] = hn::Zero(kI32);
  }
  const auto turn = [&]() HWY_ATTR __attribute__((always_inline)) {
    HWY_UNROLL(4) for (size_t r = 0; r < kRows; ++r) {
      const I8 vx = EightOf(x + r * k);
      const U8 size = hn::BitCast(kU8, hn::Abs(vx));
      const I8 sign = hn::BroadcastSignBit(vx);
      HWY_UNROLL(4) for (size_t half = 0; half < kHalves; ++half) {
        const I8 vw = Flipped(w[half / 2] + half % 2 * 32, sign);
        const I16 pairs = hn::SatWidenMulPairwiseAdd(kI16, size, vw);
        sums[r][half] = hn::Add(sums[r][half], hn::WidenMulPairwiseAdd(kI32, pairs, ones));
        StaysInRegister(sums[r][half]);
      }
    }
    x += kTurn;
    HWY_UNROLL(2) for (size_t b = 0; b < kBlocks; ++b) w[b] += kColumns * kTurn;
  };
  constexpr size_t kStep = kTurnsAtOnce * kTurn;
  const size_t steps = k / kStep;
  for (size_t step = 0, due = fetch.Skip();; due += fetch.Skip()) {
    for (const size_t until = HWY_MIN(steps, due); step < until; ++step) {
      HWY_UNROLL(4) for (size_t t = 0; t < kTurnsAtOnce; ++t) turn();
    }
    if (step == steps) break;
    HWY_UNROLL(4) for (size_t line = 0; line < kTurnsAtOnce; ++line) {
      HWY_UNROLL(2) for (size_t b = 0; b < kBlocks; ++b) {
        hwy::Prefetch(w[b] + kBlocks * block_bytes + line * kColumns * kTurn);
      }
    }
  }
  for (size_t i = steps * kStep; i < k; i += kTurn) turn();
  HWY_UNROLL(2) for (size_t b = 0; b < kBlocks; ++b) {
    const uint8_t* first = block + b * block_bytes;
    const uint8_t* last = w[b];
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

// `rows` rows, from `row` on.
template <size_t kBlocks>
HWY_INLINE void MultiplyRows(const GemmTile& tile, size_t row, size_t rows, const uint8_t* block, size_t block_bytes,
                             const int32_t* below, size_t count, float* y) {
  ForRows<2, 1>(rows, [&](auto height, size_t r, Fetch fetch) HWY_ATTR {
    MultiplyBytes<height(), kBlocks>(tile, row + r, block, block_bytes, below + r, count, fetch, y);
  });
}

}  // namespace i8
}  // namespace packed

void GemmPackedI8(const GemmTile& tile) {
  namespace i8 = packed::i8;
  using i8::kColumns;
  const size_t turns = (tile.k + i8::kTurn - 1) / i8::kTurn;
  const size_t block_bytes = kColumns * (turns * i8::kTurn + sizeof(int32_t) + 2 * sizeof(float));
  int32_t below[i8::kRowsAtOnce];
  for (size_t row = 0; row < tile.rows; row += i8::kRowsAtOnce) {
    const size_t rows = HWY_MIN(i8::kRowsAtOnce, tile.rows - row);
    for (size_t r = 0; r < rows; ++r) {
      below[r] = i8::SumBelow(static_cast<const int8_t*>(tile.x) + (row + r) * tile.k, tile.k);
    }
    const auto* block = static_cast<const uint8_t*>(tile.weights);
    for (size_t c = 0; c < tile.columns; c += 2 * kColumns, block += 2 * block_bytes) {
      const size_t count = tile.columns - c;
      if (count > kColumns) {
        i8::MultiplyRows<2>(tile, row, rows, block, block_bytes, below, count, tile.y + c);
      } else {
        i8::MultiplyRows<1>(tile, row, rows, block, block_bytes, below, count, tile.y + c);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();
#endif

#endif  // toggle
