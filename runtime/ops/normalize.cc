// Rows to unit length, and rows to probabilities.
#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status CheckNormalize(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckElementwise(op, reporter));
  const uint32_t clamp = op.U32(Attribute::kClamp, 0);
  if (clamp > 1) return reporter.Fail(FOVEA_E_OP, "unknown clamp", 1, clamp);
  return kOk;
}

Status RunNormalize(const OpRun& run) {
  const L2Guard guard = run.view.U32(Attribute::kClamp, 0) == 0 ? L2Guard::kLength : L2Guard::kSquares;
  run.kernels->norm.l2_normalize(run.Input(0), guard, run.view.F32(Attribute::kEpsilon, 1e-12f), run.rows(),
                                 run.view.Output().width, run.output);
  return kOk;
}

Status RunSoftmax(const OpRun& run) {
  run.kernels->softmax.softmax(run.Input(0), run.rows(), run.view.Output().width, run.output);
  return kOk;
}

}  // namespace

extern const OpDef kNormalizeOp = {"normalize",
                                   1,
                                   1,
                                   0,
                                   0,
                                   OpAttributes(Attribute::kEpsilon, Attribute::kClamp),
                                   0,
                                   CheckNormalize,
                                   nullptr,
                                   RunNormalize,
                                   OneFlopPerElement};
extern const OpDef kSoftmaxOp = {"softmax",        1, 1, 0, 0, OpAttributes(), 0, CheckElementwise, nullptr, RunSoftmax,
                                 OneFlopPerElement};

}  // namespace fovea
