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
  return CheckActivation(op, reporter);
}

Status RunActivate(const OpRun& run) {
  run.kernels->activation.apply[run.view.U32(Attribute::kActivation, 0)](run.Input(0), run.count(), run.output);
  return kOk;
}

Status RunGate(const OpRun& run) {
  run.kernels->activation.gate[run.view.U32(Attribute::kActivation, 0)](run.Input(0), run.Input(1), run.count(),
                                                                        run.output);
  return kOk;
}

Status RunScale(const OpRun& run) {
  run.kernels->elementwise.scale(run.Input(0), run.view.F32(Attribute::kScale, 1.0f), run.count(), run.output);
  return kOk;
}

}  // namespace

extern const OpDef kAddOp = {
    "add", 2, 2, 0, 0, OpAttributes(), 0, CheckElementwise, nullptr, RunAdd, OneFlopPerElement};
extern const OpDef kActivateOp = {
    "activate",       1, 1, 0, 0, OpAttributes(Attribute::kActivation), 0, CheckActivated, nullptr, RunActivate,
    OneFlopPerElement};
extern const OpDef kGateOp = {
    "gate", 2, 2, 0, 0, OpAttributes(Attribute::kActivation), 0, CheckActivated, nullptr, RunGate, OneFlopPerElement};
extern const OpDef kScaleOp = {
    "scale", 1, 1, 0, 0, OpAttributes(Attribute::kScale), 0, CheckElementwise, nullptr, RunScale, OneFlopPerElement};

}  // namespace fovea
