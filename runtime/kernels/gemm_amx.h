// A kernel for packed int8 weights on x86 with AMX, which is compiled once, not per SIMD target.
#ifndef FOVEA_RUNTIME_KERNELS_GEMM_AMX_H_
#define FOVEA_RUNTIME_KERNELS_GEMM_AMX_H_

#include "runtime/kernels/gemm.h"

// On Windows a process must ask for AMX first, which is not for a library to do; MSVC's inline assembly lacks it.
#if defined(FOVEA_WITH_XNNPACK) && defined(__x86_64__) && !defined(_WIN32)
#define FOVEA_GEMM_AMX 1
#else
#define FOVEA_GEMM_AMX 0
#endif

namespace fovea {

void GemmAmxI8(const GemmTile& tile);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_GEMM_AMX_H_
