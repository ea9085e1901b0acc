// GEMM kernels for f32, f16, int8 and int4 weights that are read in place.
//
// Columns of y are rows of W, so both operands are read along k: a block of y is rows x 4 columns of dot products, each
// one vector of partial sums that is folded at the end. The order of additions is the same for every block height.
#include "runtime/kernels/gemm.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/gemm.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "runtime/base/arm_extensions.h"
#include "runtime/kernels/gemm-inl.h"
#include "runtime/kernels/gemm_arm.h"
#include "runtime/kernels/gemm_avx512.h"
#include "runtime/kernels/gemm_in_place_x86-inl.h"
#include "runtime/kernels/gemm_packed_f32-inl.h"
#include "runtime/kernels/gemm_packed_i4-inl.h"
#include "runtime/kernels/gemm_packed_i8-inl.h"
#include "runtime/kernels/gemm_plain-inl.h"
#include "runtime/kernels/gemm_riscv-inl.h"
#include "runtime/kernels/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace {

#if FOVEA_GEMM_PLAIN

void GemmF32(const GemmTile& tile) { PlainFloat<float>(tile); }
void GemmF16(const GemmTile& tile) { PlainFloat<hwy::float16_t>(tile); }
void GemmI8(const GemmTile& tile) { PlainI8(tile); }
void GemmI4(const GemmTile& tile) { PlainI4(tile); }

#elif FOVEA_GEMM_RISCV

void GemmF32(const GemmTile& tile) { riscv::FloatTile<float>(tile); }
void GemmF16(const GemmTile& tile) { riscv::FloatTile<hwy::float16_t>(tile); }
void GemmI8(const GemmTile& tile) { riscv::I8Tile(tile); }
void GemmI4(const GemmTile& tile) { riscv::I4Tile(tile); }

#else

// Whether blocks also have the heights 4 and 3, which saves passes over the weights where rows are few.
#if defined(FOVEA_SMALL)
constexpr bool kManyHeights = false;
#else
constexpr bool kManyHeights = kManyRegisters;
#endif

// Calls block<R>(row) with heights R that cover the tile's rows: kMost as often as possible, then smaller ones.
template <size_t kMost, class Block>
HWY_INLINE void ForRowBlocks(size_t rows, const Block& block) {
  size_t row = 0;
  for (; row + kMost <= rows; row += kMost) block(std::integral_constant<size_t, kMost>(), row);
  if constexpr (kManyHeights && kMost > 4) {
    for (; row + 4 <= rows; row += 4) block(std::integral_constant<size_t, 4>(), row);
  }
  if constexpr (kManyHeights && kMost > 3) {
    for (; row + 3 <= rows; row += 3) block(std::integral_constant<size_t, 3>(), row);
  }
  if constexpr (kMost > 2) {
    for (; row + 2 <= rows; row += 2) block(std::integral_constant<size_t, 2>(), row);
  }
  for (; row < rows; ++row) block(std::integral_constant<size_t, 1>(), row);
}

// Calls block(c, count) for every four columns; count is less than four for the last.
template <class Block>
HWY_INLINE void ForColumnBlocks(size_t columns, const Block& block) {
  for (size_t c = 0; c < columns; c += kBlockColumns) block(c, HWY_MIN(kBlockColumns, columns - c));
}

// The rows of W for columns c to c+3; past the last column it is repeated.
template <class T>
HWY_INLINE void ColumnPointers(const T* weights, size_t stride, size_t c, size_t count, const T* (&w)[kBlockColumns]) {
  for (size_t j = 0; j < kBlockColumns; ++j) w[j] = weights + (c + HWY_MIN(j, count - 1)) * stride;
}

// The first pass over a tile reads it from memory, four rows of weights at a time, which hardware prefetchers do not
// follow. So each line of a row also prefetches the same line of the row four rows later.
constexpr size_t kLineBytes = 64;
template <class T>
HWY_INLINE void FetchNextColumns(const T* const (&w)[kBlockColumns], size_t stride, size_t i) {
  HWY_UNROLL(4) for (size_t c = 0; c < kBlockColumns; ++c) hwy::Prefetch(w[c] + kBlockColumns * stride + i);
}

