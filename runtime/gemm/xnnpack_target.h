// Target machines for which any machine can pack weights in the layout that XNNPACK uses there.
#ifndef FOVEA_RUNTIME_GEMM_XNNPACK_TARGET_H_
#define FOVEA_RUNTIME_GEMM_XNNPACK_TARGET_H_

#include <stddef.h>
#include <stdint.h>
#include <xnnpack.h>

#include "runtime/gemm/gemm.h"

namespace fovea {

// Parameters of a microkernel's layout: columns per block, consecutive elements of k per column, and the number of such
// groups that rotate over columns. XNNPACK calls them nr, kr and sr.
struct XnnpackBlock {
  uint8_t columns, depth, turns;
};

struct GemmTarget {
  const char* name;
  XnnpackBlock f32, narrow_f32;  // narrow: for fewer columns than an f32 block has
  XnnpackBlock i8, i4;           // no columns: the backend does not support these weights there
  XnnpackBlock f16 = {};         // packed in two bytes (runtime/kernels/gemm_split.h); no columns: used in place
};

// Writes the bytes that Pack (xnnpack.cc) writes on that machine, except that padding columns of the last block are
// zero. `*used` becomes the number of bytes needed; more than `size` is refused.
xnn_status PackForXnnpackTarget(const GemmTarget& target, const GemmWeights& weights, void* packed, size_t size,
                                size_t* used);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GEMM_XNNPACK_TARGET_H_
