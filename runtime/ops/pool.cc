// Many rows into one: segment i of a space to row i of its parent, or the rows of a segment that a row of a strided
// space stands for to that row. No rows give zeros.
#include <math.h>
#include <string.h>

#include "runtime/blob/strides.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

bool IsStrided(const OpView& op) {
  return op.OutputSpace().kind == SpaceKind::kStrided && op.OutputSpace().source == op.Input(0).space;
}

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckF32(op, 0, reporter));
  if (op.InputSpace(0).parent != op.Output().space && !IsStrided(op)) {
    return reporter.Fail(FOVEA_E_SHAPE, "output's space must be the parent of the input's, or made of it by strides",
                         op.Output().space, op.Input(0).space);
  }
  FOVEA_TRY(CheckWidth(op, 0, reporter));
  return CheckChoice<PoolKind>(op, Attribute::kKind, "unknown kind of pooling", reporter);
}

// Rows [begin, end) of x to y.
void Pool(const OpRun& run, PoolKind kind, uint32_t begin, uint32_t end, float* y) {
  const size_t width = run.view.Output().width;
  if (kind == PoolKind::kMax) {
    run.kernels->pool.max(run.Input(0), begin, end, width, y);
  } else if (kind == PoolKind::kMean || kind == PoolKind::kMeanSqrt || begin == end) {
    run.kernels->pool.mean(run.Input(0), begin, end, width, y);
    // The sum over the square root of the count.
    if (kind == PoolKind::kMeanSqrt)
      run.kernels->elementwise.scale(y, sqrtf(static_cast<float>(end - begin)), width, y);
  } else {
    memcpy(y, run.Input(0) + size_t{kind == PoolKind::kFirst ? begin : end - 1} * width, width * sizeof(float));
  }
}

Status Run(const OpRun& run) {
  const uint32_t* offsets = run.SegmentsOf(run.view.Input(0)).offsets;
  const PoolKind kind = run.view.Choice(Attribute::kKind, PoolKind::kFirst);
  const auto output = [&](uint32_t row) { return run.output + size_t{row - run.row_begin} * run.view.Output().width; };
  if (!IsStrided(run.view)) {
    for (uint32_t row = run.row_begin; row < run.row_end; ++row) {
      Pool(run, kind, offsets[row], offsets[row + 1], output(row));
    }
    return kOk;
  }
  const Strides strides(run.view.OutputSpace());
  ForEachSegmentPiece(run.SegmentsOf(run.view.Output()), run.row_begin, run.row_end,
                      [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t segment) {
                        const uint32_t first = offsets[segment];
                        const uint64_t used = strides.Used(offsets[segment + 1] - first);
                        for (uint32_t i = 0; i < rows; ++i) {
                          // A row of the strided space has at least one of the source's.
                          const uint64_t begin = strides.Source(position + i), end = strides.Source(position + i + 1);
                          Pool(run, kind, first + static_cast<uint32_t>(begin),
                               first + static_cast<uint32_t>(end < used ? end : used), output(row + i));
                        }
                      });
  return kOk;
}

}  // namespace

extern const OpDef kPoolOp = {1,       1,     0,       0,   OpAttributes(Attribute::kKind),
                              1u << 0, Check, nullptr, Run, OneFlopPerElement};

}  // namespace fovea
