// One step of a recurrent layer for each row: (input's gates, old state) -> new state.
#include "runtime/ops/cell.h"

#include <string.h>

#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"

namespace fovea {

namespace {

// `cell` and `recurrent` have the same tensors.
constexpr CellTensor kPeepholes = CellTensor::kPeepholes;
static_assert(static_cast<uint32_t>(kPeepholes) == static_cast<uint32_t>(RecurrentTensor::kPeepholes), "");

Status LowerActivation(const OpView& view, Reporter& reporter, CellSpec* cell) {
  if (cell->rnn()) {
    cell->activation = Activation::kTanh;
    FOVEA_TRY(ReadChoice(view, Attribute::kActivation, "unknown activation", reporter, &cell->activation));
    if (cell->activation == Activation::kTanh || cell->activation == Activation::kRelu) return kOk;
    return reporter.Fail(FOVEA_E_OP, "activation of an rnn must be tanh or relu", 0,
                         static_cast<uint32_t>(cell->activation));
  }
  const Activation gate = view.Choice(Attribute::kActivation, Activation::kSigmoid);
  if (gate != Activation::kSigmoid && gate != Activation::kHardSigmoid) {
    return reporter.Fail(FOVEA_E_OP, "activation of gates must be sigmoid or hard_sigmoid", 0,
                         static_cast<uint32_t>(gate));
  }
  cell->gate = gate == Activation::kHardSigmoid ? Gate::kHardSigmoid : Gate::kSigmoid;
  return kOk;
}

}  // namespace

Status LowerCell(const OpView& view, Reporter& reporter, CellOp* op) {
  CellSpec& cell = op->cell;
  FOVEA_TRY(ReadChoice(view, Attribute::kCell, "unknown kind of cell", reporter, &cell.kind));
  const bool gru = cell.gru();
  if (!gru && view.Has(Attribute::kResetAfter)) return reporter.Fail(FOVEA_E_RECORD, "only a gru has reset_after");
  cell.resets_first = gru && !view.Flag(Attribute::kResetAfter, true);
  FOVEA_TRY(LowerActivation(view, reporter, &cell));
  FOVEA_TRY(CheckF32(view, 0, reporter));
  cell.width = view.Tensor(0).width;
  const uint32_t rows = op->inputs[0].width;
  const uint64_t gates = uint64_t{cell.gates()} * cell.width;
  if (gates != rows) return reporter.Fail(FOVEA_E_SHAPE, "input must be as wide as all gates together", gates, rows);
  if (view.Has(kPeepholes) && !cell.lstm()) return reporter.Fail(FOVEA_E_RECORD, "only an lstm has peepholes");
  if (view.Has(kPeepholes) && !kHasPeepholes) {
    return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks peepholes");
  }
  FOVEA_TRY(CheckFloats(view, kPeepholes, 3, cell.width, reporter));
  if (view.Has(kPeepholes)) cell.peepholes = view.Floats(kPeepholes);
  FOVEA_TRY(LowerLayer(view, rows, cell.width, reporter, op, op->parts));
  if (!cell.resets_first) return kOk;
  op->parts[0].end = rows / 3 * 2;
  op->parts[1] = {rows / 3 * 2, rows};
  op->layer_count = 2;
  return kOk;
}

CellMemory TakeCellMemory(Arena& arena, const CellSpec& cell, uint64_t rows) {
  float* gates = TakeRows(arena, rows, uint64_t{cell.gates()} * cell.width);
  return {gates, cell.resets_first ? TakeRows(arena, rows, cell.width) : nullptr};
}

namespace {

Status Lower(const OpView& view, Reporter& reporter, CellOp* op) {
  FOVEA_TRY(CheckRowLocal(view, reporter));
  FOVEA_TRY(LowerCell(view, reporter, op));
  const uint32_t width = op->cell.state_width();
  if (op->inputs[1].width != width) {
    return reporter.Fail(FOVEA_E_SHAPE, "input must be as wide as the state", width, op->inputs[1].width);
  }
  return MakeWidth(width, reporter, op);
}

// Memory for the hidden states of an LSTM, which are not contiguous in its input: h and c alternate.
float* TakeHidden(Arena& arena, const CellSpec& cell, uint64_t rows) {
  return cell.lstm() ? TakeRows(arena, rows, cell.width) : nullptr;
}

uint64_t Scratch(const CellOp& op, uint32_t tile_rows) {
  Arena arena;
  TakeCellMemory(arena, op.cell, tile_rows);
  TakeHidden(arena, op.cell, tile_rows);
  return arena.needed();
}

Status Run(const CellOp& op, const OpRun& run) {
  const CellSpec& cell = op.cell;
  const size_t gates = op.inputs[0].width, state = cell.state_width(), width = cell.width;
  Arena arena(run.scratch, SIZE_MAX);
  const CellMemory memory = TakeCellMemory(arena, cell, run.rows());
  float* packed = TakeHidden(arena, cell, run.rows());
  for (size_t i = 0; i < run.rows() && cell.lstm(); ++i) {
    memcpy(packed + i * width, run.Input(1) + i * state, width * sizeof(float));
  }
  memcpy(run.output, run.Input(1), run.CountOf(op.output) * sizeof(float));
  const float* hidden = cell.lstm() ? packed : run.Input(1);
  const uint32_t value = cell.lstm() ? kBlobNone : op.inputs[1].index;
  return RunCells(op, run, memory, hidden, run.rows(), value, [&](size_t i) {
    float* h = run.output + i * state;
    return CellRow{run.Input(0) + i * gates, h, h + width, false};
  });
}

constexpr Attribute kAttributes[] = {Attribute::kCell, Attribute::kResetAfter, Attribute::kActivation};

}  // namespace

extern const OpDef kCellOp = DefineOp<OpCode::kCell, Lower, Run>([](OpDef& def) {
  def.attributes = kAttributes;
  def.share = Share::kFirstWorker;
  def.scratch = OfOp<Scratch>::Call;
  def.flops_per_row = OfOp<CellFlops>::Call;
});

}  // namespace fovea
