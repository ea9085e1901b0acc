// Sizes in bytes of tensors and values, by element type.
#ifndef FOVEA_RUNTIME_BASE_DTYPE_H_
#define FOVEA_RUNTIME_BASE_DTYPE_H_

#include <stdint.h>

#include "runtime/base/checked.h"
#include "runtime/base/profile.h"
#include "runtime/blob/record_numbers.h"

namespace fovea {

inline constexpr uint32_t kTensorTypeCount = 5;  // tensor types: every DType before bf16
inline constexpr uint32_t kI4Block = 32;

// Types that this build reads: weights of linear layers and embedding tables, and values that are stored in a type
// other than f32.
inline constexpr bool kWeightsF32 = Includes("weights", "f32"), kWeightsF16 = Includes("weights", "f16"),
                      kWeightsI8 = Includes("weights", "int8"), kWeightsI4 = Includes("weights", "int4");
inline constexpr bool kRowsF16 = Includes("rows", "f16"), kRowsBf16 = Includes("rows", "bf16"),
                      kRowsI8 = Includes("rows", "int8");
constexpr bool LacksWeights(DType type) {
  return (!kWeightsF32 && type == DType::kF32) || (!kWeightsF16 && type == DType::kF16) ||
         (!kWeightsI8 && type == DType::kI8) || (!kWeightsI4 && type == DType::kI4);
}
constexpr bool LacksRows(DType type) {
  return (!kRowsF16 && type == DType::kF16) || (!kRowsBf16 && type == DType::kBf16) || (!kRowsI8 && type == DType::kI8);
}

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

// Bytes from one row of a value to the next. A row of int8 begins with its f32 scales, one for each of `heads` equal
// parts, and its length is rounded up to whole floats.
constexpr uint64_t ValueRowBytes(DType type, uint64_t width, uint64_t heads) {
  return type == DType::kI8 ? RoundUp(sizeof(float) * heads + width, sizeof(float)) : RowBytes(type, width);
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_BASE_DTYPE_H_
