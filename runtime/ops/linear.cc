// y = activation(x W^T + b).
#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckRowLocal(op, reporter));
  FOVEA_TRY(CheckChoice<Activation>(op, Attribute::kActivation, "unknown activation", reporter));
  return CheckLayers(op, op.Output().width, op.Input(0).width, reporter);
}

LayerRows Layer(const OpView& op, uint32_t i) { return {0, i == 0 ? op.Tensor(0).rows : 0}; }

Status Run(const OpRun& run) {
  const Activation activation = run.view.Choice(Attribute::kActivation, Activation::kNone);
  return RunLayer(run, 0, run.Input(0), run.rows(), run.view.InputIndex(0),
                  {run.output, run.column_begin, run.column_end, activation});
}

double Flops(const OpView& op) { return 2.0 * op.Input(0).width * op.Output().width; }

constexpr OpDef Define() {
  OpDef def = {1, 1, 1, 2, OpAttributes(Attribute::kActivation), 0, Check, nullptr, Run, Flops};
  def.layer = Layer;
  def.share = Share::kProduct;
  return def;
}

}  // namespace

extern const OpDef kLinearOp = Define();

}  // namespace fovea
