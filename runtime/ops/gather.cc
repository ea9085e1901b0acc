// Moves rows between a space and a selection of it: `gather` copies them out (also ids), `merge` puts them back.
#include <string.h>

#include "runtime/blob/operands.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status LowerGather(const OpView& view, Reporter& reporter, Op* op) {
  if (IdsOf(view, 0) == kBlobNone) FOVEA_TRY(CheckF32(view, 0, reporter));
  FOVEA_TRY(CheckSelection(view, 1, op->inputs[0].space, reporter));
  if (op->output.space != op->inputs[1].space) {
    return reporter.FailSpace("output must be in the indices' space", op->inputs[1].space, op->output.space);
  }
  op->output.width = op->inputs[0].width;
  return kOk;
}

Status RunGather(const Op& op, const OpRun& run) {
  const size_t width = op.output.width;
  for (uint32_t i = 0; i < run.rows(); ++i) {
    const size_t row = static_cast<uint32_t>(run.Indices(1)[i]);
    memcpy(run.output + i * width, run.Input(0) + row * width, width * sizeof(float));
  }
  return kOk;
}

Status LowerMerge(const OpView& view, Reporter& reporter, Op* op) {
  op->output.width = op->inputs[0].width;
  for (uint32_t i = 0; i < 2; ++i) {
    FOVEA_TRY(CheckF32(view, i, reporter));
    FOVEA_TRY(CheckWidth(view, i, reporter));
  }
  FOVEA_TRY(CheckSpace(view, 0, reporter));
  if (op->inputs[1].space != op->inputs[2].space) {
    return reporter.Fail(FOVEA_E_SHAPE, "rows to merge must be in the indices' space", op->inputs[2].space,
                         op->inputs[1].space);
  }
  return CheckSelection(view, 2, op->inputs[0].space, reporter);
}

Status RunMerge(const Op& op, const OpRun& run) {
  const size_t width = op.output.width;
  memcpy(run.output, run.Input(0), run.CountOf(op.output) * sizeof(float));
  const int32_t* indices = run.Indices(2);
  const uint32_t count = run.spaces[op.inputs[2].space].rows;
  uint32_t low = 0, high = count;  // the first index at or after row_begin
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (static_cast<uint32_t>(indices[middle]) < run.row_begin) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < count && static_cast<uint32_t>(indices[low]) < run.row_end; ++low) {
    const size_t row = static_cast<uint32_t>(indices[low]) - run.row_begin;
    memcpy(run.output + row * width, run.Input(1) + size_t{low} * width, width * sizeof(float));
  }
  return kOk;
}

}  // namespace

extern const OpDef kGatherOp = DefineOp<OpCode::kGather, LowerGather, RunGather>([](OpDef& def) {
  def.whole = {0, 1};
  def.keeps_type = true;
});
extern const OpDef kMergeOp = DefineOp<OpCode::kMerge, LowerMerge, RunMerge>([](OpDef& def) {
  def.whole = {1, kAnyNumber};
});

}  // namespace fovea
