// Shared by the kernels for packed int8 weights on x86 with AVX-512: the end of a row of sixteen columns.
#ifndef FOVEA_RUNTIME_KERNELS_GEMM_AVX512_INL_H_
#define FOVEA_RUNTIME_KERNELS_GEMM_AVX512_INL_H_

#include <immintrin.h>

#include "hwy/base.h"
#include "runtime/kernels/gemm.h"

#define FOVEA_AVX512 __attribute__((target("avx512f,avx512vnni")))

namespace fovea {
namespace avx512 {

// All lanes: gcc 12 warns of uninitialized vectors in the intrinsics without a mask.
constexpr __mmask16 kAll = 0xffff;

// The packed values of sixteen columns, except weights. The mask has the columns to write.
struct Columns {
  __m512i minus_sums;  // negated sums of weights, in two halves: the upper one in units of 256
  __m512 scales, biases;
  __mmask16 mask;
};

FOVEA_AVX512 HWY_INLINE Columns ColumnsAt(const uint8_t* minus_sums, const uint8_t* scales, const uint8_t* biases,
                                          size_t count) {
  const __m512i whole = _mm512_load_si512(minus_sums);
  const __m512i lower = _mm512_and_si512(whole, _mm512_set1_epi32(255));
  const __m512i upper = _mm512_maskz_slli_epi32(kAll, _mm512_maskz_srai_epi32(kAll, whole, 8), 16);
  return {_mm512_or_si512(lower, upper), _mm512_load_ps(scales), _mm512_load_ps(biases),
          static_cast<__mmask16>(count >= 16 ? 0xffffu : (1u << count) - 1)};
}

// A zero point for products with both halves.
inline int32_t Halves(int32_t zero_point) {
  return static_cast<int32_t>((static_cast<uint32_t>(zero_point) & 0xffffu) | static_cast<uint32_t>(zero_point) << 24);
}

// Writes a row, given the sums of its products with weights and its zero point's Halves. In XNNPACK's order: by the
// row's scale, then by the column's.
FOVEA_AVX512 HWY_INLINE void Write(const Columns& columns, __m512i sums, int32_t halves, float scale, float* y) {
  const __m512i exact = _mm512_dpwssd_epi32(sums, columns.minus_sums, _mm512_set1_epi32(halves));
  const __m512 scaled = _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(kAll, exact), _mm512_set1_ps(scale));
  _mm512_mask_storeu_ps(y, columns.mask, _mm512_fmadd_ps(scaled, columns.scales, columns.biases));
}

}  // namespace avx512
}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_GEMM_AVX512_INL_H_
