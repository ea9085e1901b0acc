// Matmuls on RISC-V with vector instructions, for weights that are read in place: rows of x and columns of y are both
// read along k. Vectors are as long as the processor's, so the types have no known size and sums are single variables.
// Each sum has the same order of additions for every number of rows.
#if defined(FOVEA_RUNTIME_KERNELS_GEMM_RISCV_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_GEMM_RISCV_INL_H_
#undef FOVEA_RUNTIME_KERNELS_GEMM_RISCV_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_GEMM_RISCV_INL_H_
#endif

#include <stddef.h>
#include <stdint.h>

#include <type_traits>

#include "hwy/highway.h"
#include "runtime/kernels/gemm.h"

#undef FOVEA_GEMM_RISCV
#if HWY_TARGET == HWY_EMU128 && FOVEA_RISCV_VECTORS
#define FOVEA_GEMM_RISCV 1
#else
#define FOVEA_GEMM_RISCV 0
#endif

#if FOVEA_GEMM_RISCV
HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace riscv {

HWY_INLINE float BiasOf(const GemmTile& tile, size_t c) { return tile.bias == nullptr ? 0.0f : tile.bias[c]; }

// ---- f32 and f16: four rows and two columns

HWY_INLINE vfloat32m2_t LoadFloats(const float* p, size_t count) { return __riscv_vle32_v_f32m2(p, count); }
HWY_INLINE vfloat32m2_t LoadFloats(const hwy::float16_t* p, size_t count) {
#ifdef __riscv_zvfhmin
  return __riscv_vfwcvt_f_f_v_f32m2(__riscv_vle16_v_f16m1(reinterpret_cast<const _Float16*>(p), count), count);
#else
  // The exponent is moved by a multiplication, which also normalises small numbers.
  const vint16m1_t half = __riscv_vle16_v_i16m1(reinterpret_cast<const int16_t*>(p), count);
  const vint32m2_t wide = __riscv_vsext_vf2_i32m2(half, count);
  const vuint32m2_t bits = __riscv_vreinterpret_v_i32m2_u32m2(wide);
  const vuint32m2_t size = __riscv_vsrl_vx_u32m2(__riscv_vsll_vx_u32m2(bits, 17, count), 4, count);
  const vfloat32m2_t moved = __riscv_vfmul_vf_f32m2(__riscv_vreinterpret_v_u32m2_f32m2(size), 0x1p112f, count);
  const vbool16_t special = __riscv_vmsgtu_vx_u32m2_b16(size, 0x0f7fffff, count);  // infinity, NaN
  const vuint32m2_t magnitude = __riscv_vmerge_vvm_u32m2(__riscv_vreinterpret_v_f32m2_u32m2(moved),
                                                         __riscv_vor_vx_u32m2(size, 0x7f800000, count), special, count);
  const vuint32m2_t sign = __riscv_vand_vx_u32m2(bits, 0x80000000, count);
  return __riscv_vreinterpret_v_u32m2_f32m2(__riscv_vor_vv_u32m2(magnitude, sign, count));
#endif
}

// sum + x * w; kPart: only in the first `count` lanes.
template <bool kPart>
HWY_INLINE vfloat32m2_t Multiplied(vfloat32m2_t sum, vfloat32m2_t x, vfloat32m2_t w, size_t count) {
  if constexpr (kPart) return __riscv_vfmacc_vv_f32m2_tu(sum, x, w, count);
  return __riscv_vfmacc_vv_f32m2(sum, x, w, count);
}

HWY_INLINE float SumOf(vfloat32m2_t v) {
  const vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, 1);
  return __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m2_f32m1(v, zero, __riscv_vsetvlmax_e32m2()));
}

