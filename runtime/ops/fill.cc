// One constant row for every row of a space: a learned query.
#include <string.h>

#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status Check(const OpView& op, Reporter& reporter) {
  if (!op.HasTensor(0)) return reporter.Fail(FOVEA_E_RECORD, "fill has no row");
  return CheckFloats(op, 0, 1, op.Output().width, reporter);
}

Status Run(const OpRun& run) {
  const size_t width = run.view.Output().width;
  for (size_t row = 0; row < run.rows(); ++row) {
    memcpy(run.output + row * width, run.view.Floats(0), width * sizeof(float));
  }
  return kOk;
}

}  // namespace

extern const OpDef kFillOp = {0, 0, 1, 1, OpAttributes(), 0, Check, nullptr, Run, OneFlopPerElement};

}  // namespace fovea
