// XNNPACK's fully-connected operators in memory that the caller supplies. Only files named *xnnpack* include this.
#ifndef FOVEA_RUNTIME_GEMM_XNNPACK_OPERATOR_H_
#define FOVEA_RUNTIME_GEMM_XNNPACK_OPERATOR_H_

#include <stddef.h>
#include <stdint.h>
#include <xnnpack.h>

#include "runtime/gemm/gemm.h"
#include "runtime/gemm/xnnpack_provider.h"
#include "runtime/kernels/gemm.h"

namespace fovea {

// XNNPACK's object for one operator: about 2 KB on x86-64, 3 KB on AArch64.
inline constexpr size_t kXnnpackObjectBytes = 4096;
struct alignas(64) XnnpackObject {
  uint8_t bytes[kXnnpackObjectBytes];
};

// Initialises XNNPACK with an allocator that refuses everything. Cheap after the first time.
bool InitializeXnnpack();

// Packs all of `weights` and leaves the operator, which is not needed afterwards, in `object`. `*used` becomes the
// number of bytes that XNNPACK wrote; more than `size` is refused.
xnn_status PackWithXnnpack(const GemmWeights& weights, void* packed, size_t size, XnnpackObject* object, size_t* used);

// Makes an operator in the provider's object; the provider returns its packed weights. The operator depends on the type
// and k, and writes rows n apart; the pool decides which columns it computes.
xnn_status MakeXnnpackOperator(const GemmShape& shape, fovea_xnnpack_provider* provider, xnn_operator_t* op);

// The layout in which XNNPACK packs these weights on this machine; kOther: one that no kernel of ours reads.
GemmPacking XnnpackPacking(const GemmShape& shape);

// Points the operator at its next input and runs it. `rows` only selects the kernel for one row or for several.
xnn_status RunXnnpackOperator(xnn_operator_t op, DType type, size_t rows, const GemmInput& input, float* y,
                              pthreadpool_t pool);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GEMM_XNNPACK_OPERATOR_H_
