// Every segment with constant rows put in front, in the space made for it (a class token).
#include <string.h>

#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status Check(const OpView& op, Reporter& reporter) {
  const SpaceRecord& space = op.OutputSpace();
  FOVEA_TRY(CheckF32(op, 0, reporter));
  if (space.kind != SpaceKind::kExtended || space.source != op.Input(0).space) {
    return reporter.Fail(FOVEA_E_SHAPE, "output's space must extend the input's", op.Input(0).space, space.source);
  }
  FOVEA_TRY(CheckWidth(op, 0, reporter));
  if (!op.HasTensor(0)) return reporter.Fail(FOVEA_E_RECORD, "prepend has no rows");
  return CheckFloats(op, 0, space.extra, op.Output().width, reporter);
}

Status Run(const OpRun& run) {
  const size_t width = run.view.Output().width;
  const uint32_t space = run.view.Output().space;
  const uint32_t extra = run.view.blob->spaces[space].extra;
  const Segments& segments = run.spaces[space].segments;
  ForEachSegmentPiece(
      segments, run.row_begin, run.row_end, [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t segment) {
        float* y = run.output + size_t{row - run.row_begin} * width;
        const uint32_t constant = position < extra ? (extra - position < rows ? extra - position : rows) : 0;
        memcpy(y, run.view.Floats(0) + position * (constant == 0 ? 0 : width), constant * width * sizeof(float));
        // Each earlier segment, and this one, holds `extra` rows that the source does not have.
        const size_t source = size_t{row} + constant - size_t{segment + 1} * extra;
        if (rows > constant) {
          memcpy(y + constant * width, run.Input(0) + source * width, (rows - constant) * width * sizeof(float));
        }
      });
  return kOk;
}

}  // namespace

extern const OpDef kPrependOp = {1, 1, 1, 1, OpAttributes(), 1u << 0, Check, nullptr, Run, OneFlopPerElement};

}  // namespace fovea
