// One step of a recurrent layer for each row: gates of its input and its old state -> its new state.
#include "runtime/ops/cell.h"

#include <string.h>

namespace fovea {
namespace {

Activation GateOf(const OpView& op) { return op.Choice(Attribute::kActivation, Activation::kSigmoid); }

}  // namespace

Status CheckCell(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckChoice<CellKind>(op, Attribute::kCell, "unknown kind of cell", reporter));
  if (op.Choice(Attribute::kCell, CellKind::kGru) == CellKind::kLstm && op.Has(Attribute::kResetAfter)) {
    return reporter.Fail(FOVEA_E_RECORD, "only a gru resets");
  }
  if (GateOf(op) != Activation::kSigmoid && GateOf(op) != Activation::kHardSigmoid) {
    return reporter.Fail(FOVEA_E_OP, "gates are sigmoid or hard_sigmoid", 0, static_cast<uint32_t>(GateOf(op)));
  }
  FOVEA_TRY(CheckF32(op, 0, reporter));
  if (!op.HasTensor(0)) return reporter.Fail(FOVEA_E_RECORD, "there is no weight");
  const CellSpec cell = CellOf(op);
  const uint64_t gates = uint64_t{cell.gates()} * cell.width;
  if (gates != op.Input(0).width) {
    return reporter.Fail(FOVEA_E_SHAPE, "input must be as wide as all gates", gates, op.Input(0).width);
  }
  return CheckLayers(op, op.Input(0).width, cell.width, reporter);
}

CellSpec CellOf(const OpView& op) {
  const CellKind kind = op.Choice(Attribute::kCell, CellKind::kGru);
  const bool resets_first = kind == CellKind::kGru && !op.Flag(Attribute::kResetAfter, true);
  const Gate gate = GateOf(op) == Activation::kHardSigmoid ? Gate::kHardSigmoid : Gate::kSigmoid;
  return {kind, resets_first, gate, op.Tensor(0).width};
}

LayerRows CellLayer(const OpView& op, uint32_t i) {
  const uint32_t rows = op.Tensor(0).rows;
  const uint32_t first = CellOf(op).resets_first ? rows / 3 * 2 : rows;
  return i == 0 ? LayerRows{0, first} : LayerRows{first, rows};
}

double CellFlops(const OpView& op) { return 2.0 * op.Tensor(0).rows * op.Tensor(0).width; }

float* TakeRows(Arena& arena, uint64_t rows, uint64_t width) {
  const CheckedSize bytes = CheckedSize(rows) * CheckedSize(width) * CheckedSize(sizeof(float));
  return static_cast<float*>(arena.TakeBytes(bytes + CheckedSize(kGemmSlack)));
}

CellMemory TakeCellMemory(Arena& arena, const CellSpec& cell, uint64_t rows) {
  float* gates = TakeRows(arena, rows, uint64_t{cell.gates()} * cell.width);
  return {gates, cell.resets_first ? TakeRows(arena, rows, cell.width) : nullptr};
}

namespace {

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckRowLocal(op, reporter));
  FOVEA_TRY(CheckCell(op, reporter));
  FOVEA_TRY(CheckWidth(op, 1, reporter));
  const uint32_t width = CellOf(op).state_width();
  if (width == op.Output().width) return kOk;
  return reporter.Fail(FOVEA_E_SHAPE, "output must be as wide as the state", width, op.Output().width);
}

// The hidden states of an lstm lie between others of its input.
float* TakeHidden(Arena& arena, const CellSpec& cell, uint64_t rows) {
  return cell.lstm() ? TakeRows(arena, rows, cell.width) : nullptr;
}

uint64_t Scratch(const OpView& op, uint32_t tile_rows) {
  const CellSpec cell = CellOf(op);
  Arena arena;
  TakeCellMemory(arena, cell, tile_rows);
  TakeHidden(arena, cell, tile_rows);
  return arena.needed();
}

Status Run(const OpRun& run) {
  const CellSpec cell = CellOf(run.view);
  const size_t gates = run.view.Input(0).width, state = cell.state_width(), width = cell.width;
  Arena arena(run.scratch, SIZE_MAX);
  const CellMemory memory = TakeCellMemory(arena, cell, run.rows());
  float* packed = TakeHidden(arena, cell, run.rows());
  for (size_t i = 0; i < run.rows() && cell.lstm(); ++i) {
    memcpy(packed + i * width, run.Input(1) + i * state, width * sizeof(float));
  }
  memcpy(run.output, run.Input(1), run.count() * sizeof(float));
  const float* hidden = cell.lstm() ? packed : run.Input(1);
  const uint32_t value = cell.lstm() ? kBlobNone : run.view.InputIndex(1);
  return RunCells(run, cell, memory, hidden, run.rows(), value, [&](size_t i) {
    float* h = run.output + i * state;
    return CellRow{run.Input(0) + i * gates, h, h + width, false};
  });
}

constexpr OpDef Define() {
  OpDef def = {2, 2, 1, 2, kCellAttributes, 0, Check, Scratch, Run, CellFlops};
  def.layer = CellLayer;
  def.share = Share::kFirst;
  return def;
}

}  // namespace

extern const OpDef kCellOp = Define();

}  // namespace fovea