HWY_INLINE hn::Vec<DF4> LoadColumns(const float* p, size_t c, size_t count) {
  if (p == nullptr) return hn::Zero(DF4());
  return count == kBlockColumns ? hn::LoadU(DF4(), p + c) : hn::LoadN(DF4(), p + c, count);
}

HWY_INLINE void StoreColumns(hn::Vec<DF4> v, float* y, size_t count) {
  if (count == kBlockColumns) {
    hn::StoreU(v, DF4(), y);
  } else {
    hn::StoreN(v, DF4(), y, count);
  }
}

// ---- f32 and f16

HWY_INLINE VF LoadFloats(const float* p) { return hn::LoadU(DF(), p); }
HWY_INLINE VF LoadFloats(const float* p, size_t count) { return hn::LoadN(DF(), p, count); }
HWY_INLINE VF LoadFloats(const hwy::float16_t* p) {
  return hn::PromoteTo(DF(), hn::LoadU(hn::Rebind<hwy::float16_t, DF>(), p));
}
HWY_INLINE VF LoadFloats(const hwy::float16_t* p, size_t count) {
  return hn::PromoteTo(DF(), hn::LoadN(hn::Rebind<hwy::float16_t, DF>(), p, count));
}

template <size_t kRows, class T, class... Count>
HWY_INLINE void FloatStep(const float* x, size_t k, const T* const (&w)[kBlockColumns], size_t i,
                          VF (&sum)[kRows][kBlockColumns], Count... count) {
  VF vx[kRows];
  HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) vx[r] = LoadFloats(x + r * k + i, count...);
  HWY_UNROLL(4) for (size_t c = 0; c < kBlockColumns; ++c) {
    const VF vw = LoadFloats(w[c] + i, count...);
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) sum[r][c] = hn::MulAdd(vx[r], vw, sum[r][c]);
  }
}

// Two steps of f16 weights on 64-bit Arm, which loads eight at once. The sums are added up in the same order. Without
// `Keep`, gcc copies some of the sums in each turn, but for two rows.
#undef FOVEA_GEMM_EIGHT_HALVES
#if HWY_ARCH_ARM_A64 && (HWY_TARGET & HWY_ALL_NEON) && !defined(FOVEA_SMALL)
#define FOVEA_GEMM_EIGHT_HALVES 1
template <size_t kRows>
HWY_INLINE void Keep(VF& sum) {
  if constexpr (kRows != 2) __asm__ volatile("" : "+w"(sum.raw));
}
template <size_t kRows>
HWY_INLINE void EightHalves(const float* x, size_t k, const hwy::float16_t* const (&w)[kBlockColumns], size_t i,
                            VF (&sum)[kRows][kBlockColumns]) {
  VF low[kRows], high[kRows];
  HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
    low[r] = LoadFloats(x + r * k + i);
    high[r] = LoadFloats(x + r * k + i + 4);
  }
  HWY_UNROLL(4) for (size_t c = 0; c < kBlockColumns; ++c) {
    const auto eight = hn::LoadU(hn::Full128<hwy::float16_t>(), w[c] + i);
    const VF first = hn::PromoteLowerTo(DF(), eight), second = hn::PromoteUpperTo(DF(), eight);
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
      sum[r][c] = hn::MulAdd(low[r], first, sum[r][c]);
      Keep<kRows>(sum[r][c]);
    }
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
      sum[r][c] = hn::MulAdd(high[r], second, sum[r][c]);
      Keep<kRows>(sum[r][c]);
    }
  }
}
#else
#define FOVEA_GEMM_EIGHT_HALVES 0
#endif

