// Concatenates every row with its neighbours in the segment by columns: `before` rows, the row, `after` rows; zeros
// outside. A linear layer then makes it a convolution along rows. In a strided space only for the first row of a group.
#include <string.h>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/blob/strides.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct UnfoldOp : Op {
  size_t before = 0, columns = 1;
  bool strided = false;
  Strides strides{0, 1, 0};
};

Status Lower(const OpView& view, Reporter& reporter, UnfoldOp* op) {
  FOVEA_TRY(CheckF32(view, 0, reporter));
  const SpaceRecord& space = view.OutputSpace();
  const uint32_t from = op->inputs[0].space, to = op->output.space, width = op->inputs[0].width;
  op->strided = to != from;
  if (op->strided && (space.kind != SpaceKind::kStrided || space.source != from)) {
    return reporter.FailSpace("output's space must be the input's, or made from it by strides", from, to);
  }
  if (op->strided) op->strides = Strides(space);
  op->before = view.U32(Attribute::kBefore, 0);
  const uint64_t columns = uint64_t{op->before} + view.U32(Attribute::kAfter, 0) + 1;
  FOVEA_TRY(MakeWidth(columns * width, reporter, op));  // at most 2^33 * 2^24
  op->columns = static_cast<size_t>(columns);
  return kOk;
}

Status Run(const UnfoldOp& op, const OpRun& run) {
  const size_t width = op.inputs[0].width, columns = op.columns, before = op.before;
  const uint32_t* offsets = run.SegmentsOf(op.inputs[0]).offsets;
  ForEachSegmentPiece(run.SegmentsOf(op.output), run.row_begin, run.row_end,
                      [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t segment) {
                        const size_t length = offsets[segment + 1] - offsets[segment];
                        const float* x = run.Input(0) + size_t{offsets[segment]} * width;
                        float* y = run.output + size_t{row - run.row_begin} * op.output.width;
                        for (uint32_t i = 0; i < rows; ++i, y += op.output.width) {
                          // Column c holds row `middle + c - before`; columns from `low` to `high` are in the segment.
                          const size_t at = size_t{position} + i;
                          const size_t middle = op.strided ? static_cast<size_t>(op.strides.Source(at)) : at;
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

constexpr Attribute kAttributes[] = {Attribute::kBefore, Attribute::kAfter};

}  // namespace

extern const OpDef kUnfoldOp = DefineOp<OpCode::kUnfold, Lower, Run>([](OpDef& def) { def.attributes = kAttributes; });

}  // namespace fovea
