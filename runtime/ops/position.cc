// y = x + table[offset + position of the row in its segment].
#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckElementwise(op, reporter));
  if (!op.HasTensor(0)) return reporter.Fail(FOVEA_E_RECORD, "position has no table");
  FOVEA_TRY(CheckFloats(op, 0, 0, op.Output().width, reporter));
  return CheckPositions(op, reporter);
}

Status Run(const OpRun& run) {
  const size_t width = run.view.Output().width;
  const float* table = run.view.Floats(0) + run.view.U32(Attribute::kOffset, 0) * width;
  ForEachSegmentPiece(run.spaces[run.view.Output().space].segments, run.row_begin, run.row_end,
                      [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t) {
                        const size_t at = size_t{row - run.row_begin} * width;
                        run.kernels->elementwise.add(run.Input(0) + at, table + position * width, rows * width,
                                                     run.output + at);
                      });
  return kOk;
}

}  // namespace

extern const OpDef kPositionOp = {1, 1,     1,       1,   OpAttributes(Attribute::kOffset),
                                  0, Check, nullptr, Run, OneFlopPerElement};

}  // namespace fovea