template <size_t kRows, class T>
HWY_INLINE void FloatBlock(const GemmTile& tile, size_t row) {
  const size_t k = tile.k, step = hn::MaxLanes(DF());
  const float* HWY_RESTRICT x = static_cast<const float*>(tile.x) + row * k;
  // Captured by value, x and k stay in registers.
  ForColumnBlocks(tile.columns, [=, &tile](size_t c, size_t count) HWY_ATTR {
    const T* w[kBlockColumns];
    ColumnPointers(static_cast<const T*>(tile.weights), k, c, count, w);
    VF sum[kRows][kBlockColumns];
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
      HWY_UNROLL(4) for (size_t j = 0; j < kBlockColumns; ++j) sum[r][j] = hn::Zero(DF());
    }
    size_t i = 0;
#if FOVEA_GEMM_EIGHT_HALVES
    if constexpr (std::is_same_v<T, hwy::float16_t>) {
      for (; i + 16 <= k; i += 16) {
        if (row == 0 && i % (kLineBytes / sizeof(T)) == 0) FetchNextColumns(w, k, i);
        EightHalves<kRows>(x, k, w, i, sum);
        EightHalves<kRows>(x, k, w, i + 8, sum);
      }
    }
#endif
    for (; i + step <= k; i += step) {
      if (row == 0 && i % (kLineBytes / sizeof(T)) == 0) FetchNextColumns(w, k, i);
      FloatStep<kRows>(x, k, w, i, sum);
    }
    if (i < k) FloatStep<kRows>(x, k, w, i, sum, k - i);
    const auto bias = LoadColumns(tile.bias, c, count);
    HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
      StoreColumns(hn::Add(SumsOf4(DF(), sum[r]), bias), tile.y + (row + r) * tile.y_stride + c, count);
    }
  });
}

template <class T>
HWY_INLINE void FloatTile(const GemmTile& tile) {
  constexpr bool kEight = FOVEA_GEMM_EIGHT_HALVES && std::is_same_v<T, hwy::float16_t>;
  // gcc would copy some of the sums of six rows in each turn.
  constexpr bool kCopies = HWY_ARCH_ARM_A64 && HWY_COMPILER_GCC_ACTUAL && kManyHeights;
  constexpr size_t kMost = kEight || kCopies ? 4 : kManyRegisters ? 6 : 3;
  ForRowBlocks<kMost>(tile.rows, [&](auto height, size_t row) HWY_ATTR { FloatBlock<height(), T>(tile, row); });
}

void GemmF32(const GemmTile& tile) { FloatTile<float>(tile); }
void GemmF16(const GemmTile& tile) { FloatTile<hwy::float16_t>(tile); }

#if FOVEA_GEMM_IN_PLACE_X86

void GemmI8(const GemmTile& tile) { InPlaceI8(tile); }
void GemmI4(const GemmTile& tile) { InPlaceI4(tile); }

#elif !FOVEA_GEMM_IN_PLACE_ARM

// ---- int8: sum (x - zero) w = sum x w - zero sum w

// Lane sums of kRows rows of x with columns c to c+3; with kOnes also of a last row of ones: the sums of weights.
template <size_t kRows, bool kOnes>
HWY_INLINE void I8Sums(const GemmTile& tile, const int8_t* HWY_RESTRICT x, size_t c, size_t count,
                       VI (&low)[kRows + kOnes][kBlockColumns]) {
  constexpr size_t kAll = kRows + kOnes;
  const size_t k = tile.k;
  const int8_t* w[kBlockColumns];
  ColumnPointers(static_cast<const int8_t*>(tile.weights), k, c, count, w);
  VI high[kAll][kBlockColumns];
  HWY_UNROLL(8) for (size_t r = 0; r < kAll; ++r) {
    HWY_UNROLL(4) for (size_t j = 0; j < kBlockColumns; ++j) low[r][j] = high[r][j] = hn::Zero(DI());
  }
  const auto step = [&](size_t i, auto load_w) HWY_ATTR {
    VX vx[kAll];
    HWY_UNROLL(8) for (size_t r = 0; r < kAll; ++r) vx[r] = r == kRows ? Ones() : LoadX(x + r * k + i);
    HWY_UNROLL(4) for (size_t j = 0; j < kBlockColumns; ++j) {
      const VW vw = load_w(w[j] + i);
      HWY_UNROLL(8) for (size_t r = 0; r < kAll; ++r) Dot(vx[r], vw, low[r][j], high[r][j]);
    }
  };
  size_t i = 0;
  for (; i + kStep <= k; i += kStep) {
    if (kOnes && i % kLineBytes == 0) FetchNextColumns(w, k, i);
    step(i, [](const int8_t* p) HWY_ATTR { return LoadW(p); });
  }
  if (i < k) step(i, [&](const int8_t* p) HWY_ATTR { return LoadPartialW(p, k - i); });
  HWY_UNROLL(8) for (size_t r = 0; r < kAll; ++r) {
    HWY_UNROLL(4) for (size_t j = 0; j < kBlockColumns; ++j) low[r][j] = hn::Add(low[r][j], high[r][j]);
  }
}

