// Appends a run's keys and values to the KV cache: after the rows of earlier runs of the same sequence.
#include "runtime/ops/append.h"

#include <algorithm>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/kernels/kernels.h"

namespace fovea {
namespace {

Status Lower(const OpView& view, Reporter& reporter, AppendOp* op) {
  FOVEA_TRY(CheckF32(view, 0, reporter));
  op->output.width = op->inputs[0].width;
  const SpaceRecord& space = view.OutputSpace();
  if (space.kind != SpaceKind::kCached || space.source != op->inputs[0].space) {
    return reporter.FailSpace("output must be in the cached space of the input's space", op->inputs[0].space,
                              view.Output().space);
  }
  const DType type = view.Choice(Attribute::kType, DType::kF32);
  if (type != DType::kF32 && type != DType::kF16 && type != DType::kBf16 && type != DType::kI8) {
    return reporter.Fail(FOVEA_E_OP, "cached rows must be f32, f16, bf16 or int8", 0, static_cast<uint32_t>(type));
  }
  op->output.type = type;
  if (view.Output().role != ValueRole::kInternal) {
    return reporter.Fail(FOVEA_E_RECORD, "cached rows cannot be an output of the program", 0,
                         static_cast<uint32_t>(view.Output().role));
  }
  op->output.whole = true;
  return ReadHeads(view, reporter, &op->parts);
}

Status Run(const AppendOp& op, const OpRun& run) {
  const KeyPages& pages = *run.spaces[op.output.space].pages;
  const StoredRows stored = op.StoredAs(run.TypeOf(op.output));
  const size_t row_bytes = stored.row_bytes();
  auto* all = reinterpret_cast<uint8_t*>(run.output);
  ForEachTextPiece(run, op.inputs[0], [&](uint32_t row, uint32_t rows, uint32_t position, uint32_t segment) {
    const float* from = run.Input(0) + size_t{row - run.row_begin} * op.output.width;
    const uint32_t* table = pages.TableOf(segment);
    while (rows > 0) {
      const uint32_t count = std::min(rows, kPageRows - position % kPageRows);
      CastRows(run.kernels->cast, from, count, stored, all + pages.Row(table, position) * row_bytes);
      from += size_t{count} * op.output.width;
      rows -= count, position += count;
    }
  });
  return kOk;
}

constexpr Attribute kAttributes[] = {Attribute::kType, Attribute::kHeads};

}  // namespace

const AppendOp* AsAppend(const Op& op) { return op.def->appends ? static_cast<const AppendOp*>(&op) : nullptr; }

extern const OpDef kAppendOp = DefineOp<OpCode::kAppend, Lower, Run>([](OpDef& def) {
  def.attributes = kAttributes;
  def.appends = true;
  def.whole = {};  // row r of the source is written to one place
  def.share = Share::kFirstWorker;
});

}  // namespace fovea
