// Exact dots of int8 rows for targets without Highway's vectors: what differs from processor to processor of the int8
// product of gemm_plain-inl.h.
#if defined(FOVEA_RUNTIME_KERNELS_GEMM_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_GEMM_DOTS_INL_H_
#undef FOVEA_RUNTIME_KERNELS_GEMM_DOTS_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_GEMM_DOTS_INL_H_
#endif

#include <stddef.h>
#include <stdint.h>

#include "hwy/highway.h"
#include "runtime/kernels/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
#if FOVEA_GEMM_PLAIN

// Sums of a row of x with two rows of weights.
struct I8Sums {
  int32_t of[2] = {0, 0};
};

// Two rows of k weights, to be multiplied with rows of x. What a processor has in its place has these two functions.
struct PlainColumns {
  // Before the first row of x: what all rows share.
  HWY_INLINE PlainColumns(const int8_t* first, const int8_t* second, size_t depth) : w0(first), w1(second), k(depth) {
    int32_t a = 0, b = 0;
    for (size_t i = 0; i < k; ++i) {
      a += w0[i];
      b += w1[i];
    }
    weights = {{a, b}};
  }

  // Sums of (x - zero) w for kRows rows of x, 1 or 2, k apart, each with its zero.
  template <size_t kRows>
  HWY_INLINE void Dots(const int8_t* HWY_RESTRICT x, const int32_t (&zero)[kRows], I8Sums (&sums)[kRows]) const {
    int32_t a0 = 0, a1 = 0, b0 = 0, b1 = 0;
    for (size_t i = 0; i < k; ++i) {
      a0 += x[i] * w0[i];
      b0 += x[i] * w1[i];
      if constexpr (kRows == 2) {
        a1 += x[k + i] * w0[i];
        b1 += x[k + i] * w1[i];
      }
    }
    sums[0] = {{a0 - zero[0] * weights.of[0], b0 - zero[0] * weights.of[1]}};
    if constexpr (kRows == 2) sums[1] = {{a1 - zero[1] * weights.of[0], b1 - zero[1] * weights.of[1]}};
  }

  const int8_t* HWY_RESTRICT w0;
  const int8_t* HWY_RESTRICT w1;
  size_t k;
  I8Sums weights;
};

using I8Columns = PlainColumns;

#endif  // FOVEA_GEMM_PLAIN
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // toggle
