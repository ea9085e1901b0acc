// Converts rows of f32 to shorter types, in which attention reads keys and values.
#ifndef FOVEA_RUNTIME_KERNELS_CAST_H_
#define FOVEA_RUNTIME_KERNELS_CAST_H_

#include <stddef.h>
#include <stdint.h>

namespace fovea {

// The same bits on every CPU. Numbers that are too large become the largest number of the type, so that finite rows
// stay finite.
struct CastKernels {
  // Rounds to nearest, ties to even.
  void (*f16)(const float* x, size_t count, uint16_t* y);
  void (*bf16)(const float* x, size_t count, uint16_t* y);
  // `parts` of `width` elements each, with a part's largest magnitude as 127: x = y * scales[part], rounded.
  void (*i8)(const float* x, size_t parts, size_t width, int8_t* y, float* scales);
};

CastKernels GetCastKernels();

}  // namespace fovea

#endif  // FOVEA_RUNTIME_KERNELS_CAST_H_
