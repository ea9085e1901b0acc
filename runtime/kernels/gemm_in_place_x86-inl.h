// int8 rows times int8 or int4 weights that are read in place, for x86 with AVX2 or AVX-512.
//
// A block of y is rows x 4 columns, one vector of partial sums each, and zero points are taken into account before sums
// are folded where that saves a pass over the weights. Each height is a separate function: gcc would otherwise keep
// addresses in memory.
#if defined(FOVEA_RUNTIME_KERNELS_GEMM_IN_PLACE_X86_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_GEMM_IN_PLACE_X86_INL_H_
#undef FOVEA_RUNTIME_KERNELS_GEMM_IN_PLACE_X86_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_GEMM_IN_PLACE_X86_INL_H_
#endif

#include <string.h>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "runtime/base/dtype.h"
#include "runtime/kernels/gemm-inl.h"
#include "runtime/kernels/gemm.h"

#undef FOVEA_GEMM_IN_PLACE_X86
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define FOVEA_GEMM_IN_PLACE_X86 1
#else
#define FOVEA_GEMM_IN_PLACE_X86 0
#endif

#if FOVEA_GEMM_IN_PLACE_X86
HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace in_place {

constexpr size_t kFour = kBlockColumns;
constexpr size_t kLine = 64;  // bytes that a prefetch loads
using DU8 = hn::Repartition<uint8_t, DF>;
using D8 = hn::Repartition<int8_t, DF>;
using D16 = hn::Repartition<int16_t, DF>;
using U8 = hn::Vec<DU8>;
using I8 = hn::Vec<D8>;
using I16 = hn::Vec<D16>;
constexpr size_t kBytes = HWY_MAX_LANES_D(DU8);  // in a vector

// Four columns of a tile, fewer at its end: then the last is repeated and not stored.
struct Four {
  size_t c, count;

  template <class T>
  HWY_INLINE void Rows(const void* weights, size_t stride, const T* (&w)[kFour]) const {
    w[0] = static_cast<const T*>(weights) + c * stride;
    HWY_UNROLL(4) for (size_t j = 1; j < kFour; ++j) w[j] = w[j - 1] + (j < count ? stride : 0);
  }
  HWY_INLINE hn::Vec<DF4> Load(const float* p) const {
    if (p == nullptr) return hn::Zero(DF4());
    return count == kFour ? hn::LoadU(DF4(), p + c) : hn::LoadN(DF4(), p + c, count);
  }
  HWY_INLINE void Store(hn::Vec<DF4> v, float* y) const {
    if (count == kFour) {
      hn::StoreU(v, DF4(), y + c);
    } else {
      hn::StoreN(v, DF4(), y + c, count);
    }
  }
};

// The last bytes of each row of weights, from `i` on, padded with zeros. Loads of a part would be large code in each
// kernel.
struct Ends {
  alignas(64) uint8_t bytes[kFour][64];
};
template <class T>
HWY_NOINLINE void CopyEnds(const T* const (&w)[kFour], size_t i, size_t size, Ends& ends) {
  memset(ends.bytes, 0, sizeof(ends.bytes));
  for (size_t j = 0; j < kFour; ++j) memcpy(ends.bytes[j], w[j] + i, size - i);
}

template <class F>
HWY_INLINE void ForFours(const GemmTile& tile, const F& f) {
  for (size_t c = 0; c < tile.columns; c += kFour) f(Four{c, HWY_MIN(kFour, tile.columns - c)});
}

// The first group of rows prefetches a line of the row of weights four rows later: hardware prefetchers do not follow
// four rows at a time.
template <class T>
HWY_INLINE void FetchNext(const T* const (&w)[kFour], size_t stride, size_t i) {
  HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) hwy::Prefetch(w[j] + kFour * stride + i);
}

#if FOVEA_GEMM_QUAD
// Adds to each lane of `sum` four products. gcc copies sums before and after the intrinsic.
HWY_INLINE void AddProducts(U8 u, I8 s, VI& sum) {
#if HWY_COMPILER_GCC_ACTUAL
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(u.raw), "v"(s.raw));
#else
  sum = hn::SumOfMulQuadAccumulate(DI(), u, s, sum);
