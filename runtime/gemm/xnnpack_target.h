// Machines for which any machine packs weights as XNNPACK packs them there.
#ifndef FOVEA_RUNTIME_GEMM_XNNPACK_TARGET_H_
#define FOVEA_RUNTIME_GEMM_XNNPACK_TARGET_H_

#include <stddef.h>
#include <stdint.h>
#include <xnnpack.h>

#include "runtime/gemm/gemm.h"

namespace fovea {

// What a microkernel's layout follows from: columns of a block, elements of k that stay together, and how many of such
// groups are dealt out in turn from column to column. XNNPACK calls them nr, kr and sr.
struct XnnpackBlock {
  uint8_t columns, depth, turns;
};

struct GemmTarget {
  const char* name;
  XnnpackBlock f32, narrow_f32;  // narrow: of fewer columns than a block of f32 has
  XnnpackBlock i8, i4;           // no columns: the backend does not take such weights there
};

// Writes what PackWithXnnpack writes on that machine, but for the columns that fill up the last block: these stay zero.
// `packed` is zero before. `*used` becomes the bytes that are needed; more than `size` are refused.
xnn_status PackForXnnpackTarget(const GemmTarget& target, const GemmWeights& weights, void* packed, size_t size,
                                size_t* used);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GEMM_XNNPACK_TARGET_H_
