// Tables that say which rows an output row is made of. Row i of a piece of the output is made of rows table[i][0],
// table[i][1] .. of the same piece of the input, of none where an index is -1. A piece is what lies below one row of
// the nearest space that both sides nest in; every space on the way down to them has fixed segments, so that a
// picture's rows may become rows of its windows.
#ifndef FOVEA_RUNTIME_OPS_ROW_TABLE_H_
#define FOVEA_RUNTIME_OPS_ROW_TABLE_H_

#include "runtime/ops/op.h"

namespace fovea {

struct RowTable {
  uint32_t from = 0, to = 0;  // rows that a piece has on either side
  uint32_t columns = 0;
  const int32_t* indices = nullptr;  // [to, columns]

  // The first row of the input's piece that a row of the output is made of.
  size_t PieceOf(uint32_t row) const { return size_t{row / to} * from; }
  const int32_t* IndicesOf(uint32_t row) const { return indices + size_t{row % to} * columns; }
};

// From tensor `tensor`, for the first input and the output. However many operations share a table it is read once for
// each size of pieces at most.
Status LowerRowTable(const OpView& view, TensorNumber tensor, Reporter& reporter, RowTable* table);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_OPS_ROW_TABLE_H_
