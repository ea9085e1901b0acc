// Rows to unit length, and rows to probabilities.
#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status CheckNormalize(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckElementwise(op, reporter));
  return CheckChoice<NormClamp>(op, Attribute::kClamp, "unknown clamp", reporter);
}

Status RunNormalize(const OpRun& run) {
  const NormClamp clamp = run.view.Choice(Attribute::kClamp, NormClamp::kLength);
  run.kernels->norm.l2_normalize(run.Input(0), clamp, run.view.F32(Attribute::kEpsilon, 1e-12f), run.rows(),
                                 run.view.Output().width, run.output);
  return kOk;
}

Status RunSoftmax(const OpRun& run) {
  run.kernels->softmax.softmax(run.Input(0), run.rows(), run.view.Output().width, run.output);
  return kOk;
}

}  // namespace

extern const OpDef kNormalizeOp = {1,
                                   1,
                                   0,
                                   0,
                                   OpAttributes(Attribute::kEpsilon, Attribute::kClamp),
                                   0,
                                   CheckNormalize,
                                   nullptr,
                                   RunNormalize,
                                   OneFlopPerElement};
extern const OpDef kSoftmaxOp = {
    1, 1, 0, 0, OpAttributes(), 0, CheckElementwise, nullptr, RunSoftmax, OneFlopPerElement};

}  // namespace fovea
