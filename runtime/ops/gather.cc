// Between a space and rows selected from it: gather takes them out (ids, too), merge puts them back.
#include <string.h>

#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status CheckGather(const OpView& op, Reporter& reporter) {
  if (IdsOf(op, 0) == kBlobNone) FOVEA_TRY(CheckF32(op, 0, reporter));
  FOVEA_TRY(CheckSelection(op, 1, op.Input(0).space, reporter));
  if (op.Output().space != op.Input(1).space) {
    return reporter.Fail(FOVEA_E_SHAPE, "output must be in the indices' space", op.Input(1).space, op.Output().space);
  }
  return CheckWidth(op, 0, reporter);
}

Status RunGather(const OpRun& run) {
  const size_t width = run.view.Output().width;
  for (uint32_t i = 0; i < run.rows(); ++i) {
    const size_t row = static_cast<uint32_t>(run.Indices(1)[i]);
    memcpy(run.output + i * width, run.Input(0) + row * width, width * sizeof(float));
  }
  return kOk;
}

Status CheckMerge(const OpView& op, Reporter& reporter) {
  for (uint32_t i = 0; i < 2; ++i) {
    FOVEA_TRY(CheckF32(op, i, reporter));
    FOVEA_TRY(CheckWidth(op, i, reporter));
  }
  if (op.Output().space != op.Input(0).space || op.Input(1).space != op.Input(2).space) {
    return reporter.Fail(FOVEA_E_SHAPE, "rows to put in must be in the indices' space, the others in the output's",
                         op.Input(2).space, op.Input(1).space);
  }
  return CheckSelection(op, 2, op.Input(0).space, reporter);
}

Status RunMerge(const OpRun& run) {
  const size_t width = run.view.Output().width;
  memcpy(run.output, run.Input(0), run.count() * sizeof(float));
  const int32_t* indices = run.Indices(2);
  const uint32_t count = run.spaces[run.view.Input(2).space].rows;
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

constexpr OpDef DefineGather() {
  OpDef def = {2, 2, 0, 0, OpAttributes(), 1u << 0, CheckGather, nullptr, RunGather, OneFlopPerElement};
  def.keeps_type = true;
  return def;
}

}  // namespace

extern const OpDef kGatherOp = DefineGather();
extern const OpDef kMergeOp = {
    3, 3, 0, 0, OpAttributes(), (1u << 1) | (1u << 2), CheckMerge, nullptr, RunMerge, OneFlopPerElement};

}  // namespace fovea
