// Rotary positions. Row p of the table holds the cosines, then the sines, of position p.
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct RotateOp : Op {
  const float* table = nullptr;  // from the first position on
  uint32_t parts = 0, dims = 0, positions = 0;
  bool interleaved = false;
};

Status Lower(const OpView& view, Reporter& reporter, RotateOp* op) {
  FOVEA_TRY(CheckElementwise(view, reporter));
  op->parts = view.U32(Attribute::kHeads, 0);
  if (op->parts == 0 || op->output.width % op->parts != 0) {
    return reporter.Fail(FOVEA_E_SHAPE, "heads do not divide the width", op->output.width, op->parts);
  }
  op->interleaved = view.Flag(Attribute::kInterleaved);
  if (!view.HasTensor(0)) return reporter.Fail(FOVEA_E_RECORD, "rotate has no table");
  op->dims = view.Tensor(0).width;
  if (op->dims % 2 != 0 || op->dims > op->output.width / op->parts) {
    return reporter.Fail(FOVEA_E_SHAPE, "table's width must be even and at most a head's size",
                         op->output.width / op->parts, op->dims);
  }
  FOVEA_TRY(CheckPositions(view, reporter, &op->positions));
  FOVEA_TRY(CheckFloats(view, 0, 0, op->dims, reporter));
  op->table = view.Floats(0) + size_t{view.U32(Attribute::kOffset, 0)} * op->dims;
  return kOk;
}

Status Run(const RotateOp& op, const OpRun& run) {
  const size_t width = op.output.width, dims = op.dims;
  ForEachTextPiece(run, op.output, [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t) {
    for (uint32_t i = 0; i < rows; ++i) {
      const size_t at = size_t{row + i - run.row_begin} * width;
      const float* cos = op.table + size_t{position + i} * dims;
      run.kernels->rotary.rotate(run.Input(0) + at, op.parts, width / op.parts, dims, cos, cos + dims / 2,
                                 op.interleaved, run.output + at);
    }
  });
  return kOk;
}

double Flops(const RotateOp& op) { return 6.0 * op.output.width; }

SegmentLimit MostRows(const RotateOp& op) { return {op.output.space, op.positions}; }

constexpr Attribute kAttributes[] = {Attribute::kHeads, Attribute::kInterleaved, Attribute::kOffset};

}  // namespace

extern const OpDef kRotateOp =
    DefineOp<Lower, Run>().Inputs(1, 1).Tensors(1, 1).Attributes(kAttributes).LimitsSegments<MostRows>().Flops<Flops>();

}  // namespace fovea