// Computes kRows rows of columns c to c+3 of y from their lane sums and the columns' sums of weights.
template <size_t kRows>
HWY_INLINE void I8Finish(const GemmTile& tile, size_t row, size_t c, size_t count, const VI (*sum)[kBlockColumns],
                         hn::Vec<DI4> weight_sums) {
  const auto scales = LoadColumns(static_cast<const float*>(tile.scales), c, count);
  const auto bias = LoadColumns(tile.bias, c, count);
  HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
    const QuantParams& params = tile.params[row + r];
    const auto zero = hn::Mul(weight_sums, hn::Set(DI4(), params.zero_point));
    const auto exact = hn::ConvertTo(DF4(), hn::Sub(SumsOf4(DI(), sum[r]), zero));
    const auto y = hn::MulAdd(exact, hn::Mul(scales, hn::Set(DF4(), params.scale)), bias);
    StoreColumns(y, tile.y + (row + r) * tile.y_stride + c, count);
  }
}

void GemmI8(const GemmTile& tile) {
  const int8_t* x = static_cast<const int8_t*>(tile.x);
  if (tile.rows == 1) {
    ForColumnBlocks(tile.columns, [&](size_t c, size_t count) HWY_ATTR {
      VI sum[2][kBlockColumns];
      I8Sums<1, true>(tile, x, c, count, sum);
      I8Finish<1>(tile, 0, c, count, sum, SumsOf4(DI(), sum[1]));
    });
    return;
  }
  int32_t weight_sums[kGemmTileColumns];  // also loads the tile into cache
  ForColumnBlocks(tile.columns, [&](size_t c, size_t count) HWY_ATTR {
    VI sum[1][kBlockColumns];
    I8Sums<0, true>(tile, x, c, count, sum);
    hn::StoreU(SumsOf4(DI(), sum[0]), DI4(), weight_sums + c);
  });
  constexpr size_t kMost = kManyRegisters && !HWY_ARCH_ARM ? 6 : 3;
  ForRowBlocks<kMost>(tile.rows, [&](auto height, size_t row) HWY_ATTR {
    ForColumnBlocks(tile.columns, [&](size_t c, size_t count) HWY_ATTR {
      VI sum[height()][kBlockColumns];
      I8Sums<height(), false>(tile, x + row * tile.k, c, count, sum);
      I8Finish<height()>(tile, row, c, count, sum, hn::LoadU(DI4(), weight_sums + c));
    });
  });
}

// ---- int4: y = x_scale (sum_b s_b sum_{k in b} x (q - 8) - zero sum_b s_b sum_{k in b} (q - 8)) + bias
//
// Block sums are exact integers.

constexpr size_t kBlock = 32;
constexpr size_t kSteps = kBlock / kStep;

HWY_INLINE VW LoadW4(const uint8_t* p) {
  const hn::Repartition<uint32_t, DF> wide;
  const auto v = hn::PromoteTo(wide, hn::LoadU(hn::Rebind<uint8_t, decltype(wide)>(), p));
  const auto pairs = hn::And(hn::Or(v, hn::ShiftLeft<12>(v)), hn::Set(wide, 0x000f000f));
  return hn::Sub(hn::BitCast(DOperand(), pairs), hn::Set(DOperand(), 8));
}

