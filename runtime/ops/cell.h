// The cell of recurrent layers, GRU, LSTM or plain: one step of several rows, wherever they lie. Shared by `cell` and
// `recurrent`.
#ifndef FOVEA_RUNTIME_OPS_CELL_H_
#define FOVEA_RUNTIME_OPS_CELL_H_

#include "runtime/base/arena.h"
#include "runtime/blob/included.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/op.h"

namespace fovea {

struct CellSpec {
  CellKind kind;
  bool resets_first;  // gru: before the product that makes the candidate's part of the state
  Gate gate;
  Activation activation;   // rnn: of the state
  const float* peepholes;  // lstm: [3, width], of i, f and o; null: none
  uint32_t width;          // of h

  // False of what a build lacks, which then has no code.
  bool gru() const { return IsIncluded(CellKind::kGru) && kind == CellKind::kGru; }
  bool lstm() const { return IsIncluded(CellKind::kLstm) && kind == CellKind::kLstm; }
  bool rnn() const { return IsIncluded(CellKind::kRnn) && kind == CellKind::kRnn; }
  bool sees_cell() const { return kHasPeepholes && lstm() && peepholes != nullptr; }
  uint32_t gates() const { return rnn() ? 1 : lstm() ? 4 : 3; }
  uint32_t state_width() const { return lstm() ? 2 * width : width; }  // h, or h and c beside each other
};

// `cell` and `recurrent`. A cell that resets first has two layers: the gates r and z, and its candidate.
struct CellOp : Op {
  CellSpec cell{};
  OpLayer parts[2] = {};
};

// The attributes of a cell and the weights, which fit each other and input 0.
Status LowerCell(const OpView&, Reporter&, CellOp*);
inline double CellFlops(const CellOp& op) { return 2.0 * op.inputs[0].width * op.cell.width; }

// What a step needs besides its rows.
struct CellMemory {
  float* gates;  // [rows, gates * width] the state's part
  float* reset;  // [rows, width]; only where the cell resets first
};
CellMemory TakeCellMemory(Arena&, const CellSpec&, uint64_t rows);

// One row of a step. h and c become the new state.
struct CellRow {
  const float* x;
  float* h;
  float* c;    // lstm
  bool stays;  // the state is left as it is
};

// One step: `hidden` [rows, width] are the rows' h (not necessarily in the same memory), row_of(i) row i. `value`: as
// RunLayer. A team shares the products, into memory.gates of all; what follows is cheap, and each does all of it.
template <typename RowOf>
Status RunCells(const CellOp& op, const OpRun& run, const CellMemory& memory, const float* hidden, uint32_t rows,
                uint32_t value, RowOf row_of) {
  const CellSpec& cell = op.cell;
  const CellKernels& kernels = run.kernels->recurrent.of[static_cast<uint32_t>(cell.gate)];
  const size_t width = cell.width, made = cell.resets_first ? 2 * width : cell.gates() * width;
  // A product that fails ends no step: the others of a team wait at the next one.
  Status status = RunLayerTogether(op, run, 0, hidden, rows, value, memory.gates);
  float* candidates = memory.gates + rows * made;
  if (cell.gru() && cell.resets_first) {
    for (size_t i = 0; i < rows; ++i) {
      kernels.gru_reset(row_of(i).x, memory.gates + i * made, hidden + i * width, width, memory.reset + i * width);
    }
    const Status second = RunLayerTogether(op, run, 1, memory.reset, rows, kBlobNone, candidates);
    if (status.ok()) status = second;
  }
  for (size_t i = 0; i < rows; ++i) {
    const CellRow row = row_of(i);
    const float* gates = memory.gates + i * made;
    if (row.stays) continue;
    if (cell.rnn()) {
      run.kernels->elementwise.add(row.x, gates, width, row.h);
      run.kernels->activation.apply[static_cast<uint32_t>(cell.activation)](row.h, width, row.h);
    } else if (cell.sees_cell()) {
      kernels.lstm_peephole(row.x, gates, cell.peepholes, width, row.h, row.c);
    } else if (cell.lstm()) {
      kernels.lstm(row.x, gates, width, row.h, row.c);
    } else if (cell.gru() && cell.resets_first) {
      kernels.gru_update(row.x, gates, candidates + i * width, width, row.h);
    } else if (cell.gru()) {
      kernels.gru(row.x, gates, width, row.h);
    }
  }
  return status;
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_OPS_CELL_H_
