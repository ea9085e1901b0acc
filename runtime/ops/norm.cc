// Layer norm and RMS norm of each row, or of each head of a row by itself with one weight for all.
#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckElementwise(op, reporter));
  FOVEA_TRY(CheckChoice<NormKind>(op, Attribute::kKind, "unknown kind of norm", reporter));
  const NormKind kind = op.Choice(Attribute::kKind, NormKind::kLayer);
  if (kind == NormKind::kRms && op.HasTensor(1)) return reporter.Fail(FOVEA_E_RECORD, "rms norm has no bias");
  if (kind == NormKind::kLayer && op.Has(Attribute::kWeightOffset)) {
    return reporter.Fail(FOVEA_E_RECORD, "layer norm has no weight offset");
  }
  const uint32_t heads = op.U32(Attribute::kHeads, 1);
  if (heads == 0 || op.Output().width % heads != 0) {
    return reporter.Fail(FOVEA_E_SHAPE, "heads do not divide the width", op.Output().width, heads);
  }
  FOVEA_TRY(CheckFloats(op, 0, 1, op.Output().width / heads, reporter));
  return CheckFloats(op, 1, 1, op.Output().width / heads, reporter);
}

Status Run(const OpRun& run) {
  const OpView& op = run.view;
  // A head is a row: they lie one after the other.
  const uint32_t heads = op.U32(Attribute::kHeads, 1);
  const size_t rows = size_t{run.rows()} * heads, width = op.Output().width / heads;
  const float epsilon = op.F32(Attribute::kEpsilon, 1e-5f);
  if (op.Choice(Attribute::kKind, NormKind::kLayer) == NormKind::kRms) {
    run.kernels->norm.rms_norm(run.Input(0), nullptr, op.Floats(0), op.F32(Attribute::kWeightOffset, 0.0f), epsilon,
                               rows, width, nullptr, run.output);
  } else {
    run.kernels->norm.layer_norm(run.Input(0), nullptr, op.Floats(0), op.Floats(1), epsilon, rows, width, nullptr,
                                 run.output);
  }
  return kOk;
}

double Flops(const OpView& op) { return 8.0 * op.Output().width; }

}  // namespace

extern const OpDef kNormOp = {
    1,
    1,
    0,
    2,
    OpAttributes(Attribute::kKind, Attribute::kEpsilon, Attribute::kWeightOffset, Attribute::kHeads),
    0,
    Check,
    nullptr,
    Run,
    Flops};

}  // namespace fovea
