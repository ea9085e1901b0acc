// Chooses all rows of a child space whose parent row is chosen: e.g. the tokens of chosen sentences. Their indices are
// ascending; each chosen row becomes a segment of them.
#include "runtime/blob/operands.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct ExpandOp : Op {
  uint32_t source = 0;  // the space whose rows are chosen
};

Status Lower(const OpView& view, Reporter& reporter, ExpandOp* op) {
  FOVEA_TRY(CheckSelection(view, 0, view.InputSpace(0).source, reporter));
  op->output.width = op->inputs[0].width;
  // Hence its source is a child of the space that the indices were chosen from.
  const SpaceRecord& space = view.OutputSpace();
  if (space.kind != SpaceKind::kSelected || space.parent != op->inputs[0].space) {
    return reporter.FailSpace("output's space must be a selected child of the indices'", op->inputs[0].space,
                              space.parent);
  }
  op->source = space.source;
  return kOk;
}

Status Run(const ExpandOp& op, const OpRun& run) {
  const uint32_t* segments = run.spaces[op.source].segments.offsets;
  int32_t* out = run.indices_made();
  uint32_t count = 0;
  run.offsets[0] = 0;
  for (uint32_t i = 0; i < run.rows(); ++i) {
    const auto segment = static_cast<uint32_t>(run.Indices(0)[i]);
    for (uint32_t row = segments[segment]; row < segments[segment + 1]; ++row) out[count++] = static_cast<int32_t>(row);
    run.offsets[i + 1] = count;
  }
  return kOk;
}

}  // namespace

extern const OpDef kExpandOp = DefineOp<OpCode::kExpand, Lower, Run>([](OpDef& def) {
  def.output = DType::kI32;
  def.unit = Unit::kAll;
  def.chooses = true;
});

}  // namespace fovea
