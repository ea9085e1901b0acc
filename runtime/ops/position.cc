// y = x + table[offset + position], or x + position for x of width 1. Positions are within the row's segment.
#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct PositionOp : Op {
  const float* table = nullptr;  // begins with the first position; null: absent
  uint32_t offset = 0;
  uint32_t positions = 0;
};

Status Lower(const OpView& view, Reporter& reporter, PositionOp* op) {
  FOVEA_TRY(LowerElementwise(view, reporter, op));
  op->offset = view.U32(Attribute::kOffset, 0);
  if (!view.Has(TensorNumber(0))) {
    op->positions = UINT32_MAX;
    return op->output.width == 1 ? kOk : reporter.Fail(FOVEA_E_SHAPE, "without a table, input must have width 1");
  }
  FOVEA_TRY(CheckFloats(view, 0, 0, op->output.width, reporter));
  FOVEA_TRY(CheckPositions(view, reporter, &op->positions));
  op->table = view.Floats(0) + size_t{op->offset} * op->output.width;
  return kOk;
}

Status Run(const PositionOp& op, const OpRun& run) {
  const size_t width = op.output.width;
  ForEachTextPiece(run, op.output, [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t) {
    const size_t at = size_t{row - run.row_begin} * width;
    for (uint32_t i = 0; i < rows && op.table == nullptr; ++i) {
      run.output[at + i] = run.Input(0)[at + i] + static_cast<float>(op.offset + position + i);
    }
    if (op.table == nullptr) return;
    run.kernels->elementwise.add(run.Input(0) + at, op.table + position * width, rows * width, run.output + at);
  });
  return kOk;
}

SegmentLimit MostRows(const PositionOp& op) { return {op.output.space, op.positions}; }

constexpr Attribute kAttributes[] = {Attribute::kOffset};

}  // namespace

extern const OpDef kPositionOp = DefineOp<OpCode::kPosition, Lower, Run>([](OpDef& def) {
  def.attributes = kAttributes;
  def.segment_limit = OfOp<MostRows>::Call;
});

}  // namespace fovea
