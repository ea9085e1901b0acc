// Operations element by element: add, activate, gate, scale.
#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status RunAdd(const OpRun& run) {
  run.kernels->elementwise.add(run.Input(0), run.Input(1), run.count(), run.output);
  return kOk;
}

Status CheckActivated(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckElementwise(op, reporter));
  return CheckChoice<Activation>(op, Attribute::kActivation, "unknown activation", reporter);
}

Status RunActivate(const OpRun& run) {
  run.kernels->activation.apply[run.view.U32(Attribute::kActivation, 0)](run.Input(0), run.count(), run.output);
  return kOk;
}

bool IsNarrow(const OpView& op, uint32_t i) { return op.Input(i).width == 1 && op.Output().width != 1; }

Status CheckGate(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckRowLocal(op, reporter));
  for (uint32_t i = 0; i < 2; ++i) {
    if (!IsNarrow(op, i) || IsNarrow(op, 1 - i)) FOVEA_TRY(CheckWidth(op, i, reporter));
  }
  return CheckChoice<Activation>(op, Attribute::kActivation, "unknown activation", reporter);
}

// One number of `a` or `b` for all columns of the other.
void GateByNumbers(const OpRun& run, uint32_t activation) {
  const size_t width = run.view.Output().width;
  const bool narrow_a = IsNarrow(run.view, 0);
  constexpr size_t kBlockRows = 64;
  float gates[kBlockRows];
  for (size_t row = 0; row < run.rows(); ++row) {
    float* y = run.output + row * width;
    if (narrow_a && row % kBlockRows == 0) {
      const size_t left = run.rows() - row;
      run.kernels->activation.apply[activation](run.Input(0) + row, left < kBlockRows ? left : kBlockRows, gates);
    }
    if (narrow_a) {
      run.kernels->elementwise.scale(run.Input(1) + row * width, gates[row % kBlockRows], width, y);
    } else {
      run.kernels->activation.apply[activation](run.Input(0) + row * width, width, y);
      run.kernels->elementwise.scale(y, run.Input(1)[row], width, y);
    }
  }
}

Status RunGate(const OpRun& run) {
  const uint32_t activation = run.view.U32(Attribute::kActivation, 0);
  if (IsNarrow(run.view, 0) || IsNarrow(run.view, 1)) {
    GateByNumbers(run, activation);
  } else {
    run.kernels->activation.gate[activation](run.Input(0), run.Input(1), run.count(), run.output);
  }
  return kOk;
}

Status RunScale(const OpRun& run) {
  run.kernels->elementwise.scale(run.Input(0), run.view.F32(Attribute::kScale, 1.0f), run.count(), run.output);
  return kOk;
}

}  // namespace

extern const OpDef kAddOp = {2, 2, 0, 0, OpAttributes(), 0, CheckElementwise, nullptr, RunAdd, OneFlopPerElement};
extern const OpDef kActivateOp = {
    1, 1, 0, 0, OpAttributes(Attribute::kActivation), 0, CheckActivated, nullptr, RunActivate, OneFlopPerElement};
extern const OpDef kGateOp = {2, 2,         0,       0,       OpAttributes(Attribute::kActivation),
                              0, CheckGate, nullptr, RunGate, OneFlopPerElement};
extern const OpDef kScaleOp = {
    1, 1, 0, 0, OpAttributes(Attribute::kScale), 0, CheckElementwise, nullptr, RunScale, OneFlopPerElement};

}  // namespace fovea
