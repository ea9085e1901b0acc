// Limits the dynamic range of a segment: values below (maximum of the segment - `range`) become this bound.
#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct DynamicRangeOp : Op {
  float range = 0.0f;
};

Status Lower(const OpView& view, Reporter& reporter, DynamicRangeOp* op) {
  FOVEA_TRY(LowerElementwise(view, reporter, op));
  op->range = view.F32(Attribute::kRange, -1.0f);
  if (op->range >= 0.0f) return kOk;
  return reporter.Fail(FOVEA_E_SHAPE, "range must be at least 0");
}

Status Run(const DynamicRangeOp& op, const OpRun& run) {
  const uint32_t* offsets = run.SegmentsOf(op.inputs[0]).offsets;
  const size_t width = op.output.width;
  for (uint32_t segment = run.row_begin; segment < run.row_end; ++segment) {
    const size_t at = offsets[segment] * width, count = offsets[segment + 1] * width - at;
    const float bound = run.kernels->elementwise.largest(run.Input(0) + at, count) - op.range;
    run.kernels->elementwise.at_least(run.Input(0) + at, bound, count, run.output + at);
  }
  return kOk;
}

constexpr Attribute kAttributes[] = {Attribute::kRange};

}  // namespace

extern const OpDef kDynamicRangeOp = DefineOp<OpCode::kDynamicRange, Lower, Run>([](OpDef& def) {
  def.attributes = kAttributes;
  def.unit = Unit::kSegments;
});

}  // namespace fovea