#endif
}
#endif

// Calls group(height, row) for groups of nearly equal heights, at most kMost.
template <size_t kMost, class Group>
HWY_INLINE void ForGroups(size_t rows, const Group& group) {
  static_assert(kMost >= 2 && kMost <= 4, "");
  size_t row = 0;
  for (size_t groups = (rows + kMost - 1) / kMost; groups != 0; --groups) {
    const size_t height = (rows - row + groups - 1) / groups;
    if (kMost == 4 && height == 4) {
      group(std::integral_constant<size_t, kMost>(), row);
    } else if (kMost >= 3 && height == 3) {
      group(std::integral_constant<size_t, HWY_MIN(3, kMost)>(), row);
    } else if (height == 2) {
      group(std::integral_constant<size_t, 2>(), row);
    } else {
      group(std::integral_constant<size_t, 1>(), row);
    }
    row += height;
  }
}

// ---- int8

#if FOVEA_GEMM_QUAD

// x enters the products as x + 128, without a sign: sum (x - zero) w = sum (x + 128) w - (zero + 128) sum w. With
// kFirst a row of ones gives the sums of weights; a single row is multiplied together with a row of zero + 128.
constexpr int32_t kXOffset = 128;
HWY_INLINE U8 LoadOffset(const int8_t* p) {
  return hn::Xor(hn::LoadU(DU8(), reinterpret_cast<const uint8_t*>(p)), hn::Set(DU8(), 0x80));
}

template <size_t kRows, bool kFirst>
HWY_NOINLINE void I8Group(const GemmTile& tile, size_t row, int32_t* weight_sums) {
  constexpr size_t kAll = kRows + kFirst;
  const size_t k = tile.k;
  const auto* const from = static_cast<const int8_t*>(tile.x) + row * k;
  const QuantParams* const params = tile.params + row;
  const auto* const scales = static_cast<const float*>(tile.scales);
  float* const y = tile.y + row * tile.y_stride;
  constexpr bool kSingle = kRows == 1 && kFirst;
  const U8 last = hn::Set(DU8(), static_cast<uint8_t>(kSingle ? params[0].zero_point + kXOffset : 1));
  ForFours(
      tile, [ =, &tile ](Four four) HWY_ATTR __attribute__((always_inline)) {
        const int8_t* w[kFour];
        four.Rows(tile.weights, k, w);
        VI sums[kAll][kFour];
        HWY_UNROLL(8) for (size_t r = 0; r < kAll; ++r) {
          HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) sums[r][j] = hn::Zero(DI());
        }
        const auto step = [&](size_t i, const auto& column) HWY_ATTR __attribute__((always_inline)) {
          U8 x[kAll];
          HWY_UNROLL(8) for (size_t r = 0; r < kAll; ++r) x[r] = r == kRows ? last : LoadOffset(from + r * k + i);
          HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) {
            const I8 vw = hn::LoadU(D8(), column(j));
            HWY_UNROLL(8) for (size_t r = 0; r < kAll; ++r) AddProducts(x[r], vw, sums[r][j]);
          }
        };
        size_t i = 0;
        for (; i + kBytes <= k; i += kBytes) {
          if (kFirst) FetchNext(w, k, i);
          step(i, [&](size_t j) HWY_ATTR { return w[j] + i; });
        }
        if (i < k) {
          Ends ends;
          CopyEnds(w, i, k, ends);
          step(i, [&](size_t j) HWY_ATTR { return reinterpret_cast<const int8_t*>(ends.bytes[j]); });
        }
        hn::Vec<DI4> of_weights;
        if constexpr (kSingle) {
          HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) sums[0][j] = hn::Sub(sums[0][j], sums[1][j]);
          of_weights = hn::Zero(DI4());
        } else if constexpr (kFirst) {
          of_weights = SumsOf4(DI(), sums[kRows]);
          hn::StoreU(of_weights, DI4(), weight_sums + four.c);
        } else {
          of_weights = hn::LoadU(DI4(), weight_sums + four.c);
        }
        const auto scale = four.Load(scales), bias = four.Load(tile.bias);
        HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
          const auto zero = hn::Mul(of_weights, hn::Set(DI4(), params[r].zero_point + kXOffset));
          const auto exact = hn::ConvertTo(DF4(), hn::Sub(SumsOf4(DI(), sums[r]), zero));
          four.Store(hn::MulAdd(exact, hn::Mul(scale, hn::Set(DF4(), params[r].scale)), bias), y + r * tile.y_stride);
        }
      });
}
constexpr size_t kI8Rows = 4;

