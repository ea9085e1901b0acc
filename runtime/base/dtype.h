// How many bytes tensors and values of an element type take.
#ifndef FOVEA_RUNTIME_BASE_DTYPE_H_
#define FOVEA_RUNTIME_BASE_DTYPE_H_

#include <stdint.h>

#include "runtime/base/checked.h"
#include "runtime/blob/numbers.h"

namespace fovea {

inline constexpr uint32_t kTensorTypeCount = 5;  // of constants
inline constexpr uint32_t kI4Block = 32;

// Bytes of one row of `width` elements without scales.
constexpr uint64_t RowBytes(DType type, uint64_t width) {
  switch (type) {
    case DType::kF16:
    case DType::kBf16:
      return 2 * width;
    case DType::kI8:
      return width;
    case DType::kI4:
      return DivideUp(width, 2);
    case DType::kF32:
    case DType::kI32:
      return 4 * width;
  }
  return 0;
}

// Bytes of the scales that belong to `rows` rows of `width` elements.
constexpr uint64_t ScaleBytes(DType type, uint64_t rows, uint64_t width) {
  switch (type) {
    case DType::kI8:
      return 4 * rows;
    case DType::kI4:
      return 2 * rows * DivideUp(width, kI4Block);
    default:
      return 0;
  }
}

// Bytes from a row of a value to the next. Rows of int8 values begin with their scales, one for each of `heads` equal
// parts, so they are whole floats long.
constexpr uint64_t ValueRowBytes(DType type, uint64_t width, uint64_t heads) {
  return type == DType::kI8 ? RoundUp(sizeof(float) * heads + width, sizeof(float)) : RowBytes(type, width);
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BASE_DTYPE_H_
