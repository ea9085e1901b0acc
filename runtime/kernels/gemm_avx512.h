// Kernels for packed int8 weights on x86 with AVX-512 VNNI or AMX, which are compiled once, not per SIMD target.
#ifndef FOVEA_RUNTIME_KERNELS_GEMM_AVX512_H_
#define FOVEA_RUNTIME_KERNELS_GEMM_AVX512_H_

#include "runtime/kernels/gemm.h"

// On Windows gcc keeps vectors on a stack that is not aligned for them, a process must ask for AMX first, which is not
// for a library to do, and MSVC has no such inline assembly.
#if defined(FOVEA_WITH_XNNPACK) && defined(__x86_64__) && !defined(_WIN32)
#define FOVEA_GEMM_AVX512 1
#else
#define FOVEA_GEMM_AVX512 0
#endif

namespace fovea {

void GemmVnniI8(const GemmTile& tile);
void GemmAmxI8(const GemmTile& tile);

// The kernel for the tile's packing.
inline void GemmAvx512I8(const GemmTile& tile) { (tile.packing == GemmPacking::kAmx ? GemmAmxI8 : GemmVnniI8)(tile); }

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_GEMM_AVX512_H_
