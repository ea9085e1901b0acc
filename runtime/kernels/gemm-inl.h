// Shared by the vectorised GEMM kernels: operands of an integer dot product, and sums of four vectors at once.
#if defined(FOVEA_RUNTIME_KERNELS_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_RUNTIME_KERNELS_GEMM_INL_H_
#undef FOVEA_RUNTIME_KERNELS_GEMM_INL_H_
#else
#define FOVEA_RUNTIME_KERNELS_GEMM_INL_H_
#endif

#include <stddef.h>
#include <stdint.h>

#include "hwy/highway.h"

// Targets without fixed-size vectors, or with too few operations, use plain loops.
#undef FOVEA_GEMM_PLAIN
#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
#define FOVEA_GEMM_PLAIN 1
#else
#define FOVEA_GEMM_PLAIN 0
#endif

// Whether one instruction multiplies and adds four bytes per 32-bit lane (unsigned times signed).
#undef FOVEA_GEMM_QUAD
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
#define FOVEA_GEMM_QUAD 1
#else
#define FOVEA_GEMM_QUAD 0
#endif

HWY_BEFORE_NAMESPACE();
namespace fovea {
namespace HWY_NAMESPACE {

#if !FOVEA_GEMM_PLAIN
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;
using DF4 = hn::Full128<float>;
using DI4 = hn::Full128<int32_t>;

// Register blocks: accumulators, one operand per row and one of a column stay in registers.
constexpr bool kManyRegisters = (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3) || HWY_ARCH_ARM_A64;
constexpr size_t kBlockColumns = 4;

#if HWY_ARCH_X86
// Without this, gcc moves sums between registers and memory in every turn, and takes 1.1 to 1.2 times as long.
template <class V>
HWY_INLINE void StaysInRegister([[maybe_unused]] V& sum) {
#if HWY_COMPILER_GCC_ACTUAL
  __asm__("" : "+v"(sum.raw));
#endif
}
#endif

// Folds the 128-bit blocks of v into one.
template <class D, class V>
HWY_INLINE hn::Vec<hn::Full128<hn::TFromD<D>>> FoldBlocks([[maybe_unused]] D d, V v) {
  if constexpr (HWY_MAX_LANES_D(D) == 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return FoldBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// The sums of four vectors' 32-bit lanes, in order.
template <class D, class V>
HWY_INLINE hn::Vec<hn::Full128<hn::TFromD<D>>> SumsOf4(D d, const V (&v)[4]) {
  const hn::Repartition<uint64_t, D> wide;
  const V v01 = hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1]));
  const V v23 = hn::Add(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3]));
  const auto low = hn::InterleaveLower(wide, hn::BitCast(wide, v01), hn::BitCast(wide, v23));
  const auto high = hn::InterleaveUpper(wide, hn::BitCast(wide, v01), hn::BitCast(wide, v23));
  return FoldBlocks(d, hn::Add(hn::BitCast(d, low), hn::BitCast(d, high)));
}

// The integer dot product. An operand holds kStep elements; Dot adds their products to the lanes of low + high.
using DOperand = hn::Repartition<int16_t, DF>;
using DBytes = hn::Rebind<int8_t, DOperand>;
using VX = hn::Vec<DOperand>;
using VW = hn::Vec<DOperand>;
constexpr size_t kStep = HWY_MAX_LANES_D(DOperand);

HWY_INLINE VX LoadX(const int8_t* p) { return hn::PromoteTo(DOperand(), hn::LoadU(DBytes(), p)); }
HWY_INLINE VW LoadW(const int8_t* p) { return hn::PromoteTo(DOperand(), hn::LoadU(DBytes(), p)); }
HWY_INLINE VW LoadPartialW(const int8_t* p, size_t count) {
  return hn::PromoteTo(DOperand(), hn::LoadN(DBytes(), p, count));
}
HWY_INLINE VX Ones() { return hn::Set(DOperand(), 1); }
HWY_INLINE void Dot(VX x, VW w, VI& low, VI& high) { low = hn::ReorderWidenMulAccumulate(DI(), x, w, low, high); }

#endif  // !FOVEA_GEMM_PLAIN

}  // namespace HWY_NAMESPACE
}  // namespace fovea
HWY_AFTER_NAMESPACE();

#endif  // toggle
