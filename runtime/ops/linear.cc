// y = activation(x W^T + b).
#include "runtime/base/checked.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckRowLocal(op, reporter));
  FOVEA_TRY(CheckActivation(op, reporter));
  if (!op.HasTensor(0)) return reporter.Fail(FOVEA_E_RECORD, "linear has no weight");
  const TensorRecord& weight = op.Tensor(0);
  if (DType(weight.type) == DType::kI32) return reporter.Fail(FOVEA_E_SHAPE, "weight cannot be i32");
  if (GemmTakesQuantized(DType(weight.type)) && weight.width > kGemmIntegerDepth) {
    return reporter.Fail(FOVEA_E_TOO_COMPLEX, "sums of integer products this long could overflow", kGemmIntegerDepth,
                         weight.width);
  }
  if (weight.width != op.Input(0).width) {
    return reporter.Fail(FOVEA_E_SHAPE, "weight's width is not the input's", op.Input(0).width, weight.width);
  }
  if (weight.rows != op.Output().width) {
    return reporter.Fail(FOVEA_E_SHAPE, "weight's rows are not the output's width", op.Output().width, weight.rows);
  }
  return CheckFloats(op, 1, 1, op.Output().width, reporter);
}

Status Run(const OpRun& run) {
  const GemmWeights& weights = *run.linear.weights;
  GemmInput input{run.rows(), run.Input(0), nullptr, nullptr};
  if (GemmTakesQuantized(weights.shape.type)) {
    QuantizedTile& tile = *run.quantized;
    if (tile.value != run.view.InputIndex(0)) {
      run.kernels->quantize.quantize_rows(run.Input(0), run.rows(), weights.shape.k, tile.rows, tile.params);
      tile.value = run.view.InputIndex(0);
    }
    input.quantized = tile.rows;
    input.params = tile.params;
  }
  const Activation activation = Activation(run.view.U32(Attribute::kActivation, 0));
  return run.linear.backend->run(run.linear.op, weights, run.linear.packed, input, activation, run.output);
}

double Flops(const OpView& op) { return 2.0 * op.Input(0).width * op.Output().width; }

}  // namespace

extern const OpDef kLinearOp = {"linear", 1,     1,       1,   2,    OpAttributes(Attribute::kActivation),
                                0,        Check, nullptr, Run, Flops};

}  // namespace fovea
