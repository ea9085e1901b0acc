// Rows of f32 to shorter types, as attention reads keys and values.
#ifndef FOVEA_RUNTIME_KERNELS_CAST_H_
#define FOVEA_RUNTIME_KERNELS_CAST_H_

#include <stddef.h>
#include <stdint.h>

namespace fovea {

// The same bits on every CPU. What is too large becomes the largest number of the type, so that finite rows stay
// finite.
struct CastKernels {
  // To the nearest, ties to even.
  void (*f16)(const float* x, size_t count, uint16_t* y);
  void (*bf16)(const float* x, size_t count, uint16_t* y);
  // `parts` of `width` elements each, with the largest magnitude of a part as 127: x = y * scales[part], rounded.
  void (*i8)(const float* x, size_t parts, size_t width, int8_t* y, float* scales);
};

CastKernels GetCastKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_CAST_H_
