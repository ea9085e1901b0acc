// y = activation(x W^T + b).
#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct LinearOp : Op {
  OpLayer layer;
  Activation activation = Activation::kNone;
};

Status Lower(const OpView& view, Reporter& reporter, LinearOp* op) {
  FOVEA_TRY(CheckRowLocal(view, reporter));
  FOVEA_TRY(ReadChoice(view, Attribute::kActivation, "unknown activation", reporter, &op->activation));
  const uint32_t made = view.Tensor(0).rows;
  FOVEA_TRY(MakeWidth(made, reporter, op));
  return LowerLayer(view, made, op->inputs[0].width, reporter, op, &op->layer);
}

Status Run(const LinearOp& op, const OpRun& run) {
  return RunLayer(op, run, 0, run.Input(0), run.rows(), op.inputs[0].index,
                  {run.output, run.column_begin, run.column_end, op.activation});
}

double Flops(const LinearOp& op) { return 2.0 * op.inputs[0].width * op.output.width; }

constexpr Attribute kAttributes[] = {Attribute::kActivation};

}  // namespace

extern const OpDef kLinearOp = DefineOp<OpCode::kLinear, Lower, Run>([](OpDef& def) {
  def.attributes = kAttributes;
  def.share = Share::kMatmul;
  def.flops_per_row = OfOp<Flops>::Call;
});

}  // namespace fovea
