// Columns [begin, begin + width) of every row.
#include <string.h>

#include "runtime/base/checked.h"
#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct SliceOp : Op {
  uint32_t begin = 0;
};

Status Lower(const OpView& view, Reporter& reporter, SliceOp* op) {
  FOVEA_TRY(CheckRowLocal(view, reporter));
  op->begin = view.U32(Attribute::kBegin, 0);
  const uint32_t width = view.U32(Attribute::kWidth, 0);
  FOVEA_TRY(MakeWidth(width, reporter, op));
  if (InBounds(op->begin, width, op->inputs[0].width)) return kOk;
  return reporter.Fail(FOVEA_E_SHAPE, "begin + width exceeds the input's width", op->inputs[0].width,
                       uint64_t{op->begin} + width);
}

Status Run(const SliceOp& op, const OpRun& run) {
  const size_t from = op.inputs[0].width, width = op.output.width;
  const float* first = run.Input(0) + op.begin;
  for (size_t row = 0; row < run.rows(); ++row) {
    memcpy(run.output + row * width, first + row * from, width * sizeof(float));
  }
  return kOk;
}

constexpr Attribute kAttributes[] = {Attribute::kBegin, Attribute::kWidth};

}  // namespace

extern const OpDef kSliceOp = DefineOp<OpCode::kSlice, Lower, Run>([](OpDef& def) { def.attributes = kAttributes; });

}  // namespace fovea