template <size_t kRows, class T>
HWY_INLINE void FloatBlock(const GemmTile& tile, size_t row, size_t c) {
  const size_t k = tile.k;
  const float* x = static_cast<const float*>(tile.x) + row * k;
  const T* w0 = static_cast<const T*>(tile.weights) + c * k;
  const bool both = c + 1 < tile.columns;
  const T* w1 = both ? w0 + k : w0;
  const vfloat32m2_t zero = __riscv_vfmv_v_f_f32m2(0.0f, __riscv_vsetvlmax_e32m2());
  vfloat32m2_t s0 = zero, s1 = zero, t0 = zero, t1 = zero, u0 = zero, u1 = zero, v0 = zero, v1 = zero;
  const auto step = [&](size_t i, size_t n, auto part) HWY_ATTR __attribute__((always_inline)) {
    const vfloat32m2_t a = LoadFloats(w0 + i, n), b = LoadFloats(w1 + i, n);
    const auto add = [&](size_t r, vfloat32m2_t & first, vfloat32m2_t & second) HWY_ATTR
        __attribute__((always_inline)) {
      const vfloat32m2_t v = __riscv_vle32_v_f32m2(x + r * k + i, n);
      first = Multiplied<part()>(first, v, a, n);
      second = Multiplied<part()>(second, v, b, n);
    };
    add(0, s0, s1);
    if constexpr (kRows > 1) add(1, t0, t1);
    if constexpr (kRows > 2) add(2, u0, u1);
    if constexpr (kRows > 3) add(3, v0, v1);
  };
  const size_t n = __riscv_vsetvlmax_e32m2();
  size_t i = 0;
  for (; i + n <= k; i += n) step(i, n, std::false_type());
  if (i < k) step(i, k - i, std::true_type());
  const auto put = [&](size_t r, vfloat32m2_t first, vfloat32m2_t second) HWY_ATTR __attribute__((always_inline)) {
    float* y = tile.y + (row + r) * tile.y_stride + c;
    y[0] = SumOf(first) + BiasOf(tile, c);
    if (both) y[1] = SumOf(second) + BiasOf(tile, c + 1);
  };
  put(0, s0, s1);
  if constexpr (kRows > 1) put(1, t0, t1);
  if constexpr (kRows > 2) put(2, u0, u1);
  if constexpr (kRows > 3) put(3, v0, v1);
}

template <size_t kRows, class T>
HWY_INLINE void FloatRows(const GemmTile& tile, size_t row) {
  for (size_t c = 0; c < tile.columns; c += 2) FloatBlock<kRows, T>(tile, row, c);
}
template <class T>
HWY_INLINE void FloatTile(const GemmTile& tile) {
  size_t row = 0;
  for (; row + 4 <= tile.rows; row += 4) FloatRows<4, T>(tile, row);
  if (tile.rows - row >= 2) FloatRows<2, T>(tile, row), row += 2;
  if (row < tile.rows) FloatRows<1, T>(tile, row);
}

// ---- int8: two rows and two columns. Two products fit 16 bits, since weights are not -128.

// Two vectors of bytes, by an instruction that does not depend on the vector length in use.
HWY_INLINE vint8m2_t LoadTwo(const int8_t* p) { return *reinterpret_cast<const vint8m2_t*>(p); }

struct I8Operand {
  // The sums of products of each pair of bytes; for the second row of weights' sums, of the weights themselves.
  static HWY_INLINE vint16m2_t Pairs(vint8m2_t x, vint8m2_t w, size_t n) {
    const vint16m2_t first = __riscv_vwmul_vv_i16m2(__riscv_vget_v_i8m2_i8m1(x, 0), __riscv_vget_v_i8m2_i8m1(w, 0), n);
    return __riscv_vwmacc_vv_i16m2(first, __riscv_vget_v_i8m2_i8m1(x, 1), __riscv_vget_v_i8m2_i8m1(w, 1), n);
  }
  static HWY_INLINE vint16m2_t Pairs(vint8m2_t w, size_t n) {
    return __riscv_vwadd_vv_i16m2(__riscv_vget_v_i8m2_i8m1(w, 0), __riscv_vget_v_i8m2_i8m1(w, 1), n);
  }
};

HWY_INLINE int32_t SumOf(vint32m4_t v) {
  const vint32m1_t zero = __riscv_vmv_s_x_i32m1(0, 1);
  return __riscv_vmv_x_s_i32m1_i32(__riscv_vredsum_vs_i32m4_i32m1(v, zero, __riscv_vsetvlmax_e32m4()));
}

HWY_INLINE void PutI8(const GemmTile& tile, size_t row, size_t c, int32_t sum, int32_t weight_sum) {
  const QuantParams& params = tile.params[row];
  const float exact = static_cast<float>(sum - params.zero_point * weight_sum);
  const float scale = static_cast<const float*>(tile.scales)[c] * params.scale;
  tile.y[row * tile.y_stride + c] = __builtin_fmaf(exact, scale, BiasOf(tile, c));
}

