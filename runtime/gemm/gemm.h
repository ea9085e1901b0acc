// The GEMM contract: y = act(x W^T + b) for weights W [n, k] as a blob stores them, and the functions of a backend.
//
// A linear layer's weights are packed once per model (pack), an operator is made once per worker and distinct shape
// (make_operator). After that, run allocates nothing and keeps no state; workers may call it concurrently if each uses
// its own operator. Row r of y depends on row r of x alone: its bits are the same regardless of the other rows and of
// the range of columns, so workers may split rows or columns.
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

// The shape of an operator. Layers of equal shape share one operator per worker.
struct GemmShape {
  DType type;
  uint32_t n;  // output width
  uint32_t k;  // input width
};

// One layer's constants, in the blob. Rows are dense (RowBytes), scales are laid out as in runtime/base/dtype.h. int8
// weights are in -127..127 (a -128 is safe, but some kernels for Arm and RISC-V may compute a wrong sum with it); int4
// scales are normal and positive.
struct GemmWeights {
  GemmShape shape;
  const void* rows;    // null: only packed weights are left of them
  const void* scales;  // null unless the type has scales
  const float* bias;   // [n], or null
};

// Readable bytes that must follow every x, quantized x and y passed to run; their values do not matter.
inline constexpr size_t kGemmSlack = 128;
// Entries that must follow the `rows` quantization parameters; run may overwrite them.
inline constexpr size_t kGemmExtraParams = 15;

// Integer weights multiply activations that were quantized per row (see runtime/kernels/quantize.h).
constexpr bool GemmTakesQuantized(DType weights) { return weights == DType::kI8 || weights == DType::kI4; }

struct GemmInput {
  size_t rows;
  const float* x;           // [rows, k]; used when the weights are f32 or f16
  const int8_t* quantized;  // [rows, k]; used when the weights are integers; in pairs if takes_pairs
  QuantParams* params;      // [rows + kGemmExtraParams], with quantized
};

// The part of y to compute: columns [begin, end) of all rows. Other columns are not touched.
struct GemmOutput {
  float* y;             // [rows, n]
  uint32_t begin, end;  // multiples of the backend's column_step; `end` may be n
  Activation activation = Activation::kNone;
};

struct GemmBackend {
  const char* name;
  uint32_t column_step;  // ranges of columns begin at multiples: the widest block that is not split

  bool (*supports)(const GemmShape&);
  // Whether run reads quantized rows in pairs on this machine (runtime/kernels/quantize.h).
  bool (*takes_pairs)(const GemmShape&);

  // Bytes of packed weights, equal on every CPU (padded by constants). 0: weights are used in place from the blob.
  uint64_t (*packed_bytes)(const GemmShape&);
  // Fills `packed` (64-aligned). Called at set-up time only.
  Status (*pack)(const GemmWeights&, void* packed, Reporter&);
  // Checks that pack would stay inside packed_bytes for these weights. Called for weights that a blob has packed.
  Status (*check_layout)(const GemmWeights&, Reporter&);
  // Identifies the layout that pack writes on this machine: packed weights fit where the number is equal. Never 0.
  uint64_t (*packed_layout)();

  // Bytes of an operator, equal on every CPU.
  uint64_t (*operator_bytes)(const GemmShape&);
  // Makes an operator in `storage` (64-aligned). It points to the kernels, owns nothing and needs no destruction.
  Status (*make_operator)(const GemmShape&, const Kernels&, void* storage, Reporter&);

  // Fills the extra entries after the rows' parameters. `packed` is the output of pack for these weights (null if
  // packed_bytes is 0).
  Status (*run)(void* storage, const GemmWeights&, const void* packed, const GemmInput&, const GemmOutput&);
  const char* run_fault;  // the message where run fails; null: it never does
};

// Supports every type and target; reads weights in place.
const GemmBackend& HighwayGemm();
// Null if the library was built without XNNPACK or this CPU cannot run it.
const GemmBackend* XnnpackGemm();

// A kind of machine for which the XNNPACK backend can pack weights on any machine. The sizes are the same.
struct GemmTarget;
// Null if `index` is not below the number of targets, and without XNNPACK.
const char* XnnpackTargetName(uint32_t index);
// Null if no target has this name.
const GemmTarget* XnnpackTarget(const char* name);
// The packed_layout of such a machine.
uint64_t XnnpackTargetLayout(const GemmTarget& target);
// The result of supports on such a machine.
bool XnnpackTargetSupports(const GemmTarget& target, const GemmShape& shape);
// Writes the output of pack on such a machine, except in padding columns; `packed` is zeroed before the call.
Status XnnpackPackFor(const GemmTarget& target, const GemmWeights& weights, void* packed, Reporter& reporter);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GEMM_GEMM_H_
