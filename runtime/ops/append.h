// A lowered append, from which a session derives the placement of cached rows (the KV cache).
#ifndef FOVEA_RUNTIME_OPS_APPEND_H_
#define FOVEA_RUNTIME_OPS_APPEND_H_

#include "runtime/base/profile.h"
#include "runtime/ops/cast.h"

namespace fovea {

// Whether this build can keep rows from run to run (KV cache).
inline constexpr bool kKeepsRows = Includes("operation", "append");

struct AppendOp : Op {
  uint32_t parts = 1;  // parts of a row; each has a scale if rows are stored as int8

  StoredRows StoredAs(DType type) const { return {type, output.width, parts}; }
};

// Null for other operations.
const AppendOp* AsAppend(const Op&);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_OPS_APPEND_H_
