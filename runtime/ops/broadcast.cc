// Broadcasts a row of the parent space to each segment of a child space: it replaces all rows of the segment, its first
// or its last row, or is added to them. The remaining rows are copied from x; without x every row is the parent's.
#include <string.h>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

using Rows = BroadcastRows;
using Combine = BroadcastCombine;

struct BroadcastOp : Op {
  Rows rows = Rows::kAll;
  Combine combine = Combine::kReplace;
  bool copies = false;  // copies x first, then changes some rows
};

Status Lower(const OpView& view, Reporter& reporter, BroadcastOp* op) {
  op->output.width = op->inputs[0].width;
  for (uint32_t i = 0; i < op->input_count; ++i) {
    FOVEA_TRY(CheckF32(view, i, reporter));
    FOVEA_TRY(CheckWidth(view, i, reporter));
  }
  if (view.OutputSpace().parent != op->inputs[0].space) {
    return reporter.FailSpace("output's space must be a child of the first input's", op->inputs[0].space,
                              view.OutputSpace().parent);
  }
  const bool has_x = op->input_count > 1;
  if (has_x && op->inputs[1].space != op->output.space) {
    return reporter.FailSpace("second input and output must be in one space", op->output.space, op->inputs[1].space);
  }
  FOVEA_TRY(ReadChoice(view, Attribute::kRows, "unknown value of rows", reporter, &op->rows));
  FOVEA_TRY(ReadChoice(view, Attribute::kCombine, "unknown value of combine", reporter, &op->combine));
  const bool keeps = op->rows != Rows::kAll || op->combine != Combine::kReplace;
  if (!has_x && keeps) return reporter.Fail(FOVEA_E_RECORD, "without x, rows must be all and combine must be replace");
  op->copies = keeps;
  return kOk;
}

Status Run(const BroadcastOp& op, const OpRun& run) {
  const size_t width = op.output.width;
  if (op.copies) memcpy(run.output, run.Input(1), run.CountOf(op.output) * sizeof(float));
  const Segments& segments = run.SegmentsOf(op.output);
  ForEachSegmentPiece(segments, run.row_begin, run.row_end,
                      [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t segment) {
                        const float* of_segment = run.Input(0) + size_t{segment} * width;
                        uint32_t begin = row, end = row + rows;
                        if (op.rows == Rows::kFirst) end = position == 0 ? row + 1 : row;
                        if (op.rows == Rows::kLast) begin = end == segments.offsets[segment + 1] ? end - 1 : end;
                        float* y = run.output + size_t{begin - run.row_begin} * width;
                        if (op.combine == Combine::kAdd) {
                          run.kernels->elementwise.add_row(y, of_segment, end - begin, width, y);
                        } else {
                          for (uint32_t i = begin; i < end; ++i, y += width) {
                            memcpy(y, of_segment, width * sizeof(float));
                          }
                        }
                      });
  return kOk;
}

constexpr Attribute kAttributes[] = {Attribute::kRows, Attribute::kCombine};

}  // namespace

extern const OpDef kBroadcastOp = DefineOp<OpCode::kBroadcast, Lower, Run>([](OpDef& def) {
  def.attributes = kAttributes;
  def.whole = {0, 1};
});

}  // namespace fovea
