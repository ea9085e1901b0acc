// Fills every row of a space with one constant row, e.g. a learned query.
#include <string.h>

#include "runtime/blob/operands.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct FillOp : Op {
  const float* row = nullptr;
};

Status Lower(const OpView& view, Reporter& reporter, FillOp* op) {
  op->row = view.Floats(0);
  op->output.width = view.Tensor(0).width;
  return CheckFloats(view, 0, 1, op->output.width, reporter);
}

Status Run(const FillOp& op, const OpRun& run) {
  const size_t width = op.output.width;
  for (size_t row = 0; row < run.rows(); ++row) memcpy(run.output + row * width, op.row, width * sizeof(float));
  return kOk;
}

}  // namespace

extern const OpDef kFillOp = DefineOp<OpCode::kFill, Lower, Run>();

}  // namespace fovea
