// All kernels of this CPU in one table: GetKernels().norm.layer_norm(...).
#ifndef FOVEA_RUNTIME_KERNELS_KERNELS_H_
#define FOVEA_RUNTIME_KERNELS_KERNELS_H_

#include "runtime/kernels/kernel_list.inc"

namespace fovea {

struct Kernels {
#define FOVEA_KERNEL(Name, member) Name##Kernels member;
#include "runtime/kernels/kernel_list.inc"
#undef FOVEA_KERNEL
};

// Looks at the CPU; call once when a model or session is made and keep the result.
inline Kernels GetKernels() {
  return {
#define FOVEA_KERNEL(Name, member) Get##Name##Kernels(),
#include "runtime/kernels/kernel_list.inc"
#undef FOVEA_KERNEL
  };
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_KERNELS_H_
