// Columns [begin, begin + width) of every row.
#include <string.h>

#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckRowLocal(op, reporter));
  const uint32_t begin = op.U32(Attribute::kBegin, 0), width = op.U32(Attribute::kWidth, 0);
  if (width != op.Output().width) {
    return reporter.Fail(FOVEA_E_SHAPE, "output must be as wide as the slice", width, op.Output().width);
  }
  if (InBounds(begin, width, op.Input(0).width)) return kOk;
  return reporter.Fail(FOVEA_E_SHAPE, "the slice ends after the input's columns", op.Input(0).width,
                       uint64_t{begin} + width);
}

Status Run(const OpRun& run) {
  const size_t from = run.view.Input(0).width, width = run.view.Output().width;
  const float* first = run.Input(0) + run.view.U32(Attribute::kBegin, 0);
  for (size_t row = 0; row < run.rows(); ++row) {
    memcpy(run.output + row * width, first + row * from, width * sizeof(float));
  }
  return kOk;
}

}  // namespace

extern const OpDef kSliceOp = {1, 1,     0,       0,   OpAttributes(Attribute::kBegin, Attribute::kWidth),
                               0, Check, nullptr, Run, OneFlopPerElement};

}  // namespace fovea
