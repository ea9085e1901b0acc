// All rows of a child space that lie in chosen rows of its parent: the tokens of chosen sentences. Their indices are
// ascending; each chosen row is a segment of them.
#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckSelection(op, 0, op.InputSpace(0).source, reporter));
  FOVEA_TRY(CheckWidth(op, 0, reporter));
  // So its source is a child of the space that the indices were chosen from.
  if (op.OutputSpace().kind != SpaceKind::kSelected || op.OutputSpace().parent != op.Input(0).space) {
    return reporter.Fail(FOVEA_E_SHAPE, "output's space must be a selected child of the indices'", op.Input(0).space,
                         op.OutputSpace().parent);
  }
  return kOk;
}

Status Run(const OpRun& run) {
  const uint32_t* segments = run.spaces[run.view.OutputSpace().source].segments.offsets;
  int32_t* out = reinterpret_cast<int32_t*>(run.output);
  uint32_t count = 0;
  run.offsets[0] = 0;
  for (uint32_t i = 0; i < run.rows(); ++i) {
    const auto segment = static_cast<uint32_t>(run.Indices(0)[i]);
    for (uint32_t row = segments[segment]; row < segments[segment + 1]; ++row) out[count++] = static_cast<int32_t>(row);
    run.offsets[i + 1] = count;
  }
  return kOk;
}

constexpr OpDef Define() {
  OpDef def = {1, 1, 0, 0, OpAttributes(), 1u << 0, Check, nullptr, Run, OneFlopPerElement};
  def.output = DType::kI32;
  def.unit = Unit::kAll;
  def.chooses = true;
  return def;
}

}  // namespace

extern const OpDef kExpandOp = Define();

}  // namespace fovea
