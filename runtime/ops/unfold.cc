// Every row with its neighbours in the segment beside it, `before` to the left and `after` to the right, zeros outside:
// with a linear layer after it a convolution along the rows. In a strided space only the first row of each group.
#include <string.h>

#include "runtime/blob/strides.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

bool IsSame(const OpView& op) { return op.Output().space == op.Input(0).space; }
bool IsStrided(const OpView& op) {
  return op.OutputSpace().kind == SpaceKind::kStrided && op.OutputSpace().source == op.Input(0).space;
}

uint64_t Columns(const OpView& op) {
  return uint64_t{op.U32(Attribute::kBefore, 0)} + op.U32(Attribute::kAfter, 0) + 1;
}

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckF32(op, 0, reporter));
  if (!IsSame(op) && !IsStrided(op)) {
    return reporter.Fail(FOVEA_E_SHAPE, "output's space must be the input's, or made of it by strides",
                         op.Input(0).space, op.Output().space);
  }
  if (Columns(op) * op.Input(0).width != op.Output().width) {  // at most 2^33 * 2^24
    return reporter.Fail(FOVEA_E_SHAPE, "output must be as wide as a row with its neighbours",
                         Columns(op) * op.Input(0).width, op.Output().width);
  }
  return kOk;
}

Status Run(const OpRun& run) {
  const OpView& op = run.view;
  const size_t width = op.Input(0).width, columns = static_cast<size_t>(Columns(op));
  const size_t before = op.U32(Attribute::kBefore, 0);
  const bool same = IsSame(op);
  const Strides strides(op.OutputSpace());
  const uint32_t* offsets = run.SegmentsOf(op.Input(0)).offsets;
  ForEachSegmentPiece(run.SegmentsOf(op.Output()), run.row_begin, run.row_end,
                      [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t segment) {
                        const size_t length = offsets[segment + 1] - offsets[segment];
                        const float* x = run.Input(0) + size_t{offsets[segment]} * width;
                        float* y = run.output + size_t{row - run.row_begin} * op.Output().width;
                        for (uint32_t i = 0; i < rows; ++i, y += op.Output().width) {
                          // Column c holds row `middle + c - before`: those from `low` to `high` are in the segment.
                          const size_t middle = same ? position + i : static_cast<size_t>(strides.Source(position + i));
                          const size_t low = middle < before ? before - middle : 0;
                          const size_t inside = length + before - middle;
                          const size_t high = inside < columns ? inside : columns;
                          memset(y, 0, low * width * sizeof(float));
                          memcpy(y + low * width, x + (middle + low - before) * width,
                                 (high - low) * width * sizeof(float));
                          memset(y + high * width, 0, (columns - high) * width * sizeof(float));
                        }
                      });
  return kOk;
}

}  // namespace

extern const OpDef kUnfoldOp = {1,       1,     0,       0,   OpAttributes(Attribute::kBefore, Attribute::kAfter),
                                1u << 0, Check, nullptr, Run, OneFlopPerElement};

}  // namespace fovea