// A bf16 scale in every lane.
HWY_INLINE VF BlockScale(const uint16_t* scale) {
  const hn::RebindToUnsigned<DF> du;
  return hn::BitCast(DF(), hn::Set(du, static_cast<uint32_t>(*scale) << 16));
}

// Scaled lane sums of kRows rows of x with columns c to c+3, and with kOnes of a row of ones.
template <size_t kRows, bool kOnes>
HWY_INLINE void I4Sums(const GemmTile& tile, const int8_t* HWY_RESTRICT x, size_t c, size_t count,
                       VF (&sum)[kRows + kOnes][kBlockColumns]) {
  constexpr size_t kAll = kRows + kOnes;
  const size_t k = tile.k;
  const uint8_t* w[kBlockColumns];
  const uint16_t* s[kBlockColumns];
  ColumnPointers(static_cast<const uint8_t*>(tile.weights), k / 2, c, count, w);
  ColumnPointers(static_cast<const uint16_t*>(tile.scales), k / kBlock, c, count, s);
  HWY_UNROLL(8) for (size_t r = 0; r < kAll; ++r) {
    HWY_UNROLL(4) for (size_t j = 0; j < kBlockColumns; ++j) sum[r][j] = hn::Zero(DF());
  }
  for (size_t i = 0; i < k; i += kBlock) {
    if (kOnes && i % (2 * kLineBytes) == 0) FetchNextColumns(w, k / 2, i / 2);
    VX vx[kAll][kSteps];
    HWY_UNROLL(8) for (size_t r = 0; r < kAll; ++r) {
      HWY_UNROLL(4) for (size_t t = 0; t < kSteps; ++t) {
        vx[r][t] = r == kRows ? Ones() : LoadX(x + r * k + i + t * kStep);
      }
    }
    HWY_UNROLL(4) for (size_t j = 0; j < kBlockColumns; ++j) {
      const VF scales = BlockScale(s[j] + i / kBlock);
      VW vw[kSteps];
      HWY_UNROLL(4) for (size_t t = 0; t < kSteps; ++t) vw[t] = LoadW4(w[j] + (i + t * kStep) / 2);
      HWY_UNROLL(8) for (size_t r = 0; r < kAll; ++r) {
        VI low = hn::Zero(DI()), high = hn::Zero(DI());
        HWY_UNROLL(4) for (size_t t = 0; t < kSteps; ++t) Dot(vx[r][t], vw[t], low, high);
        sum[r][j] = hn::MulAdd(hn::ConvertTo(DF(), hn::Add(low, high)), scales, sum[r][j]);
      }
    }
  }
}

template <size_t kRows>
HWY_INLINE void I4Finish(const GemmTile& tile, size_t row, size_t c, size_t count, const VF (*sum)[kBlockColumns],
                         hn::Vec<DF4> weight_sums) {
  const auto bias = LoadColumns(tile.bias, c, count);
  HWY_UNROLL(8) for (size_t r = 0; r < kRows; ++r) {
    const QuantParams& params = tile.params[row + r];
    const auto zero = hn::Set(DF4(), static_cast<float>(params.zero_point));
    const auto exact = hn::NegMulAdd(zero, weight_sums, SumsOf4(DF(), sum[r]));
    const auto y = hn::MulAdd(exact, hn::Set(DF4(), params.scale), bias);
    StoreColumns(y, tile.y + (row + r) * tile.y_stride + c, count);
  }
}

