// The matmul of attention on RISC-V with vector instructions: all columns of a panel are one vector of several
// registers (LMUL), which is multiplied by an element of a row in a scalar register.
#if defined(FOVEA_RUNTIME_KERNELS_ATTENTION_RISCV_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_ATTENTION_RISCV_INL_H_
#undef FOVEA_RUNTIME_KERNELS_ATTENTION_RISCV_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_ATTENTION_RISCV_INL_H_
#endif

#include "runtime/kernels/attention_pack-inl.h"

#if FOVEA_RISCV_VECTORS
HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {
namespace riscv {

// Whether a step of the matmul has a member type Wide.
template <class Step, class = void>
constexpr bool kHasWide = false;
template <class Step>
inline constexpr bool kHasWide<Step, decltype(void(sizeof(typename Step::Wide)))> = true;

struct DotOfWide {
  template <class W>
  static HWY_INLINE W Add(float row, W keys, W sum) {
    return __builtin_elementwise_fma(row - W{}, keys, sum);
  }
};
struct DistanceOfWide {
  template <class W>
  static HWY_INLINE W Add(float row, W keys, W sum) {
    const W difference = row - keys;
    return __builtin_elementwise_fma(difference, difference, sum);
  }
};

// As Product (attention_score-inl.h): c = sum, with kShrunk c = c * shrink[r] + sum, with `finish` c = (c + sum) *
// finish[...].
template <class Wide, size_t kM, size_t kN, bool kShrunk, class Rows>
HWY_INLINE void ProductOfWide(const Rows a, const float* HWY_RESTRICT b, size_t b_stride, size_t depth,
                              float* HWY_RESTRICT c, size_t c_stride, const float* HWY_RESTRICT shrink,
                              const float* HWY_RESTRICT finish) {
  using Fixed = hn::riscv::Fixed<float, kN * kLanes>;
  using W = typename Fixed::Type;
  using InMemory = typename Fixed::InMemory;
  const auto at = [=](size_t r) HWY_ATTR __attribute__((always_inline)) {
    return reinterpret_cast<InMemory*>(c + r * c_stride);
  };
  W sums[kM];
  HWY_UNROLL(6)
  for (size_t r = 0; r < kM; ++r) {
    if constexpr (kShrunk) {
      sums[r] = *at(r) * shrink[r];
    } else {
      sums[r] = W{};
    }
  }
  for (size_t i = 0; i < depth; ++i, b += b_stride) {
    const W columns = *reinterpret_cast<const InMemory*>(b);
    HWY_UNROLL(6)
    for (size_t r = 0; r < kM; ++r) sums[r] = Wide::template Add<W>(*a(r, i), columns, sums[r]);
  }
  if (finish == nullptr) {
    HWY_UNROLL(6)
    for (size_t r = 0; r < kM; ++r) *at(r) = sums[r];
  } else {
    const W factors = *reinterpret_cast<const InMemory*>(finish);
    HWY_UNROLL(6)
    for (size_t r = 0; r < kM; ++r) *at(r) = (*at(r) + sums[r]) * factors;
  }
}

}  // namespace riscv
}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();
#endif  // FOVEA_RISCV_VECTORS

#endif  // per target
