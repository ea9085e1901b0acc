// A kernel for packed int8 weights on x86 with AVX-512 VNNI, which is compiled once, not per SIMD target.
#ifndef FOVEA_RUNTIME_KERNELS_GEMM_VNNI_H_
#define FOVEA_RUNTIME_KERNELS_GEMM_VNNI_H_

#include "runtime/kernels/gemm.h"

// gcc for Windows keeps vectors on a stack that is not aligned for them; MSVC has no such inline assembly.
#if defined(FOVEA_WITH_XNNPACK) && defined(__x86_64__) && (!defined(_WIN32) || defined(__clang__)) && \
    (defined(__GNUC__) || defined(__clang__))
#define FOVEA_GEMM_VNNI 1
#else
#define FOVEA_GEMM_VNNI 0
#endif

namespace fovea {

void GemmVnniI8(const GemmTile& tile);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_GEMM_VNNI_H_
