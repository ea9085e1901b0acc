// Kernels for 64-bit Arm that are compiled once, not per SIMD target. For packed weights (GemmKernels::packed_*) there
// is one for each packing, which implies the instructions of the machine; for integer weights in place there is one
// with and one without dot products.
#ifndef FOVEA_RUNTIME_KERNELS_GEMM_ARM_H_
#define FOVEA_RUNTIME_KERNELS_GEMM_ARM_H_

#include "runtime/kernels/gemm.h"

#if defined(FOVEA_WITH_XNNPACK) && defined(__aarch64__)
#define FOVEA_GEMM_PACKED_ARM 1
#else
#define FOVEA_GEMM_PACKED_ARM 0
#endif

// Whether int8 and int4 weights are multiplied in place by kernels for 64-bit Arm, instead of the code for all SIMD
// targets, which is smaller.
#if defined(__aarch64__) && !defined(HWY_COMPILE_ONLY_SCALAR) && !defined(HWY_COMPILE_ONLY_EMU128) && \
    (!defined(FOVEA_SMALL) || defined(__ARM_FEATURE_DOTPROD))
#define FOVEA_GEMM_IN_PLACE_ARM 1
#else
#define FOVEA_GEMM_IN_PLACE_ARM 0
#endif

// Whether they ask the processor for dot products at run time: not in a build for one processor.
#if FOVEA_GEMM_IN_PLACE_ARM && !defined(__ARM_FEATURE_DOTPROD) && !defined(HWY_COMPILE_ONLY_STATIC)
#define FOVEA_GEMM_ASKS 1
#else
#define FOVEA_GEMM_ASKS 0
#endif

namespace fovea {

void GemmArmF32(const GemmTile& tile);
void GemmArmI8(const GemmTile& tile);
void GemmArmI4(const GemmTile& tile);
void GemmArmF16(const GemmTile& tile);

// Weights in place, with and without dot products.
void GemmInPlaceDotI8(const GemmTile& tile);
void GemmInPlaceDotI4(const GemmTile& tile);
void GemmInPlaceI8(const GemmTile& tile);
void GemmInPlaceI4(const GemmTile& tile);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_GEMM_ARM_H_
