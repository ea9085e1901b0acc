// All kernels for this CPU in one table: GetKernels().norm.layer_norm(...).
#ifndef FOVEA_RUNTIME_KERNELS_KERNELS_H_
#define FOVEA_RUNTIME_KERNELS_KERNELS_H_

#include "runtime/base/floating_point.h"
#include "runtime/base/profile.h"
#include "runtime/kernels/kernel_list.inc"

// A build with a profile and one SIMD target knows its kernels at compile time. The same expressions then name
// constants, so that only kernels that included code refers to are linked.
#if defined(FOVEA_PROFILE) && \
    (defined(HWY_COMPILE_ONLY_STATIC) || defined(HWY_COMPILE_ONLY_SCALAR) || defined(HWY_COMPILE_ONLY_EMU128))
#define FOVEA_KERNELS_ARE_CONSTANT 1
#else
#define FOVEA_KERNELS_ARE_CONSTANT 0
#endif

namespace fovea {

#if FOVEA_KERNELS_ARE_CONSTANT

struct Kernels {
#define FOVEA_KERNEL(Name, member) static const Name##Kernels member;
#include "runtime/kernels/kernel_list.inc"
#undef FOVEA_KERNEL
};
inline Kernels GetKernels() { return {}; }
inline Kernels GetKernelsOfAttention() { return {}; }

// Used once at the end of a kernel's file: exports its table, made by Make<Name>Kernels().
#define FOVEA_EXPORT_KERNELS(Name, member) \
  const Name##Kernels Kernels::member = HWY_STATIC_DISPATCH(Make##Name##Kernels)();

#else

struct Kernels {
#define FOVEA_KERNEL(Name, member) Name##Kernels member;
#include "runtime/kernels/kernel_list.inc"
#undef FOVEA_KERNEL
};

// Detects the CPU; call once when a model or session is made and keep the result.
inline Kernels GetKernels() {
  return {
#define FOVEA_KERNEL(Name, member) Get##Name##Kernels(),
#include "runtime/kernels/kernel_list.inc"
#undef FOVEA_KERNEL
  };
}

// The kernels that runtime/attention calls; the rest are null. A program that calls attention as a function, and runs
// no model, does not link the other ones.
inline Kernels GetKernelsOfAttention() {
  Kernels kernels = {};
  kernels.activation = GetActivationKernels();
  kernels.attention = GetAttentionKernels();
  kernels.cast = GetCastKernels();
  kernels.elementwise = GetElementwiseKernels();
  if constexpr (Includes("attention", "relative")) kernels.gemm = GetGemmKernels();
  return kernels;
}

#define FOVEA_EXPORT_KERNELS(Name, member) \
  HWY_EXPORT(Make##Name##Kernels);         \
  Name##Kernels Get##Name##Kernels() { return HWY_DYNAMIC_DISPATCH(Make##Name##Kernels)(); }

#endif

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_KERNELS_H_
