// Concatenates the rows that a table names by columns (patches of images, windows and their reverse), or computes their
// weighted sum (resized images).
#include <string.h>

#include "runtime/blob/operands.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/row_table.h"

namespace fovea {
namespace {

struct ArrangeOp : Op {
  RowTable table;
  const float* weights = nullptr;  // same shape as the table; null: rows are concatenated
};

Status Lower(const OpView& view, Reporter& reporter, ArrangeOp* op) {
  FOVEA_TRY(CheckF32(view, 0, reporter));
  FOVEA_TRY(LowerRowTable(view, 0, reporter, &op->table));
  op->weights = view.Floats(1);
  FOVEA_TRY(CheckFloats(view, 1, op->table.to, op->table.columns, reporter));
  return MakeWidth(uint64_t{op->weights == nullptr ? op->table.columns : 1} * op->inputs[0].width, reporter, op);
}

// Weighted sum of rows, in the order of the table.
void Sum(const ArrangeOp& op, const OpRun& run, const float* x, uint32_t row, float* y) {
  const size_t width = op.output.width;
  const int32_t* indices = op.table.IndicesOf(row);
  const float* weights = op.weights + (indices - op.table.indices);
  const ElementwiseKernels& kernels = run.kernels->elementwise;
  bool none = true;
  for (size_t i = 0; i < op.table.columns; ++i) {
    if (indices[i] < 0) continue;
    const float* from = x + static_cast<uint32_t>(indices[i]) * width;
    none ? kernels.scale(from, weights[i], width, y) : kernels.scale_add(from, weights[i], y, width, y);
    none = false;
  }
  if (none) memset(y, 0, width * sizeof(float));
}

Status Run(const ArrangeOp& op, const OpRun& run) {
  const size_t width = op.inputs[0].width, columns = op.table.columns;
  float* y = run.output;
  for (uint32_t row = run.row_begin; row < run.row_end; ++row) {
    const float* x = run.Input(0) + op.table.PieceOf(row) * width;
    if (op.weights != nullptr) {
      Sum(op, run, x, row, y);
      y += width;
      continue;
    }
    const int32_t* indices = op.table.IndicesOf(row);
    for (size_t i = 0; i < columns; ++i, y += width) {
      if (indices[i] < 0) {
        memset(y, 0, width * sizeof(float));
      } else {
        memcpy(y, x + static_cast<uint32_t>(indices[i]) * width, width * sizeof(float));
      }
    }
  }
  return kOk;
}

double Flops(const ArrangeOp& op) { return op.weights == nullptr ? 0 : 2.0 * op.table.columns * op.output.width; }

}  // namespace

extern const OpDef kArrangeOp =
    DefineOp<OpCode::kArrange, Lower, Run>([](OpDef& def) { def.flops_per_row = OfOp<Flops>::Call; });

}  // namespace fovea
