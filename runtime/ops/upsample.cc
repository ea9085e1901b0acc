// Upsamples from a strided space to the space that it was made from, through one or several strides: every row gets the
// row that represents it, or zeros if there is none (rows that were left out).
#include <string.h>

#include "runtime/blob/operands.h"
#include "runtime/blob/strides.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

// An input row represents `stride` output rows; each of the `first` rows of a segment represents only itself.
struct Reach {
  uint64_t first = 0, stride = 0;  // stride 0: the spaces do not fit
};

struct UpsampleOp : Op {
  Reach reach;
};

Reach ReachOf(const OpView& op) {
  Reach reach;
  uint64_t stride = 1;
  for (uint32_t space = op.Input(0).space; space != op.Output().space;) {
    const SpaceRecord& record = op.blob->spaces[space];
    const bool begins = stride == 1;
    if (record.kind != SpaceKind::kStrided || (!begins && record.first != reach.first)) return {};
    reach.first = record.first;
    stride *= record.extra;
    if (stride > UINT32_MAX) stride = UINT32_MAX;  // longer than any segment
    space = record.source;                         // precedes it in the table
  }
  reach.stride = stride > 1 ? stride : 0;
  return reach;
}

Status Lower(const OpView& view, Reporter& reporter, UpsampleOp* op) {
  FOVEA_TRY(CheckF32(view, 0, reporter));
  op->output.width = op->inputs[0].width;
  op->reach = ReachOf(view);
  if (op->reach.stride != 0) return kOk;
  return reporter.FailSpace("input's space must be made from the output's by strides with equal first rows",
                            op->output.space, op->inputs[0].space);
}

Status Run(const UpsampleOp& op, const OpRun& run) {
  const Reach reach = op.reach;
  const size_t width = op.output.width;
  const uint32_t* offsets = run.SegmentsOf(op.inputs[0]).offsets;
  ForEachSegmentPiece(run.SegmentsOf(op.output), run.row_begin, run.row_end,
                      [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t segment) {
                        const uint64_t length = offsets[segment + 1] - offsets[segment];
                        const float* x = run.Input(0) + size_t{offsets[segment]} * width;
                        float* y = run.output + size_t{row - run.row_begin} * width;
                        for (uint32_t i = 0; i < rows; ++i, y += width) {
                          uint64_t from = uint64_t{position} + i;
                          if (from > reach.first) from = reach.first + (from - reach.first) / reach.stride;
                          if (from < length) {
                            memcpy(y, x + static_cast<size_t>(from) * width, width * sizeof(float));
                          } else {
                            memset(y, 0, width * sizeof(float));
                          }
                        }
                      });
  return kOk;
}

}  // namespace

extern const OpDef kUpsampleOp = DefineOp<OpCode::kUpsample, Lower, Run>();

}  // namespace fovea
