// Every kind of cell, for tests of the operations that run them.
#ifndef FOVEA_TESTS_OPS_RECURRENT_CELLS_H_
#define FOVEA_TESTS_OPS_RECURRENT_CELLS_H_

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/blob/attributes.h"
#include "tests/support/model_builder.h"
#include "tests/support/reference_recurrent.h"
#include "tests/support/split_bound.h"

namespace fovea::test {

inline std::vector<ReferenceCell> EveryCell() {
  std::vector<ReferenceCell> cells;
  for (const bool hard : {false, true}) {
    cells.push_back({false, true, hard, 0, {}, {}});
    cells.push_back({false, false, hard, 0, {}, {}});
    cells.push_back({true, true, hard, 0, {}, {}});
    cells.push_back({true, true, hard, 0, {}, {}, false, false, true});
    cells.push_back({false, true, false, 0, {}, {}, true, hard});
  }
  return cells;
}

inline Attributes AttributesOf(const ReferenceCell& cell) {
  Attributes attributes = {{Attribute::kCell, cell.rnn ? 2 : cell.lstm ? 1 : 0}};
  attributes.push_back({Attribute::kActivation, cell.rnn ? (cell.relu ? 1 : 5) : cell.hard ? 8 : 6});
  if (!cell.lstm && !cell.rnn) attributes.push_back({Attribute::kResetAfter, cell.reset_after ? 1 : 0});
  return attributes;
}

// Weight, and bias if there is one, of a cell of its width, which gets their values; peepholes of one that has them.
inline std::vector<uint32_t> TensorsOf(ModelBuilder& b, DType type, bool bias, ReferenceCell* cell) {
  const auto width = static_cast<uint32_t>(cell->width), gates = static_cast<uint32_t>(cell->gates()) * width;
  const uint32_t weight = b.RandomTensor(gates, width, type, 1.0f / std::sqrt(static_cast<float>(width)));
  std::vector<uint32_t> tensors = {weight};
  cell->weight = b.TensorValues(weight);
  cell->bias.clear();
  if (bias) {
    cell->bias = b.RandomFloats(gates, 0.5f);
    tensors.push_back(b.Tensor(1, gates, cell->bias));
  }
  if (cell->sees_cell) {
    tensors.resize(2, kBlobNone);
    cell->peepholes = b.RandomFloats(3 * cell->width, 0.5f);
    tensors.push_back(b.Tensor(3, width, cell->peepholes));
  }
  return tensors;
}

// The most that products of the cell's gates, from gate `first` on, are off with f16 weights that are split and states
// of at most `most`.
inline double SplitBoundOf(const ReferenceCell& cell, size_t first, float most) {
  const std::vector<float> state(cell.width, most);
  double bound = 0;
  for (size_t row = first * cell.width; row < cell.gates() * cell.width; ++row) {
    bound = std::max(bound, testing::SplitBound(state.data(), &cell.weight[row * cell.width], cell.width));
  }
  return bound;
}

inline std::string NameOf(const ReferenceCell& cell) {
  if (cell.rnn) return cell.relu ? "rnn relu" : "rnn";
  return std::string(cell.lstm          ? "lstm"
                     : cell.reset_after ? "gru"
                                        : "gru that resets first") +
         (cell.sees_cell ? " with peepholes" : "") + (cell.hard ? " hard" : "");
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_OPS_RECURRENT_CELLS_H_
