// Segment i of a space to row i of its parent. An empty segment gives zeros.
#include <math.h>
#include <string.h>

#include "runtime/ops/op.h"

namespace fovea {
namespace {

enum Kind : uint32_t { kFirst = 0, kLast = 1, kMean = 2, kMax = 3, kMeanSqrt = 4 };

Status Check(const OpView& op, Reporter& reporter) {
  if (DType(op.Input(0).type) != DType::kF32) return reporter.Fail(FOVEA_E_SHAPE, "input must be f32");
  if (op.blob->spaces[op.Input(0).space].parent != op.Output().space) {
    return reporter.Fail(FOVEA_E_SHAPE, "output's space must be the parent of the input's", op.Output().space,
                         op.Input(0).space);
  }
  if (op.Input(0).width != op.Output().width) {
    return reporter.Fail(FOVEA_E_SHAPE, "input and output must have one width", op.Output().width, op.Input(0).width);
  }
  const uint32_t kind = op.U32(Attribute::kKind, kFirst);
  if (kind > kMeanSqrt) return reporter.Fail(FOVEA_E_OP, "unknown kind of pooling", kMeanSqrt, kind);
  return kOk;
}

Status Run(const OpRun& run) {
  const size_t width = run.view.Output().width;
  const uint32_t* offsets = run.spaces[run.view.Input(0).space].segments.offsets;
  const uint32_t kind = run.view.U32(Attribute::kKind, kFirst);
  for (uint32_t row = run.row_begin; row < run.row_end; ++row) {
    const uint32_t begin = offsets[row], end = offsets[row + 1];
    float* y = run.output + (row - run.row_begin) * width;
    if (kind == kMax) {
      run.kernels->pool.max(run.Input(0), begin, end, width, y);
    } else if (kind == kMean || kind == kMeanSqrt || begin == end) {
      run.kernels->pool.mean(run.Input(0), begin, end, width, y);
      // The sum over the square root of the count.
      if (kind == kMeanSqrt) run.kernels->elementwise.scale(y, sqrtf(static_cast<float>(end - begin)), width, y);
    } else {
      memcpy(y, run.Input(0) + size_t{kind == kFirst ? begin : end - 1} * width, width * sizeof(float));
    }
  }
  return kOk;
}

}  // namespace

extern const OpDef kPoolOp = {
    "pool", 1, 1, 0, 0, OpAttributes(Attribute::kKind), 1u << 0, Check, nullptr, Run, OneFlopPerElement};

}  // namespace fovea
