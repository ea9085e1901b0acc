// Converts stored rows (embedding tables) to f32.
#ifndef FOVEA_RUNTIME_KERNELS_DEQUANTIZE_H_
#define FOVEA_RUNTIME_KERNELS_DEQUANTIZE_H_

#include <stddef.h>

#include "runtime/base/dtype.h"

namespace fovea {

// `row`: one stored row of `width` elements; `scales`: that row's scales (kI8: one float; kI4: one bf16 per 32
// elements; otherwise unused). Neither needs alignment beyond its element's. y: [width].
using RowToF32 = void (*)(const void* row, const void* scales, size_t width, float factor, float* y);

// Indexed by DType; kI32 is null, because ids are not numbers. Bf16 is included for values; tensors never have it.
struct DequantizeKernels {
  RowToF32 set[kTensorTypeCount + 1];  // y = row * factor
  RowToF32 add[kTensorTypeCount + 1];  // y += row * factor
};

DequantizeKernels GetDequantizeKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_DEQUANTIZE_H_
