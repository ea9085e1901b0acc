// Exact dot products of int8 rows for targets without Highway's vectors: the processor-specific part of the int8 matmul
// in gemm_plain-inl.h.
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
#if defined(__ARM_FEATURE_MVE)
#include <arm_mve.h>
#elif defined(__ARM_FEATURE_SIMD32)
#include <arm_acle.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
#if FOVEA_GEMM_PLAIN

// Sums of a row of x with two rows of weights.
struct I8Sums {
  int32_t of[2] = {0, 0};
};

// Two rows of k weights, to be multiplied by rows of x. Processor-specific versions have the same two functions.
struct PlainColumns {
  // Runs before the first row of x: computes what all rows share.
  HWY_INLINE PlainColumns(const int8_t* first, const int8_t* second, size_t depth) : w0(first), w1(second), k(depth) {
    int32_t a = 0, b = 0;
    for (size_t i = 0; i < k; ++i) {
      a += w0[i];
      b += w1[i];
    }
    weights = {{a, b}};
  }

  // Sums of (x - zero) w for kRows rows of x (1 or 2), k apart, each with its zero.
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

#if defined(__ARM_FEATURE_MVE)

// Helium: sixteen products and their sum in one instruction. Lanes past the end of a row are not read and count as 0.
struct MveColumns {
  HWY_INLINE MveColumns(const int8_t* first, const int8_t* second, size_t depth) : w0(first), w1(second), k(depth) {
    int32_t a = 0, b = 0;
    ForVectors([&](size_t i, auto load) {
      a = vaddvaq_s8(a, load(w0 + i));
      b = vaddvaq_s8(b, load(w1 + i));
    });
    weights = {{a, b}};
  }

  template <size_t kRows>
  HWY_INLINE void Dots(const int8_t* HWY_RESTRICT x, const int32_t (&zero)[kRows], I8Sums (&sums)[kRows]) const {
    int32_t a0 = 0, a1 = 0, b0 = 0, b1 = 0;
    ForVectors([&](size_t i, auto load) {
      const int8x16_t a = load(w0 + i), b = load(w1 + i), x0 = load(x + i);
      a0 = vmladavaq_s8(a0, a, x0);
      b0 = vmladavaq_s8(b0, b, x0);
      if constexpr (kRows == 2) {
        const int8x16_t x1 = load(x + k + i);
        a1 = vmladavaq_s8(a1, a, x1);
        b1 = vmladavaq_s8(b1, b, x1);
      }
    });
    sums[0] = {{a0 - zero[0] * weights.of[0], b0 - zero[0] * weights.of[1]}};
    if constexpr (kRows == 2) sums[1] = {{a1 - zero[1] * weights.of[0], b1 - zero[1] * weights.of[1]}};
  }

  template <class F>
  HWY_INLINE void ForVectors(const F& f) const {
    size_t i = 0;
    for (; i + 16 <= k; i += 16) f(i, [](const int8_t* p) { return vldrbq_s8(p); });
    if (i == k) return;
    const mve_pred16_t inside = vctp8q(k - i);
    f(i, [inside](const int8_t* p) { return vldrbq_z_s8(p, inside); });
  }

  const int8_t* HWY_RESTRICT w0;
  const int8_t* HWY_RESTRICT w1;
  size_t k;
  I8Sums weights;
};

using I8Columns = MveColumns;

#elif defined(__ARM_FEATURE_SIMD32)

// Cortex-M with DSP instructions: the four bytes of a word become two pairs of 16 bits, even and odd bytes, and SMLAD
// adds the two products of a pair. x enters as x - zero, which fits 16 bits and costs nothing with SXTAB16.
struct DspColumns {
  HWY_INLINE DspColumns(const int8_t* first, const int8_t* second, size_t depth) : w0(first), w1(second), k(depth) {}

  template <size_t kRows>
  HWY_INLINE void Dots(const int8_t* HWY_RESTRICT x, const int32_t (&zero)[kRows], I8Sums (&sums)[kRows]) const {
    int32_t a0 = 0, a1 = 0, b0 = 0, b1 = 0;
    const int32_t minus0 = PairOf(-zero[0]), minus1 = PairOf(-zero[kRows - 1]);
    const int8_t *HWY_RESTRICT p = w0, *HWY_RESTRICT q = w1;
    for (const int8_t* end = w0 + k / 4 * 4; p != end; p += 4, q += 4, x += 4) {
      const int32_t a = Word(p), b = Word(q), x0 = Word(x);
      const int32_t a_even = __sxtb16(a), a_odd = OddPair(a), b_even = __sxtb16(b), b_odd = OddPair(b);
      const int32_t x0_even = __sxtab16(minus0, x0), x0_odd = AddOddPair(minus0, x0);
      a0 = __smlad(a_odd, x0_odd, __smlad(a_even, x0_even, a0));
      b0 = __smlad(b_odd, x0_odd, __smlad(b_even, x0_even, b0));
      if constexpr (kRows == 2) {
        const int32_t x1 = Word(x + k);
        const int32_t x1_even = __sxtab16(minus1, x1), x1_odd = AddOddPair(minus1, x1);
        a1 = __smlad(a_odd, x1_odd, __smlad(a_even, x1_even, a1));
        b1 = __smlad(b_odd, x1_odd, __smlad(b_even, x1_even, b1));
      }
    }
    for (const int8_t* end = w0 + k; p != end; ++p, ++q, ++x) {
      const int32_t x0 = *x - zero[0];
      a0 += x0 * *p;
      b0 += x0 * *q;
      if constexpr (kRows == 2) {
        const int32_t x1 = x[k] - zero[1];
        a1 += x1 * *p;
        b1 += x1 * *q;
      }
    }
    sums[0] = {{a0, b0}};
    if constexpr (kRows == 2) sums[1] = {{a1, b1}};
  }

  static HWY_INLINE int32_t Word(const int8_t* p) {
    int32_t word;
    hwy::CopyBytes<4>(p, &word);
    return word;
  }
  static HWY_INLINE int32_t PairOf(int32_t v) {
    return static_cast<int32_t>((v & 0xffff) | static_cast<uint32_t>(v) << 16);
  }
  // The rotation is part of the instruction; compilers emit two instructions for the intrinsic with a rotated operand.
  static HWY_INLINE int32_t OddPair(int32_t word) {
    int32_t pair;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
    return pair;
  }
  static HWY_INLINE int32_t AddOddPair(int32_t pair, int32_t word) {
    int32_t sum;
    __asm__("sxtab16 %0, %1, %2, ror #8" : "=r"(sum) : "r"(pair), "r"(word));
    return sum;
  }

  const int8_t* HWY_RESTRICT w0;
  const int8_t* HWY_RESTRICT w1;
  size_t k;
};

using I8Columns = DspColumns;

#else
using I8Columns = PlainColumns;
#endif

#endif  // FOVEA_GEMM_PLAIN
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // toggle