// kRows rows of columns c and c + 1; with kOnes also a last row of ones, whose sums are the sums of weights.
template <size_t kRows, bool kOnes>
HWY_INLINE void I8Block(const GemmTile& tile, size_t row, size_t c, int32_t* weight_sums) {
  const size_t k = tile.k, n = __riscv_vsetvlmax_e8m1();
  const int8_t* x = static_cast<const int8_t*>(tile.x) + row * k;
  const int8_t* w0 = static_cast<const int8_t*>(tile.weights) + c * k;
  const bool both = c + 1 < tile.columns;
  const int8_t* w1 = both ? w0 + k : w0;
  const vint32m4_t zero = __riscv_vmv_v_x_i32m4(0, n);
  vint32m4_t s0 = zero, s1 = zero, t0 = zero, t1 = zero;
  size_t i = 0;
  for (; i + 2 * n <= k; i += 2 * n) {
    const vint8m2_t a = LoadTwo(w0 + i), b = LoadTwo(w1 + i);
    vint16m2_t p0, p1, q0, q1;
    if constexpr (kRows > 0) {
      const vint8m2_t v = LoadTwo(x + i);
      p0 = I8Operand::Pairs(v, a, n), p1 = I8Operand::Pairs(v, b, n);
    }
    if constexpr (kRows > 1) {
      const vint8m2_t v = LoadTwo(x + k + i);
      q0 = I8Operand::Pairs(v, a, n), q1 = I8Operand::Pairs(v, b, n);
    } else if constexpr (kOnes) {
      q0 = I8Operand::Pairs(a, n), q1 = I8Operand::Pairs(b, n);
    }
    if constexpr (kRows > 0) s0 = __riscv_vwadd_wv_i32m4(s0, p0, n), s1 = __riscv_vwadd_wv_i32m4(s1, p1, n);
    if constexpr (kRows > 1 || kOnes) t0 = __riscv_vwadd_wv_i32m4(t0, q0, n), t1 = __riscv_vwadd_wv_i32m4(t1, q1, n);
  }
  for (size_t m; i < k; i += m) {
    m = __riscv_vsetvl_e8m1(k - i);
    const vint8m1_t a = __riscv_vle8_v_i8m1(w0 + i, m), b = __riscv_vle8_v_i8m1(w1 + i, m);
    if constexpr (kRows > 0) {
      const vint8m1_t v = __riscv_vle8_v_i8m1(x + i, m);
      s0 = __riscv_vwadd_wv_i32m4_tu(s0, s0, __riscv_vwmul_vv_i16m2(v, a, m), m);
      s1 = __riscv_vwadd_wv_i32m4_tu(s1, s1, __riscv_vwmul_vv_i16m2(v, b, m), m);
    }
    if constexpr (kRows > 1) {
      const vint8m1_t v = __riscv_vle8_v_i8m1(x + k + i, m);
      t0 = __riscv_vwadd_wv_i32m4_tu(t0, t0, __riscv_vwmul_vv_i16m2(v, a, m), m);
      t1 = __riscv_vwadd_wv_i32m4_tu(t1, t1, __riscv_vwmul_vv_i16m2(v, b, m), m);
    } else if constexpr (kOnes) {
      t0 = __riscv_vwadd_wv_i32m4_tu(t0, t0, __riscv_vsext_vf2_i16m2(a, m), m);
      t1 = __riscv_vwadd_wv_i32m4_tu(t1, t1, __riscv_vsext_vf2_i16m2(b, m), m);
    }
  }
  if constexpr (kOnes) {
    weight_sums[0] = SumOf(t0);
    if (both) weight_sums[1] = SumOf(t1);
  }
  if constexpr (kRows > 0) {
    PutI8(tile, row, c, SumOf(s0), weight_sums[0]);
    if (both) PutI8(tile, row, c + 1, SumOf(s1), weight_sums[1]);
  }
  if constexpr (kRows > 1) {
    PutI8(tile, row + 1, c, SumOf(t0), weight_sums[0]);
    if (both) PutI8(tile, row + 1, c + 1, SumOf(t1), weight_sums[1]);
  }
}

template <size_t kRows, bool kOnes>
HWY_INLINE void I8Rows(const GemmTile& tile, size_t row, int32_t* weight_sums) {
  for (size_t c = 0; c < tile.columns; c += 2) I8Block<kRows, kOnes>(tile, row, c, weight_sums + c);
}

HWY_INLINE void I8Tile(const GemmTile& tile) {
  int32_t weight_sums[kGemmTileColumns];
  if (tile.rows == 1) return I8Rows<1, true>(tile, 0, weight_sums);
  I8Rows<0, true>(tile, 0, weight_sums);
  size_t row = 0;
  for (; row + 2 <= tile.rows; row += 2) I8Rows<2, false>(tile, row, weight_sums);
  if (row < tile.rows) I8Rows<1, false>(tile, row, weight_sums);
}

// ---- int4: four rows and one column. A block of 32 elements is two vectors of 16 bytes, of its even and its odd
// elements, on every processor.

constexpr size_t kI4Bytes = 16;

// Adds a block's sums, scaled.
HWY_INLINE vfloat32m4_t AddI4(vfloat32m4_t sum, vint16m2_t products, float scale) {
  return __riscv_vfmacc_vf_f32m4(sum, scale, __riscv_vfwcvt_f_x_v_f32m4(products, kI4Bytes), kI4Bytes);
}
HWY_INLINE vint16m2_t ProductsI4(const int8_t* x, vint8m1_t even, vint8m1_t odd) {
  const vint8m1x2_t v = __riscv_vlseg2e8_v_i8m1x2(x, kI4Bytes);
  const vint16m2_t first = __riscv_vwmul_vv_i16m2(__riscv_vget_v_i8m1x2_i8m1(v, 0), even, kI4Bytes);
  return __riscv_vwmacc_vv_i16m2(first, __riscv_vget_v_i8m1x2_i8m1(v, 1), odd, kI4Bytes);
}
HWY_INLINE float SumOfI4(vfloat32m4_t v) {
  const vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0.0f, 1);
  return __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m4_f32m1(v, zero, kI4Bytes));
}

