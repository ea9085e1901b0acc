// Converts rows of f32 to another storage type.
#ifndef FOVEA_RUNTIME_OPS_CAST_H_
#define FOVEA_RUNTIME_OPS_CAST_H_

#include "runtime/ops/op.h"

namespace fovea {

struct StoredRows {
  DType type;  // f32, f16, bf16 or int8
  uint32_t width;
  uint32_t parts;  // int8: parts of a row, each with a scale

  uint32_t row_bytes() const { return static_cast<uint32_t>(ValueRowBytes(type, width, parts)); }
};

// Converts `count` rows, contiguous in source and destination.
void CastRows(const CastKernels&, const float* rows, size_t count, const StoredRows& as, void* to);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_OPS_CAST_H_
