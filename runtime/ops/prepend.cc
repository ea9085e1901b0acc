// Every segment with constant rows put in front, in the space made for it (a class token).
#include <string.h>

#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct PrependOp : Op {
  const float* rows = nullptr;
  uint32_t extra = 0;  // of them
};

Status Lower(const OpView& view, Reporter& reporter, PrependOp* op) {
  const SpaceRecord& space = view.OutputSpace();
  FOVEA_TRY(CheckF32(view, 0, reporter));
  if (space.kind != SpaceKind::kExtended || space.source != op->inputs[0].space) {
    return reporter.Fail(FOVEA_E_SHAPE, "output's space must extend the input's", op->inputs[0].space, space.source);
  }
  FOVEA_TRY(CheckWidth(view, 0, reporter));
  if (!view.HasTensor(0)) return reporter.Fail(FOVEA_E_RECORD, "prepend has no rows");
  op->rows = view.Floats(0);
  op->extra = space.extra;
  return CheckFloats(view, 0, space.extra, op->output.width, reporter);
}

Status Run(const PrependOp& op, const OpRun& run) {
  const size_t width = op.output.width;
  const uint32_t extra = op.extra;
  ForEachSegmentPiece(run.SegmentsOf(op.output), run.row_begin, run.row_end,
                      [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t segment) {
                        float* y = run.output + size_t{row - run.row_begin} * width;
                        const uint32_t left = position < extra ? extra - position : 0;
                        const uint32_t constant = left < rows ? left : rows;
                        memcpy(y, op.rows + position * (constant == 0 ? 0 : width), constant * width * sizeof(float));
                        // Each earlier segment, and this one, holds `extra` rows that the source does not have.
                        const size_t source = size_t{row} + constant - size_t{segment + 1} * extra;
                        if (rows > constant) {
                          memcpy(y + constant * width, run.Input(0) + source * width,
                                 (rows - constant) * width * sizeof(float));
                        }
                      });
  return kOk;
}

}  // namespace

extern const OpDef kPrependOp = DefineOp<Lower, Run>().Inputs(1, 1).Tensors(1, 1).ReadsWhole(0);

}  // namespace fovea