template <size_t kRows, bool kOnes>
HWY_INLINE void I4Block(const GemmTile& tile, size_t row, size_t c, float* weight_sum) {
  const size_t k = tile.k;
  const int8_t* x = static_cast<const int8_t*>(tile.x) + row * k;
  const uint8_t* w = static_cast<const uint8_t*>(tile.weights) + c * (k / 2);
  const uint16_t* scales = static_cast<const uint16_t*>(tile.scales) + c * (k / 32);
  const vfloat32m4_t zero = __riscv_vfmv_v_f_f32m4(0.0f, kI4Bytes);
  vfloat32m4_t s0 = zero, s1 = zero, s2 = zero, s3 = zero, ones = zero;
  for (size_t i = 0; i < k; i += 32, x += 32, w += kI4Bytes, ++scales) {
    const uint32_t bits = static_cast<uint32_t>(*scales) << 16;
    float scale;
    hwy::CopyBytes<4>(&bits, &scale);
    const vuint8m1_t packed = __riscv_vle8_v_u8m1(w, kI4Bytes);
    const vuint8m1_t low = __riscv_vand_vx_u8m1(packed, 15, kI4Bytes), high = __riscv_vsrl_vx_u8m1(packed, 4, kI4Bytes);
    const vint8m1_t even = __riscv_vadd_vx_i8m1(__riscv_vreinterpret_v_u8m1_i8m1(low), -8, kI4Bytes);
    const vint8m1_t odd = __riscv_vadd_vx_i8m1(__riscv_vreinterpret_v_u8m1_i8m1(high), -8, kI4Bytes);
    vint16m2_t p0, p1, p2, p3;
    if constexpr (kRows > 0) p0 = ProductsI4(x, even, odd);
    if constexpr (kRows > 1) p1 = ProductsI4(x + k, even, odd);
    if constexpr (kRows > 2) p2 = ProductsI4(x + 2 * k, even, odd);
    if constexpr (kRows > 3) p3 = ProductsI4(x + 3 * k, even, odd);
    if constexpr (kRows > 0) s0 = AddI4(s0, p0, scale);
    if constexpr (kRows > 1) s1 = AddI4(s1, p1, scale);
    if constexpr (kRows > 2) s2 = AddI4(s2, p2, scale);
    if constexpr (kRows > 3) s3 = AddI4(s3, p3, scale);
    if constexpr (kOnes) ones = AddI4(ones, __riscv_vwadd_vv_i16m2(even, odd, kI4Bytes), scale);
  }
  if constexpr (kOnes) *weight_sum = SumOfI4(ones);
  const auto put = [&](size_t r, vfloat32m4_t sum) HWY_ATTR __attribute__((always_inline)) {
    const QuantParams& params = tile.params[row + r];
    const float exact = __builtin_fmaf(-static_cast<float>(params.zero_point), *weight_sum, SumOfI4(sum));
    tile.y[(row + r) * tile.y_stride + c] = __builtin_fmaf(exact, params.scale, BiasOf(tile, c));
  };
  if constexpr (kRows > 0) put(0, s0);
  if constexpr (kRows > 1) put(1, s1);
  if constexpr (kRows > 2) put(2, s2);
  if constexpr (kRows > 3) put(3, s3);
}

template <size_t kRows, bool kOnes>
HWY_INLINE void I4Rows(const GemmTile& tile, size_t row, float* weight_sums) {
  for (size_t c = 0; c < tile.columns; ++c) I4Block<kRows, kOnes>(tile, row, c, weight_sums + c);
}

HWY_INLINE void I4Tile(const GemmTile& tile) {
  float weight_sums[kGemmTileColumns];
  if (tile.rows == 1) return I4Rows<1, true>(tile, 0, weight_sums);
  I4Rows<0, true>(tile, 0, weight_sums);
  size_t row = 0;
  for (; row + 4 <= tile.rows; row += 4) I4Rows<4, false>(tile, row, weight_sums);
  if (tile.rows - row >= 2) I4Rows<2, false>(tile, row, weight_sums), row += 2;
  if (row < tile.rows) I4Rows<1, false>(tile, row, weight_sums);
}

}  // namespace riscv
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();
#endif  // FOVEA_GEMM_RISCV

#endif  // toggle
