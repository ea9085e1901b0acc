// Operations element by element: add, activate, gate, scale.
#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status RunAdd(const OpRun& run) {
  run.ForElements([&](size_t first, size_t count) {
    run.kernels->elementwise.add(run.Input(0) + first, run.Input(1) + first, count, run.output + first);
  });
  return kOk;
}

Status CheckActivated(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckElementwise(op, reporter));
  return CheckChoice<Activation>(op, Attribute::kActivation, "unknown activation", reporter);
}

Status RunActivate(const OpRun& run) {
  const auto apply = run.kernels->activation.apply[run.view.U32(Attribute::kActivation, 0)];
  run.ForElements([&](size_t first, size_t count) { apply(run.Input(0) + first, count, run.output + first); });
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
  const size_t first = run.column_begin, columns = run.column_end - run.column_begin;
  for (size_t row = 0; row < run.rows(); ++row) {
    const size_t at = row * width + first;
    float* y = run.output + at;
    if (narrow_a && row % kBlockRows == 0) {
      const size_t left = run.rows() - row;
      run.kernels->activation.apply[activation](run.Input(0) + row, left < kBlockRows ? left : kBlockRows, gates);
    }
    if (narrow_a) {
      run.kernels->elementwise.scale(run.Input(1) + at, gates[row % kBlockRows], columns, y);
    } else {
      run.kernels->activation.apply[activation](run.Input(0) + at, columns, y);
      run.kernels->elementwise.scale(y, run.Input(1)[row], columns, y);
    }
  }
}

Status RunGate(const OpRun& run) {
  const uint32_t activation = run.view.U32(Attribute::kActivation, 0);
  if (IsNarrow(run.view, 0) || IsNarrow(run.view, 1)) {
    GateByNumbers(run, activation);
  } else {
    const auto gate = run.kernels->activation.gate[activation];
    run.ForElements([&](size_t first, size_t count) {
      gate(run.Input(0) + first, run.Input(1) + first, count, run.output + first);
    });
  }
  return kOk;
}

Status RunScale(const OpRun& run) {
  const float scale = run.view.F32(Attribute::kScale, 1.0f);
  run.ForElements([&](size_t first, size_t count) {
    run.kernels->elementwise.scale(run.Input(0) + first, scale, count, run.output + first);
  });
  return kOk;
}

constexpr OpDef Define(uint32_t inputs, uint64_t attributes, Status (*check)(const OpView&, Reporter&),
                       Status (*run)(const OpRun&)) {
  OpDef def = {inputs, inputs, 0, 0, attributes, 0, check, nullptr, run, OneFlopPerElement};
  def.share = Share::kColumns;
  return def;
}

}  // namespace

extern const OpDef kAddOp = Define(2, OpAttributes(), CheckElementwise, RunAdd);
extern const OpDef kActivateOp = Define(1, OpAttributes(Attribute::kActivation), CheckActivated, RunActivate);
extern const OpDef kGateOp = Define(2, OpAttributes(Attribute::kActivation), CheckGate, RunGate);
extern const OpDef kScaleOp = Define(1, OpAttributes(Attribute::kScale), CheckElementwise, RunScale);

}  // namespace fovea
