// The cell of recurrent layers (GRU, LSTM or plain RNN): one step of several rows, which need not be contiguous. Shared
// by `cell` and `recurrent`.
#ifndef FOVEA_RUNTIME_OPS_CELL_H_
#define FOVEA_RUNTIME_OPS_CELL_H_

#include "runtime/base/arena.h"
#include "runtime/blob/included.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/op.h"

namespace fovea {

struct CellSpec {
  CellKind kind;
  bool resets_first;  // gru: the reset gate is applied before the candidate's matmul of the state
  Gate gate;
  Activation activation;   // rnn: applied to the state
  const float* peepholes;  // lstm: [3, width], for i, f and o; null: none
  uint32_t width;          // width of h

  // False for kinds that the build excludes, so that their code is dropped.
  bool gru() const { return IsIncluded(CellKind::kGru) && kind == CellKind::kGru; }
  bool lstm() const { return IsIncluded(CellKind::kLstm) && kind == CellKind::kLstm; }
  bool rnn() const { return IsIncluded(CellKind::kRnn) && kind == CellKind::kRnn; }
  bool sees_cell() const { return kHasPeepholes && lstm() && peepholes != nullptr; }
  uint32_t gates() const { return rnn() ? 1 : lstm() ? 4 : 3; }
  uint32_t state_width() const { return lstm() ? 2 * width : width; }  // h, or h and c concatenated by columns
};

// Base of `cell` and `recurrent`. A cell that resets first has two layers: the gates r and z, and the candidate.
struct CellOp : Op {
  CellSpec cell{};
  OpLayer parts[2] = {};
};

// Lowers a cell's attributes and weights and checks that they fit each other and input 0.
Status LowerCell(const OpView&, Reporter&, CellOp*);
inline double CellFlops(const CellOp& op) { return 2.0 * op.inputs[0].width * op.cell.width; }

// Scratch of a step.
struct CellMemory {
  float* gates;  // [rows, gates * width]: the state's part of the gates
  float* reset;  // [rows, width]; only if the cell resets first
};
CellMemory TakeCellMemory(Arena&, const CellSpec&, uint64_t rows);

// One row of a step. h and c become the new state.
struct CellRow {
  const float* x;
  float* h;
  float* c;    // lstm
  bool stays;  // the state is left unchanged
};

// One step: `hidden` [rows, width] are the rows' h (not necessarily in the same memory), row_of(i) is row i. `value`:
// see RunLayer. A team shares the matmuls, which write to one memory.gates; each worker does the cheap rest itself.
template <typename RowOf>
Status RunCells(const CellOp& op, const OpRun& run, const CellMemory& memory, const float* hidden, uint32_t rows,
                uint32_t value, RowOf row_of) {
  const CellSpec& cell = op.cell;
  const CellKernels& kernels = run.kernels->recurrent.of[static_cast<uint32_t>(cell.gate)];
  const size_t width = cell.width, made = cell.resets_first ? 2 * width : cell.gates() * width;
  // A failed matmul does not end the step early: the other workers of the team wait at the next one.
  Status status = RunLayerCooperatively(op, run, 0, hidden, rows, value, memory.gates);
  float* candidates = memory.gates + rows * made;
  if (cell.gru() && cell.resets_first) {
    for (size_t i = 0; i < rows; ++i) {
      kernels.gru_reset(row_of(i).x, memory.gates + i * made, hidden + i * width, width, memory.reset + i * width);
    }
    const Status second = RunLayerCooperatively(op, run, 1, memory.reset, rows, kBlobNone, candidates);
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
