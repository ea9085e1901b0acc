// Pools several rows into one: segment i of a space into row i of its parent, or each group of rows of a segment into
// the row of a strided space that represents the group. No rows give zeros.
#include <math.h>
#include <string.h>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/blob/strides.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct PoolOp : Op {
  PoolKind kind = PoolKind::kFirst;
  bool strided = false;
  bool rest = false;  // strided: rows that are left out join the last group of their segment
  Strides strides{0, 1, 0};
};

Status Lower(const OpView& view, Reporter& reporter, PoolOp* op) {
  FOVEA_TRY(CheckF32(view, 0, reporter));
  const SpaceRecord& space = view.OutputSpace();
  op->strided = space.kind == SpaceKind::kStrided && space.source == op->inputs[0].space;
  if (op->strided) op->strides = Strides(space);
  op->rest = view.Flag(Attribute::kRest);
  if (op->rest && !op->strided) {
    return reporter.Fail(FOVEA_E_OP, "rest needs an output in a space that strides the input's", 0, op->output.space);
  }
  if (view.InputSpace(0).parent != op->output.space && !op->strided) {
    return reporter.FailSpace("output's space must be the parent of the input's, or made from it by strides",
                              op->output.space, op->inputs[0].space);
  }
  op->output.width = op->inputs[0].width;
  return ReadChoice(view, Attribute::kKind, "unknown kind of pooling", reporter, &op->kind);
}

// Pools rows [begin, end) of x into y.
void Pool(const PoolOp& op, const OpRun& run, uint32_t begin, uint32_t end, float* y) {
  const size_t width = op.output.width;
  const auto count = static_cast<float>(end - begin);
  const float* x = run.Input(0);
  const PoolKernels& pool = run.kernels->pool;
  const auto row = [&](uint32_t i) { memcpy(y, x + size_t{i} * width, width * sizeof(float)); };
  const auto mean = [&](float factor) {
    pool.mean(x, begin, end, width, y);
    if (factor != 1.0f) run.kernels->elementwise.scale(y, factor, width, y);
  };
  if (begin == end) return mean(1.0f);
  switch (op.kind) {
    case PoolKind::kFirst:
      return row(begin);
    case PoolKind::kLast:
      return row(end - 1);
    case PoolKind::kMean:
      return mean(1.0f);
    case PoolKind::kMax:
      return pool.max(x, begin, end, width, y);
    case PoolKind::kMeanSqrt:
      return mean(sqrtf(count));
    case PoolKind::kSum:
      return mean(count);
    case PoolKind::kRisingMean:
      return pool.rising_mean(x, begin, end, width, y);
  }
}

Status Run(const PoolOp& op, const OpRun& run) {
  const uint32_t* offsets = run.SegmentsOf(op.inputs[0]).offsets;
  const auto output = [&](uint32_t row) { return run.output + size_t{row - run.row_begin} * op.output.width; };
  if (!op.strided) {
    for (uint32_t row = run.row_begin; row < run.row_end; ++row) {
      Pool(op, run, offsets[row], offsets[row + 1], output(row));
    }
    return kOk;
  }
  ForEachSegmentPiece(run.SegmentsOf(op.output), run.row_begin, run.row_end,
                      [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t segment) {
                        const uint32_t first = offsets[segment];
                        const uint64_t length = offsets[segment + 1] - first, used = op.strides.Used(length);
                        for (uint32_t i = 0; i < rows; ++i) {
                          // A row of the strided space represents at least one source row.
                          const uint64_t begin = op.strides.Source(position + i);
                          const uint64_t end = op.strides.Source(position + i + 1);
                          const uint64_t stop = end < used ? end : op.rest ? length : used;
                          Pool(op, run, first + static_cast<uint32_t>(begin), first + static_cast<uint32_t>(stop),
                               output(row + i));
                        }
                      });
  return kOk;
}

constexpr Attribute kAttributes[] = {Attribute::kKind, Attribute::kRest};

}  // namespace

extern const OpDef kPoolOp = DefineOp<OpCode::kPool, Lower, Run>([](OpDef& def) { def.attributes = kAttributes; });

}  // namespace fovea
