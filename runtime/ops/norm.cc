// Layer norm and RMS norm of each row.
#include "runtime/ops/op.h"

namespace fovea {
namespace {

enum Kind : uint32_t { kLayer = 0, kRms = 1 };

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckElementwise(op, reporter));
  const uint32_t kind = op.U32(Attribute::kKind, kLayer);
  if (kind > kRms) return reporter.Fail(FOVEA_E_OP, "unknown kind of norm", kRms, kind);
  if (kind == kRms && op.HasTensor(1)) return reporter.Fail(FOVEA_E_RECORD, "rms norm has no bias");
  if (kind == kLayer && op.Has(Attribute::kWeightOffset)) {
    return reporter.Fail(FOVEA_E_RECORD, "layer norm has no weight offset");
  }
  FOVEA_TRY(CheckFloats(op, 0, 1, op.Output().width, reporter));
  return CheckFloats(op, 1, 1, op.Output().width, reporter);
}

Status Run(const OpRun& run) {
  const OpView& op = run.view;
  const size_t width = op.Output().width;
  const float epsilon = op.F32(Attribute::kEpsilon, 1e-5f);
  if (op.U32(Attribute::kKind, kLayer) == kRms) {
    run.kernels->norm.rms_norm(run.Input(0), nullptr, op.Floats(0), op.F32(Attribute::kWeightOffset, 0.0f), epsilon,
                               run.rows(), width, nullptr, run.output);
  } else {
    run.kernels->norm.layer_norm(run.Input(0), nullptr, op.Floats(0), op.Floats(1), epsilon, run.rows(), width, nullptr,
                                 run.output);
  }
  return kOk;
}

double Flops(const OpView& op) { return 8.0 * op.Output().width; }

}  // namespace

extern const OpDef kNormOp = {
    "norm", 1,     1,       0,   2,    OpAttributes(Attribute::kKind, Attribute::kEpsilon, Attribute::kWeightOffset),
    0,      Check, nullptr, Run, Flops};

}  // namespace fovea
