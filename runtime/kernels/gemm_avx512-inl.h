// Shared by the kernels for packed int8 weights on x86 with AVX-512: fetching weights, and the end of a row of sixteen
// columns.
#ifndef FOVEA_RUNTIME_KERNELS_GEMM_AVX512_INL_H_
#define FOVEA_RUNTIME_KERNELS_GEMM_AVX512_INL_H_

#include <immintrin.h>

#include "hwy/base.h"
#include "runtime/kernels/gemm.h"

#define FOVEA_AVX512 __attribute__((target("avx512f,avx512vnni")))

namespace fovea {
namespace avx512 {

// A pass's part of the weights that are multiplied next, step by step: `next` has step_bytes for each of `steps`, all
// passes together fetch them. A single pass fetches none, because it reads weights in their order.
class Fetch {
 public:
  Fetch(const uint8_t* next, size_t step_bytes, size_t steps, size_t pass, size_t passes)
      : lines_(passes == 1 ? 0 : (step_bytes / kLine + passes - 1) / passes),
        from_(next + pass * lines_ * kLine * steps) {}
  HWY_INLINE void Step() {
    for (size_t i = 0; i < lines_; ++i, from_ += kLine) __builtin_prefetch(from_, 0, 2);
  }

 private:
  static constexpr size_t kLine = 64;
  size_t lines_;
  const uint8_t* from_;
};

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
