// The matmul's inner loop on 64-bit Arm: four elements of a row are loaded at once, and columns are multiplied by one
// lane of them, instead of an element that is loaded into all lanes.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_LANES_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_LANES_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_LANES_INL_H_
#endif

#include "runtime/kernels/attention_pack-inl.h"
#include "runtime/kernels/dot_arm-inl.h"

// A small build keeps the smaller loop of the other processors.
#undef FOVEA_ATTENTION_BY_LANE
#if HWY_TARGET_IS_NEON && HWY_ARCH_ARM_A64 && defined(__GNUC__) && !defined(FOVEA_SMALL)
#define FOVEA_ATTENTION_BY_LANE 1
#else
#define FOVEA_ATTENTION_BY_LANE 0
#endif

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

#if FOVEA_ATTENTION_BY_LANE

// Whether a step of the matmul has a member type Lanes.
template <class Step, class = void>
constexpr bool kByLane = false;
template <class Step>
inline constexpr bool kByLane<Step, decltype(void(sizeof(typename Step::Lanes)))> = true;

// Multiplications by lanes with an instruction of dot_arm-inl.h: each lane of `sum` += column * lane kLane of
// `elements`. In assembly, because 24 sums, the elements of six rows and two columns fill all 32 registers, and gcc 12
// keeps sums in memory if it may order multiplications and loads itself. So `b`, the address of all columns, passes
// through each block of six multiplications, and so does the next column, which is therefore loaded during the previous
// block.
#undef FOVEA_PRODUCT
#define FOVEA_PRODUCT(sum, element) ".inst %c15 | .Lfovea_%" #sum " | .Lfovea_%7 << 5 | .Lfovea_%" #element " << 16\n\t"

template <uint32_t kInstruction>
struct MultiplyByLane {
  template <uint32_t kLane>
  static HWY_INLINE V One(V elements, V column, V sum) {
    return V(arm::AddProduct<arm::ByLane(kInstruction, kLane)>(sum.raw, column.raw, elements.raw));
  }
  // Sums that are elements of an array would be in memory.
  template <uint32_t kLane, size_t kN>
  static HWY_INLINE void Six(const V (&elements)[6], V column, V next, const float*& b, size_t n, V (&sums)[6][kN]) {
    V s0 = sums[0][n], s1 = sums[1][n], s2 = sums[2][n], s3 = sums[3][n], s4 = sums[4][n], s5 = sums[5][n];
    const V e0 = elements[0], e1 = elements[1], e2 = elements[2], e3 = elements[3], e4 = elements[4], e5 = elements[5];
    asm(FOVEA_REGISTER_NUMBERS FOVEA_PRODUCT(0, 9) FOVEA_PRODUCT(1, 10) FOVEA_PRODUCT(2, 11) FOVEA_PRODUCT(3, 12)
            FOVEA_PRODUCT(4, 13) FOVEA_PRODUCT(5, 14)
        : "+w"(s0.raw), "+w"(s1.raw), "+w"(s2.raw), "+w"(s3.raw), "+w"(s4.raw), "+w"(s5.raw), "+r"(b)
        : "w"(column.raw), "w"(next.raw), "w"(e0.raw), "w"(e1.raw), "w"(e2.raw), "w"(e3.raw), "w"(e4.raw), "w"(e5.raw),
          "i"(arm::ByLane(kInstruction, kLane)));
    sums[0][n] = s0, sums[1][n] = s1, sums[2][n] = s2, sums[3][n] = s3, sums[4][n] = s4, sums[5][n] = s5;
  }
};

// Adds lane kLane of each row's elements times a row of b, whose first column is `column`; both move to the next row.
template <class Lanes, uint32_t kLane, size_t kM, size_t kN>
HWY_INLINE void AddLane(const V (&elements)[kM], const float*& b, size_t b_stride, V* HWY_RESTRICT column,
                        V (&sums)[kM][kN]) {
  HWY_UNROLL(4)
  for (size_t n = 0; n < kN; ++n) {
    const V now = *column;
    if (n + 1 < kN || kLane < 3) *column = hn::Load(D(), n + 1 < kN ? b + (n + 1) * kLanes : b + b_stride);
    if constexpr (kM == 6) {
      Lanes::template Six<kLane>(elements, now, *column, b, n, sums);
    } else {
      HWY_UNROLL(4)
      for (size_t r = 0; r < kM; ++r) sums[r][n] = Lanes::template One<kLane>(elements[r], now, sums[r][n]);
    }
  }
  b += b_stride;
}

// Adds the products of elements [i, i + 4) of each row with as many rows of b; returns the row after them.
template <class Lanes, size_t kM, size_t kN, class Rows>
HWY_INLINE const float* AddLanes(const Rows a, size_t i, const float* b, size_t b_stride, V (&sums)[kM][kN]) {
  static_assert(kLanes == 4, "");
  V column = hn::Load(D(), b), elements[kM];
  HWY_UNROLL(6)
  for (size_t r = 0; r < kM; ++r) elements[r] = hn::LoadU(D(), a(r, i));
  AddLane<Lanes, 0>(elements, b, b_stride, &column, sums);
  AddLane<Lanes, 1>(elements, b, b_stride, &column, sums);
  AddLane<Lanes, 2>(elements, b, b_stride, &column, sums);
  AddLane<Lanes, 3>(elements, b, b_stride, &column, sums);
  return b;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // per target
