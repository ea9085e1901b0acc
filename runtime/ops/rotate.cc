// Rotary positions. Row p of the table holds the cosines, then the sines, of position p.
#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckElementwise(op, reporter));
  const uint32_t heads = op.U32(Attribute::kHeads, 0);
  if (heads == 0 || op.Output().width % heads != 0) {
    return reporter.Fail(FOVEA_E_SHAPE, "heads do not divide the width", op.Output().width, heads);
  }
  if (!op.HasTensor(0)) return reporter.Fail(FOVEA_E_RECORD, "rotate has no table");
  const uint32_t dims = op.Tensor(0).width;
  if (dims % 2 != 0 || dims > op.Output().width / heads) {
    return reporter.Fail(FOVEA_E_SHAPE, "table's width must be even and at most a head's size",
                         op.Output().width / heads, dims);
  }
  FOVEA_TRY(CheckPositions(op, reporter));
  return CheckFloats(op, 0, 0, dims, reporter);
}

Status Run(const OpRun& run) {
  const OpView& op = run.view;
  const size_t width = op.Output().width, dims = op.Tensor(0).width;
  const uint32_t heads = op.U32(Attribute::kHeads, 0);
  const bool interleaved = op.Flag(Attribute::kInterleaved);
  const float* table = op.Floats(0) + op.U32(Attribute::kOffset, 0) * dims;
  ForEachSegmentPiece(run.spaces[op.Output().space].segments, run.row_begin, run.row_end,
                      [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t) {
                        for (uint32_t i = 0; i < rows; ++i) {
                          const size_t at = size_t{row + i - run.row_begin} * width;
                          const float* cos = table + size_t{position + i} * dims;
                          run.kernels->rotary.rotate(run.Input(0) + at, heads, width / heads, dims, cos, cos + dims / 2,
                                                     interleaved, run.output + at);
                        }
                      });
  return kOk;
}

double Flops(const OpView& op) { return 6.0 * op.Output().width; }

}  // namespace

extern const OpDef kRotateOp = {
    1, 1,     1,       1,   OpAttributes(Attribute::kHeads, Attribute::kInterleaved, Attribute::kOffset),
    0, Check, nullptr, Run, Flops};

}  // namespace fovea