#else

// Products in 16 bits, of x - zero: sums stay within 32 bits because k is at most kGemmIntegerDepth.
template <size_t kRows>
HWY_NOINLINE void I8Group(const GemmTile& tile, size_t row) {
  const size_t k = tile.k;
  const auto* const from = static_cast<const int8_t*>(tile.x) + row * k;
  const QuantParams* const params = tile.params + row;
  const auto* const scales = static_cast<const float*>(tile.scales);
  float* const y = tile.y + row * tile.y_stride;
  ForFours(
      tile, [ =, &tile ](Four four) HWY_ATTR __attribute__((always_inline)) {
        const int8_t* w[kFour];
        four.Rows(tile.weights, k, w);
        VI sums[kRows][kFour];
        HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
          HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) sums[r][j] = hn::Zero(DI());
        }
        const auto step = [&](size_t i, const auto& column) HWY_ATTR __attribute__((always_inline)) {
          I16 x[kRows];
          HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
            x[r] = hn::Sub(LoadX(from + r * k + i), hn::Set(D16(), static_cast<int16_t>(params[r].zero_point)));
          }
          HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) {
            const I16 vw = LoadW(column(j));
            HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
              sums[r][j] = hn::Add(sums[r][j], hn::WidenMulPairwiseAdd(DI(), x[r], vw));
              StaysInRegister(sums[r][j]);
            }
          }
        };
        size_t i = 0;
        for (; i + kLine <= k; i += kLine) {
          if (row == 0) FetchNext(w, k, i);
          HWY_UNROLL(4) for (size_t at = 0; at < kLine; at += kStep) {
            step(i + at, [&](size_t j) HWY_ATTR { return w[j] + i + at; });
          }
        }
        if (i < k) {
          Ends ends;
          CopyEnds(w, i, k, ends);
          for (size_t at = 0; i + at < k; at += kStep) {
            step(i + at, [&](size_t j) HWY_ATTR { return reinterpret_cast<const int8_t*>(ends.bytes[j]) + at; });
          }
        }
        const auto scale = four.Load(scales), bias = four.Load(tile.bias);
        HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
          const auto exact = hn::ConvertTo(DF4(), SumsOf4(DI(), sums[r]));
          four.Store(hn::MulAdd(exact, hn::Mul(scale, hn::Set(DF4(), params[r].scale)), bias), y + r * tile.y_stride);
        }
      });
}
constexpr size_t kI8Rows = 3;

#endif

// ---- int4: a vector of weights holds one block of 32 in each 128 bits, even elements in the low halves of bytes and
// odd ones in the high halves. Sums of a block are exact, in the lanes of its 128 bits:
// sum (x - zero) (q - 8) = sum x q - zero sum q - 8 sum x + 256 zero.

constexpr size_t kBlocks = kBytes / 16;           // blocks of 32 elements in a vector
constexpr size_t kElements = kBlocks * kI4Block;  // in a vector

// Even and odd elements of x, in the order of weights, and where sums begin.
struct Operand {
  I8 even, odd;
#if FOVEA_GEMM_QUAD
  VI begin;
#else
  I16 begin;
#endif
};

// The first `count` bytes, a multiple of 32.
HWY_INLINE I8 LoadSome(const int8_t* p, size_t count) {
  if constexpr (kBytes == kI4Block) return count == 0 ? hn::Zero(D8()) : hn::LoadU(D8(), p);
  return count == 0 ? hn::Zero(D8()) : hn::LoadN(D8(), p, count);
}

