// Kernels for packed weights on 64-bit Arm (GemmKernels::packed_*), one for each packing: XNNPACK's for int8 and int4.
// They are compiled once, not per SIMD target: a packing implies the instructions of the machine.
#ifndef FOVEA_RUNTIME_KERNELS_GEMM_ARM_H_
#define FOVEA_RUNTIME_KERNELS_GEMM_ARM_H_

#include "runtime/kernels/gemm.h"

#if defined(FOVEA_WITH_XNNPACK) && defined(__aarch64__)
#define FOVEA_GEMM_PACKED_ARM 1
#else
#define FOVEA_GEMM_PACKED_ARM 0
#endif

namespace fovea {

void GemmArmI8(const GemmTile& tile);
void GemmArmI4(const GemmTile& tile);
void GemmArmF16(const GemmTile& tile);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_GEMM_ARM_H_