void GemmI4(const GemmTile& tile) {
  const int8_t* x = static_cast<const int8_t*>(tile.x);
  if (tile.rows == 1) {
    ForColumnBlocks(tile.columns, [&](size_t c, size_t count) HWY_ATTR {
      VF sum[2][kBlockColumns];
      I4Sums<1, true>(tile, x, c, count, sum);
      I4Finish<1>(tile, 0, c, count, sum, SumsOf4(DF(), sum[1]));
    });
    return;
  }
  float weight_sums[kGemmTileColumns];
  ForColumnBlocks(tile.columns, [&](size_t c, size_t count) HWY_ATTR {
    VF sum[1][kBlockColumns];
    I4Sums<0, true>(tile, x, c, count, sum);
    hn::StoreU(SumsOf4(DF(), sum[0]), DF4(), weight_sums + c);
  });
  constexpr size_t kMost = kManyRegisters ? 4 : 2;
  ForRowBlocks<kMost>(tile.rows, [&](auto height, size_t row) HWY_ATTR {
    ForColumnBlocks(tile.columns, [&](size_t c, size_t count) HWY_ATTR {
      VF sum[height()][kBlockColumns];
      I4Sums<height(), false>(tile, x + row * tile.k, c, count, sum);
      I4Finish<height()>(tile, row, c, count, sum, hn::LoadU(DF4(), weight_sums + c));
    });
  });
}

#endif  // !FOVEA_GEMM_IN_PLACE_ARM
#endif  // FOVEA_GEMM_PLAIN

using GemmFunction = void (*)(const GemmTile&);
#if FOVEA_GEMM_PACKED
constexpr GemmFunction kPackedF32 = kWeightsF32 ? GemmPackedF32 : nullptr, kPackedF16 = nullptr;
constexpr GemmFunction kPackedI8 = kWeightsI8 ? GemmPackedI8 : nullptr;
#elif FOVEA_GEMM_PACKED_ARM
constexpr GemmFunction kPackedF32 = kWeightsF32 ? GemmArmF32 : nullptr;
constexpr GemmFunction kPackedF16 = kWeightsF16 ? GemmArmF16 : nullptr;
constexpr GemmFunction kPackedI8 = kWeightsI8 ? GemmArmI8 : nullptr;
#else
constexpr GemmFunction kPackedF32 = nullptr, kPackedF16 = nullptr, kPackedI8 = nullptr;
#endif
#if FOVEA_GEMM_PACKED_I4
constexpr GemmFunction kPackedI4 = kWeightsI4 ? GemmPackedI4 : nullptr;
#elif FOVEA_GEMM_PACKED_ARM
constexpr GemmFunction kPackedI4 = kWeightsI4 ? GemmArmI4 : nullptr;
#else
constexpr GemmFunction kPackedI4 = nullptr;
#endif

#if FOVEA_GEMM_AVX512
constexpr GemmFunction kPackedAvx512 = kWeightsI8 ? GemmAvx512I8 : nullptr;
#else
constexpr GemmFunction kPackedAvx512 = nullptr;
#endif

#if FOVEA_GEMM_IN_PLACE_ARM
#if FOVEA_GEMM_ASKS
inline bool HasDots() { return ArmHasDotProduct(); }
#elif defined(__ARM_FEATURE_DOTPROD)
constexpr bool HasDots() { return true; }
#else
constexpr bool HasDots() { return false; }
#endif
#endif

#if !FOVEA_GEMM_ASKS
constexpr
#endif
    GemmKernels
    MakeGemmKernels() {
#if FOVEA_GEMM_IN_PLACE_ARM
  const bool dots = HasDots();
  const GemmFunction i8 = dots ? GemmInPlaceDotI8 : GemmInPlaceI8, i4 = dots ? GemmInPlaceDotI4 : GemmInPlaceI4;
#else
  constexpr GemmFunction i8 = GemmI8, i4 = GemmI4;
#endif
  return {kWeightsF32 ? GemmF32 : nullptr,
          kWeightsF16 ? GemmF16 : nullptr,
          kWeightsI8 ? i8 : nullptr,
          kWeightsI4 ? i4 : nullptr,
          kPackedF32,
          kPackedF16,
          kPackedI8,
          kPackedI4,
          kPackedAvx512};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
FOVEA_EXPORT_KERNELS(Gemm, gemm)
}  // namespace fovea
#endif
