// Matmul kernels for one tile of y = x W^T + b, with the weights W in the layout of a blob.
#ifndef FOVEA_RUNTIME_KERNELS_GEMM_H_
#define FOVEA_RUNTIME_KERNELS_GEMM_H_

#include <stddef.h>

#include "runtime/kernels/quantize.h"

namespace fovea {

// The most columns per call.
inline constexpr size_t kGemmTileColumns = 128;
// Readable bytes that must follow an int8 x.
inline constexpr size_t kGemmTileSlack = 64;
// The largest k for which integer sums stay within 32 bits.
inline constexpr size_t kGemmIntegerDepth = 65536;

// How int8 and int4 weights (by XNNPACK) and f16 weights (gemm_split.h) are packed, by the instructions they are for.
enum class GemmPacking : uint8_t { kOther, kAvx2, kVnni, kAmx, kNeon, kNeonDot, kNeonI8mm };

struct GemmTile {
  size_t rows;
  size_t columns;             // output columns, at most kGemmTileColumns
  size_t k;                   // a multiple of 32 for int4 weights
  const void* x;              // [rows, k]: f32, or int8 when the weights are integers, in pairs for kNeonI8mm
  const QuantParams* params;  // [rows], with int8 x
  const void* weights;        // [columns, k], dense rows
  const void* scales;         // int8 weights: f32 [columns]; int4: bf16 [columns, k / 32]
  const float* bias;          // [columns], or null
  float* y;                   // [rows, columns], rows y_stride apart
  size_t y_stride;
  GemmPacking packing;  // if the weights are packed
};

// One function per type of weights. The bits of a row of y depend on that row of x alone.
struct GemmKernels {
  void (*f32)(const GemmTile&);
  void (*f16)(const GemmTile&);
  void (*i8)(const GemmTile&);
  void (*i4)(const GemmTile&);
  // For weights packed with scales and biases (gemm_packed*-inl.h, gemm_split.h), any number of columns: `weights` is
  // the block of the first column, and k of int4 is a multiple of 64. Null if this CPU has no such kernel.
  void (*packed_f32)(const GemmTile&);
  void (*packed_f16)(const GemmTile&);
  void (*packed_i8)(const GemmTile&);
  void (*packed_i4)(const GemmTile&);
  void (*packed_avx512)(const GemmTile&);  // int8, packed for AVX-512 VNNI or AMX
};

GemmKernels GetGemmKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_GEMM_H_
