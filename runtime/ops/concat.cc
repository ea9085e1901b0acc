// Values side by side: a row of the output is the rows of the inputs, one after the other.
#include <string.h>

#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckRowLocal(op, reporter));
  uint64_t width = 0;
  for (uint32_t i = 0; i < op.record->input_count; ++i) width += op.Input(i).width;
  if (width == op.Output().width) return kOk;
  return reporter.Fail(FOVEA_E_SHAPE, "output must be as wide as all inputs together", width, op.Output().width);
}

Status Run(const OpRun& run) {
  const size_t to = run.view.Output().width;
  float* first = run.output;
  for (uint32_t i = 0; i < run.view.record->input_count; ++i) {
    const size_t width = run.view.Input(i).width;
    for (size_t row = 0; row < run.rows(); ++row) {
      memcpy(first + row * to, run.Input(i) + row * width, width * sizeof(float));
    }
    first += width;
  }
  return kOk;
}

}  // namespace

extern const OpDef kConcatOp = {1, kMaxInputs, 0, 0, OpAttributes(), 0, Check, nullptr, Run, OneFlopPerElement};

}  // namespace fovea
