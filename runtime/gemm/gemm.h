// The GEMM contract: y = act(x W^T + b) for weights W [n, k] as a blob stores them, and what a backend supplies.
//
// A linear layer's weights are set up once per model (pack), an operator once per worker and distinct shape
// (make_operator); run then allocates nothing, keeps nothing and may be called by different workers at the same time as
// long as each uses its own operator. Row r of y depends on row r of x alone: same bits whatever rows come with it, and
// whatever columns, so that workers may share rows or columns.
#ifndef FOVEA_RUNTIME_GEMM_GEMM_H_
#define FOVEA_RUNTIME_GEMM_GEMM_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"
#include "runtime/blob/numbers.h"

namespace fovea {

struct Kernels;      // runtime/kernels/kernels.h
struct QuantParams;  // runtime/kernels/quantize.h

// What an operator is made for. Layers of equal shape share one operator per worker.
struct GemmShape {
  DType type;
  uint32_t n;  // output width
  uint32_t k;  // input width
};

// One layer's constants, in the blob. Rows are dense (RowBytes), scales as runtime/base/dtype.h says. int8 weights lie
// in -127..127 (a -128 is safe, but older Arm kernels may compute a wrong sum with it), int4 scales are normal and
// positive.
struct GemmWeights {
  GemmShape shape;
  const void* rows;
  const void* scales;  // null unless the type has scales
  const float* bias;   // [n], or null
};

// Readable bytes that must follow every x, quantized x and y given to run; they are never interpreted.
inline constexpr size_t kGemmSlack = 128;
// Entries that must follow the `rows` quantization parameters; run may write them.
inline constexpr size_t kGemmExtraParams = 15;

// Integer weights multiply activations that were quantized per row (see runtime/kernels/quantize.h).
constexpr bool GemmTakesQuantized(DType weights) { return weights == DType::kI8 || weights == DType::kI4; }

struct GemmInput {
  size_t rows;
  const float* x;           // [rows, k]; used when the weights are f32 or f16
  const int8_t* quantized;  // [rows, k]; used when the weights are integers
  QuantParams* params;      // [rows + kGemmExtraParams], with quantized
};

// What is wanted of y: columns [begin, end) of all rows. The others are not touched.
struct GemmOutput {
  float* y;             // [rows, n]
  uint32_t begin, end;  // multiples of the backend's column_step; `end` may be n
  Activation activation = Activation::kNone;
};

struct GemmBackend {
  const char* name;
  uint32_t column_step;  // where ranges of columns may begin: the widest block of columns that stays together

  bool (*supports)(const GemmShape&);

  // Bytes of packed weights, the same on every CPU (padded by constants). 0: weights are used in place from the blob.
  uint64_t (*packed_bytes)(const GemmShape&);
  // Fills `packed` (64-aligned). Set-up time only.
  Status (*pack)(const GemmWeights&, void* packed, Reporter&);
  // Whether what pack would write for these weights stays inside packed_bytes: for weights that a blob has packed.
  Status (*check_layout)(const GemmWeights&, Reporter&);
  // Identifies where pack puts what on this machine: equal ones mean that packed weights may be exchanged. Never 0.
  uint64_t (*packed_layout)();

  // Bytes of an operator, the same on every CPU.
  uint64_t (*operator_bytes)(const GemmShape&);
  // Makes an operator in `storage` (64-aligned). It owns nothing and is simply forgotten; it points to the kernels.
  Status (*make_operator)(const GemmShape&, const Kernels&, void* storage, Reporter&);

  // Fills the extra entries after the rows' parameters. `packed` is what pack wrote for these weights (null when
  // packed_bytes is 0).
  Status (*run)(void* storage, const GemmWeights&, const void* packed, const GemmInput&, const GemmOutput&);
};

// Weights in place, every type, every target.
const GemmBackend& HighwayGemm();
// Null when the library was built without XNNPACK or this CPU cannot run it.
const GemmBackend* XnnpackGemm();

// A kind of machine for which the XNNPACK backend packs weights on any machine, as many bytes as on any other.
struct GemmTarget;
// Null from their count on, and without XNNPACK.
const char* XnnpackTargetName(uint32_t index);
// Null: there is none of this name.
const GemmTarget* XnnpackTarget(const char* name);
// What packed_layout says on such a machine.
uint64_t XnnpackTargetLayout(const GemmTarget& target);
// What supports says there.
bool XnnpackTargetSupports(const GemmTarget& target, const GemmShape& shape);
// What pack writes there; `packed` is zero before. What lies in columns that fill up a block may differ.
Status XnnpackPackFor(const GemmTarget& target, const GemmWeights& weights, void* packed, Reporter& reporter);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GEMM_GEMM_H_
