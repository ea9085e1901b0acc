// Rows to unit length, and rows to probabilities.
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct NormalizeOp : Op {
  NormClamp clamp = NormClamp::kLength;
  float epsilon = 1e-12f;
};

Status LowerNormalize(const OpView& view, Reporter& reporter, NormalizeOp* op) {
  FOVEA_TRY(CheckElementwise(view, reporter));
  op->epsilon = view.F32(Attribute::kEpsilon, op->epsilon);
  return ReadChoice(view, Attribute::kClamp, "unknown clamp", reporter, &op->clamp);
}

Status RunNormalize(const NormalizeOp& op, const OpRun& run) {
  run.kernels->norm.l2_normalize(run.Input(0), op.clamp, op.epsilon, run.rows(), op.output.width, run.output);
  return kOk;
}

Status LowerSoftmax(const OpView& view, Reporter& reporter, Op*) { return CheckElementwise(view, reporter); }

Status RunSoftmax(const Op& op, const OpRun& run) {
  run.kernels->softmax.softmax(run.Input(0), run.rows(), op.output.width, run.output);
  return kOk;
}

constexpr Attribute kAttributes[] = {Attribute::kEpsilon, Attribute::kClamp};

}  // namespace

extern const OpDef kNormalizeOp = DefineOp<LowerNormalize, RunNormalize>().Inputs(1, 1).Attributes(kAttributes);
extern const OpDef kSoftmaxOp = DefineOp<LowerSoftmax, RunSoftmax>().Inputs(1, 1);

}  // namespace fovea
