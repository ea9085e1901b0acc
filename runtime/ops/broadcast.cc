// A row of the parent space for each segment of a child: put into the segment's rows, all of them, the first or the
// last one, or added to them. The other rows are those of x; without x every row is the parent's.
#include <string.h>

#include "runtime/ops/op.h"

namespace fovea {
namespace {

using Rows = BroadcastRows;
using Combine = BroadcastCombine;

Status Check(const OpView& op, Reporter& reporter) {
  for (uint32_t i = 0; i < op.record->input_count; ++i) {
    FOVEA_TRY(CheckF32(op, i, reporter));
    FOVEA_TRY(CheckWidth(op, i, reporter));
  }
  if (op.OutputSpace().parent != op.Input(0).space) {
    return reporter.Fail(FOVEA_E_SHAPE, "output's space must be a child of the first input's", op.Input(0).space,
                         op.OutputSpace().parent);
  }
  const bool has_x = op.record->input_count > 1;
  if (has_x && op.Input(1).space != op.Output().space) {
    return reporter.Fail(FOVEA_E_SHAPE, "second input and output must be in one space", op.Output().space,
                         op.Input(1).space);
  }
  FOVEA_TRY(CheckChoice<Rows>(op, Attribute::kRows, "unknown rows of a segment", reporter));
  FOVEA_TRY(CheckChoice<Combine>(op, Attribute::kCombine, "unknown way to combine rows", reporter));
  const Rows rows = op.Choice(Attribute::kRows, Rows::kAll);
  const Combine combine = op.Choice(Attribute::kCombine, Combine::kReplace);
  if (!has_x && (rows != Rows::kAll || combine != Combine::kReplace)) {
    return reporter.Fail(FOVEA_E_RECORD, "without a second input all rows are replaced");
  }
  return kOk;
}

Status Run(const OpRun& run) {
  const OpView& op = run.view;
  const size_t width = op.Output().width;
  const Rows which = op.Choice(Attribute::kRows, Rows::kAll);
  const Combine combine = op.Choice(Attribute::kCombine, Combine::kReplace);
  const bool copies = op.record->input_count > 1 && (which != Rows::kAll || combine != Combine::kReplace);
  if (copies) memcpy(run.output, run.Input(1), run.count() * sizeof(float));
  const Segments& segments = run.SegmentsOf(op.Output());
  ForEachSegmentPiece(segments, run.row_begin, run.row_end,
                      [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t segment) {
                        const float* of_segment = run.Input(0) + size_t{segment} * width;
                        uint32_t begin = row, end = row + rows;
                        if (which == Rows::kFirst) end = position == 0 ? row + 1 : row;
                        if (which == Rows::kLast) begin = end == segments.offsets[segment + 1] ? end - 1 : end;
                        float* y = run.output + size_t{begin - run.row_begin} * width;
                        if (combine == Combine::kAdd) {
                          run.kernels->elementwise.add_row(y, of_segment, end - begin, width, y);
                        } else {
                          for (uint32_t i = begin; i < end; ++i, y += width)
                            memcpy(y, of_segment, width * sizeof(float));
                        }
                      });
  return kOk;
}

}  // namespace

extern const OpDef kBroadcastOp = {1,       2,     0,       0,   OpAttributes(Attribute::kRows, Attribute::kCombine),
                                   1u << 0, Check, nullptr, Run, OneFlopPerElement};

}  // namespace fovea
