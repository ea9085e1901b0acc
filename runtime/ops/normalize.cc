// Scales rows to unit length, divides them by lengths from a second input, or turns them into probabilities.
#include <math.h>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct NormalizeOp : Op {
  NormClamp clamp = NormClamp::kLength;
  float epsilon = 1e-12f;
};

Status LowerNormalize(const OpView& view, Reporter& reporter, NormalizeOp* op) {
  FOVEA_TRY(CheckRowLocal(view, reporter));
  op->output.width = op->inputs[0].width;
  if (op->input_count > 1 && op->inputs[1].width != 1) {
    return reporter.Fail(FOVEA_E_SHAPE, "squares must have width 1", 1, op->inputs[1].width);
  }
  op->epsilon = view.F32(Attribute::kEpsilon, op->epsilon);
  return ReadChoice(view, Attribute::kClamp, "unknown clamp", reporter, &op->clamp);
}

Status RunNormalize(const NormalizeOp& op, const OpRun& run) {
  const size_t width = op.output.width;
  if (op.input_count == 1) {
    run.kernels->norm.l2_normalize(run.Input(0), op.clamp, op.epsilon, run.rows(), width, run.output);
    return kOk;
  }
  const bool of_length = op.clamp == NormClamp::kLength;
  for (size_t row = 0; row < run.rows(); ++row) {
    const float square = fmaxf(run.Input(1)[row], of_length ? 0.0f : op.epsilon);
    const float length = of_length ? fmaxf(sqrtf(square), op.epsilon) : sqrtf(square);
    run.kernels->elementwise.scale(run.Input(0) + row * width, 1.0f / length, width, run.output + row * width);
  }
  return kOk;
}

struct SoftmaxOp : Op {
  bool log = false;
};

Status LowerSoftmax(const OpView& view, Reporter& reporter, SoftmaxOp* op) {
  op->log = view.Flag(Attribute::kLog);
  return LowerElementwise(view, reporter, op);
}

Status RunSoftmax(const SoftmaxOp& op, const OpRun& run) {
  const SoftmaxKernels& kernels = run.kernels->softmax;
  (op.log ? kernels.log_softmax : kernels.softmax)(run.Input(0), run.rows(), op.output.width, run.output);
  return kOk;
}

constexpr Attribute kAttributes[] = {Attribute::kEpsilon, Attribute::kClamp};
constexpr Attribute kSoftmaxAttributes[] = {Attribute::kLog};

}  // namespace

extern const OpDef kNormalizeOp =
    DefineOp<OpCode::kNormalize, LowerNormalize, RunNormalize>([](OpDef& def) { def.attributes = kAttributes; });
extern const OpDef kSoftmaxOp =
    DefineOp<OpCode::kSoftmax, LowerSoftmax, RunSoftmax>([](OpDef& def) { def.attributes = kSoftmaxAttributes; });

}  // namespace fovea
