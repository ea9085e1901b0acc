// Concatenates values by columns: a row of the output is the inputs' rows one after another.
#include <string.h>

#include "runtime/blob/operands.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status Lower(const OpView& view, Reporter& reporter, Op* op) {
  FOVEA_TRY(CheckRowLocal(view, reporter));
  uint64_t width = 0;
  for (uint32_t i = 0; i < op->input_count; ++i) width += op->inputs[i].width;
  return MakeWidth(width, reporter, op);
}

Status Run(const Op& op, const OpRun& run) {
  const size_t to = op.output.width;
  float* first = run.output;
  for (uint32_t i = 0; i < op.input_count; ++i) {
    const size_t width = op.inputs[i].width;
    for (size_t row = 0; row < run.rows(); ++row) {
      memcpy(first + row * to, run.Input(i) + row * width, width * sizeof(float));
    }
    first += width;
  }
  return kOk;
}

}  // namespace

extern const OpDef kConcatOp = DefineOp<OpCode::kConcat, Lower, Run>();

}  // namespace fovea