template <bool kWhole>
HWY_INLINE Operand LoadOperand(const int8_t* x, size_t elements, int32_t zero_point) {
  const hn::Repartition<uint64_t, DF> du;
  alignas(16) constexpr uint8_t kOrder[16] = {0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15};
  const auto order = hn::LoadDup128(DU8(), kOrder);
  const size_t low = HWY_MIN(elements, kBytes);
  const I8 v0 = kWhole ? hn::LoadU(D8(), x) : LoadSome(x, low);
  const I8 v1 = kWhole ? hn::LoadU(D8(), x + kBytes) : LoadSome(x + kBytes, elements - low);
  const auto s0 = hn::BitCast(du, hn::TableLookupBytes(v0, order)),
             s1 = hn::BitCast(du, hn::TableLookupBytes(v1, order));
  Operand result;
  result.even = hn::BitCast(D8(), hn::ConcatEven(du, s1, s0));
  result.odd = hn::BitCast(D8(), hn::ConcatOdd(du, s1, s0));
  const U8 eight = hn::Set(DU8(), 8);
#if FOVEA_GEMM_QUAD
  VI sum = hn::Zero(DI());
  AddProducts(eight, result.even, sum);
  AddProducts(eight, result.odd, sum);
  result.begin = hn::Sub(hn::Set(DI(), zero_point * 64), sum);
#else
  const I16 sum = hn::Add(hn::SatWidenMulPairwiseAdd(D16(), eight, result.even),
                          hn::SatWidenMulPairwiseAdd(D16(), eight, result.odd));
  result.begin = hn::Sub(hn::Set(D16(), static_cast<int16_t>(zero_point * 32)), sum);
#endif
  return result;
}

// The bf16 scales of the vector's blocks, each in the lanes of its block; 0 for missing blocks.
template <bool kWhole>
HWY_INLINE VF LoadScales(const uint16_t* p, size_t blocks) {
  using T = hwy::UnsignedFromSize<2 * kBlocks>;
  const hn::Repartition<T, DF> d;
  T all = 0;
  hwy::CopyBytes(p, &all, 2 * (kWhole ? kBlocks : blocks));
  alignas(64) constexpr uint8_t kOrder[64] = {128, 128, 0, 1, 128, 128, 0, 1, 128, 128, 0, 1, 128, 128, 0, 1,
                                              128, 128, 2, 3, 128, 128, 2, 3, 128, 128, 2, 3, 128, 128, 2, 3,
                                              128, 128, 4, 5, 128, 128, 4, 5, 128, 128, 4, 5, 128, 128, 4, 5,
                                              128, 128, 6, 7, 128, 128, 6, 7, 128, 128, 6, 7, 128, 128, 6, 7};
  return hn::BitCast(DF(), hn::TableLookupBytesOr0(hn::BitCast(DU8(), hn::Set(d, all)), hn::Load(DU8(), kOrder)));
}

