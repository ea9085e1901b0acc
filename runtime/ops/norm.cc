// Layer norm and RMS norm of each row, or of each head of a row separately, with one weight for all heads or one per
// head.
#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct NormOp : Op {
  NormKind kind = NormKind::kLayer;
  uint32_t parts = 1;    // consecutive parts of a row, each normalized separately
  uint32_t weights = 1;  // 1, or equal to parts
  float epsilon = 1e-5f, weight_offset = 0.0f;
  const float *weight = nullptr, *bias = nullptr;
};

Status Lower(const OpView& view, Reporter& reporter, NormOp* op) {
  FOVEA_TRY(LowerElementwise(view, reporter, op));
  FOVEA_TRY(ReadChoice(view, Attribute::kKind, "unknown kind of norm", reporter, &op->kind));
  if (op->kind == NormKind::kRms && view.Has(TensorNumber(1)))
    return reporter.Fail(FOVEA_E_RECORD, "rms norm has no bias");
  if (op->kind == NormKind::kLayer && view.Has(Attribute::kWeightOffset)) {
    return reporter.Fail(FOVEA_E_RECORD, "layer norm has no weight offset");
  }
  FOVEA_TRY(ReadHeads(view, reporter, &op->parts));
  if (view.Has(TensorNumber(0)) && view.Tensor(0).rows == op->parts) op->weights = op->parts;
  for (uint32_t i = 0; i < 2; ++i) FOVEA_TRY(CheckFloats(view, i, op->weights, op->output.width / op->parts, reporter));
  op->epsilon = view.F32(Attribute::kEpsilon, op->epsilon);
  op->weight_offset = view.F32(Attribute::kWeightOffset, op->weight_offset);
  op->weight = view.Floats(0);
  op->bias = view.Floats(1);
  return kOk;
}

Status Run(const NormOp& op, const OpRun& run) {
  const size_t width = op.output.width / op.parts, parts = size_t{run.rows()} * op.parts;
  const size_t step = op.weights == 1 ? parts : 1;  // consecutive parts that share a weight
  for (size_t part = 0; part < parts; part += step) {
    const size_t at = part * width, own = part % op.weights * width;
    const float* weight = op.weight == nullptr ? nullptr : op.weight + own;
    const float* bias = op.bias == nullptr ? nullptr : op.bias + own;
    if (op.kind == NormKind::kRms) {
      run.kernels->norm.rms_norm(run.Input(0) + at, nullptr, weight, op.weight_offset, op.epsilon, step, width, nullptr,
                                 run.output + at);
    } else {
      run.kernels->norm.layer_norm(run.Input(0) + at, nullptr, weight, bias, op.epsilon, step, width, nullptr,
                                   run.output + at);
    }
  }
  return kOk;
}

double Flops(const NormOp& op) { return 8.0 * op.output.width; }

constexpr Attribute kAttributes[] = {Attribute::kKind, Attribute::kEpsilon, Attribute::kWeightOffset,
                                     Attribute::kHeads};

}  // namespace

extern const OpDef kNormOp = DefineOp<OpCode::kNorm, Lower, Run>([](OpDef& def) {
  def.attributes = kAttributes;
  def.flops_per_row = OfOp<Flops>::Call;
});

}  // namespace fovea
