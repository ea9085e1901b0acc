// Prepends rows to every segment, in a space made for this: constant rows (e.g. a class token), or the rows of another
// space's segment (e.g. an image before text tokens).
#include <string.h>

#include "runtime/blob/operands.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct PrependOp : Op {
  const float* rows = nullptr;  // null: rows of the second input
  uint32_t extra = 0;           // rows to prepend
};

// Checks that the second input has as many segments as the first, each with `extra` rows.
Status CheckRows(const OpView& view, const PrependOp& op, Reporter& reporter) {
  FOVEA_TRY(CheckF32(view, 1, reporter));
  const SpaceRecord &front = view.InputSpace(1), &rest = view.InputSpace(0);
  if (front.kind != SpaceKind::kFixed || front.extra != op.extra || front.parent != rest.parent) {
    return reporter.Fail(FOVEA_E_SHAPE, "front must be in a sibling space of fixed segments of this length", op.extra,
                         front.extra);
  }
  return CheckWidth(view, 1, reporter);
}

Status Lower(const OpView& view, Reporter& reporter, PrependOp* op) {
  const SpaceRecord& space = view.OutputSpace();
  FOVEA_TRY(CheckF32(view, 0, reporter));
  if (space.kind != SpaceKind::kExtended || space.source != op->inputs[0].space) {
    return reporter.FailSpace("output's space must extend the input's", op->inputs[0].space, space.source);
  }
  op->output.width = op->inputs[0].width;
  op->rows = view.Floats(0);
  op->extra = space.extra;
  if (view.Has(TensorNumber(0)) == (op->input_count > 1)) {
    return reporter.Fail(FOVEA_E_RECORD, "prepend needs either the tensor rows or the input front", 1, op->input_count);
  }
  if (op->input_count > 1) return CheckRows(view, *op, reporter);
  return CheckFloats(view, 0, space.extra, op->output.width, reporter);
}

Status Run(const PrependOp& op, const OpRun& run) {
  const size_t width = op.output.width;
  const uint32_t extra = op.extra;
  ForEachSegmentPiece(
      run.SegmentsOf(op.output), run.row_begin, run.row_end,
      [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t segment) {
        float* y = run.output + size_t{row - run.row_begin} * width;
        const uint32_t left = position < extra ? extra - position : 0;
        const uint32_t constant = left < rows ? left : rows;
        if (constant > 0) {
          const float* front = op.rows != nullptr ? op.rows : run.Input(1) + size_t{segment} * extra * width;
          memcpy(y, front + position * width, constant * width * sizeof(float));
        }
        // Each earlier segment, and this one, holds `extra` rows that the source does not have.
        const size_t source = size_t{row} + constant - size_t{segment + 1} * extra;
        if (rows > constant) {
          memcpy(y + constant * width, run.Input(0) + source * width, (rows - constant) * width * sizeof(float));
        }
      });
  return kOk;
}

}  // namespace

extern const OpDef kPrependOp = DefineOp<OpCode::kPrepend, Lower, Run>();

}  // namespace fovea
