// A lowered append: what a session needs to know of it to place the rows that are kept.
#ifndef FOVEA_RUNTIME_OPS_APPEND_H_
#define FOVEA_RUNTIME_OPS_APPEND_H_

#include "runtime/base/profile.h"
#include "runtime/ops/cast.h"

namespace fovea {

// Whether this build keeps rows from run to run at all.
inline constexpr bool kKeepsRows = Includes("operation", "append");

struct AppendOp : Op {
  uint32_t parts = 1;  // of a row, each with a scale of its own where rows are stored as int8

  StoredRows StoredAs(DType type) const { return {type, output.width, parts}; }
};

// Null for other operations.
const AppendOp* AsAppend(const Op&);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_OPS_APPEND_H_