template <size_t kRows>
HWY_NOINLINE void I4Group(const GemmTile& tile, size_t row) {
  const size_t k = tile.k;
  const auto* const from = static_cast<const int8_t*>(tile.x) + row * k;
  const QuantParams* const params = tile.params + row;
  float* const y = tile.y + row * tile.y_stride;
  ForFours(
      tile, [ =, &tile ](Four four) HWY_ATTR __attribute__((always_inline)) {
        const uint8_t* w[kFour];
        const uint16_t* s[kFour];
        four.Rows(tile.weights, k / 2, w);
        four.Rows(tile.scales, k / kI4Block, s);
        VF sums[kRows][kFour];
        HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
          HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) sums[r][j] = hn::Zero(DF());
        }
        const U8 mask = hn::Set(DU8(), 15);
        const auto step = [&](size_t i, size_t elements, auto whole, const auto& column) HWY_ATTR
            __attribute__((always_inline)) {
          Operand x[kRows];
          HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
            x[r] = LoadOperand<whole()>(from + r * k + i, elements, params[r].zero_point);
          }
          HWY_UNROLL(4) for (size_t j = 0; j < kFour; ++j) {
            const U8 bytes = hn::LoadU(DU8(), column(j));
            const U8 low = hn::And(bytes, mask);
            const U8 high = hn::And(hn::BitCast(DU8(), hn::ShiftRight<4>(hn::BitCast(D16(), bytes))), mask);
            const U8 both = hn::Add(low, high);
            const VF scales = LoadScales<whole()>(s[j] + i / kI4Block, elements / kI4Block);
#if FOVEA_GEMM_QUAD
            VI of_weights = hn::Zero(DI());
            if constexpr (kRows > 1) AddProducts(both, hn::Set(D8(), 1), of_weights);
            [[maybe_unused]] const VF exact_weights = hn::ConvertTo(DF(), of_weights);
#endif
            HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
#if FOVEA_GEMM_QUAD
              VI sum = x[r].begin;
              AddProducts(low, x[r].even, sum);
              AddProducts(high, x[r].odd, sum);
              const int32_t zero = params[r].zero_point;
              VF exact;
              if constexpr (kRows == 1) {  // -zero is a byte unless it is 128
                AddProducts(both, hn::Set(D8(), static_cast<int8_t>(HWY_MIN(-zero, 127))), sum);
                if (HWY_UNLIKELY(zero == -128)) AddProducts(both, hn::Set(D8(), 1), sum);
                exact = hn::ConvertTo(DF(), sum);
              } else {
                const VF zeros = hn::Set(DF(), static_cast<float>(zero));
                exact = hn::NegMulAdd(zeros, exact_weights, hn::ConvertTo(DF(), sum));
              }
#else
              const I8 zero = hn::Set(D8(), static_cast<int8_t>(params[r].zero_point));
              const I16 products = hn::Add(hn::SatWidenMulPairwiseAdd(D16(), low, x[r].even),
                                           hn::SatWidenMulPairwiseAdd(D16(), high, x[r].odd));
              const I16 rest = hn::Sub(x[r].begin, hn::SatWidenMulPairwiseAdd(D16(), both, zero));
              const VF exact =
                  hn::ConvertTo(DF(), hn::WidenMulPairwiseAdd(DI(), hn::Add(products, rest), hn::Set(D16(), 1)));
#endif
              sums[r][j] = hn::MulAdd(exact, scales, sums[r][j]);
            }
          }
        };
        size_t i = 0;
        for (; i + kElements <= k; i += kElements) {
          if (row == 0 && (kBytes == kLine || i % (2 * kLine) == 0)) FetchNext(w, k / 2, i / 2);
          step(i, kElements, std::true_type(), [&](size_t j) HWY_ATTR { return w[j] + i / 2; });
        }
        if (i < k) {
          Ends ends;
          CopyEnds(w, i / 2, k / 2, ends);
          step(i, k - i, std::false_type(), [&](size_t j) HWY_ATTR { return ends.bytes[j]; });
        }
        const auto bias = four.Load(tile.bias);
        HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
          const auto scale = hn::Set(DF4(), params[r].scale);
          four.Store(hn::MulAdd(SumsOf4(DF(), sums[r]), scale, bias), y + r * tile.y_stride);
        }
      });
}
constexpr size_t kI4Rows = FOVEA_GEMM_QUAD ? 4 : 2;

}  // namespace in_place

HWY_INLINE void InPlaceI8(const GemmTile& tile) {
#if FOVEA_GEMM_QUAD
  int32_t weight_sums[kGemmTileColumns];
  in_place::ForGroups<in_place::kI8Rows>(tile.rows, [&](auto height, size_t row) HWY_ATTR {
    if (row == 0) {
      in_place::I8Group<height(), true>(tile, row, weight_sums);
    } else {
      in_place::I8Group<height(), false>(tile, row, weight_sums);
    }
  });
#else
  in_place::ForGroups<in_place::kI8Rows>(
      tile.rows, [&](auto height, size_t row) HWY_ATTR { in_place::I8Group<height()>(tile, row); });
#endif
}

HWY_INLINE void InPlaceI4(const GemmTile& tile) {
  in_place::ForGroups<in_place::kI4Rows>(
      tile.rows, [&](auto height, size_t row) HWY_ATTR { in_place::I4Group<height()>(tile, row); });
}

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();
#endif

#endif  // toggle
