// Tables that list the input rows of each output row. Row i of a piece of the output is made from rows table[i][0],
// table[i][1], ... of the same piece of the input; an index of -1 means none. A piece is the rows nested below one row
// of the nearest common ancestor of the input's and output's spaces. All spaces on the way down to them have fixed
// segments, so that e.g. the rows of an image can be rearranged as rows of its windows.
#ifndef FOVEA_RUNTIME_OPS_ROW_TABLE_H_
#define FOVEA_RUNTIME_OPS_ROW_TABLE_H_

#include "runtime/ops/op.h"

namespace fovea {

struct RowTable {
  uint32_t from = 0, to = 0;  // rows of a piece of the input, of the output
  uint32_t columns = 0;
  const int32_t* indices = nullptr;  // [to, columns]

  // The first row of the input's piece that an output row is made from.
  size_t PieceOf(uint32_t row) const { return size_t{row / to} * from; }
  const int32_t* IndicesOf(uint32_t row) const { return indices + size_t{row % to} * columns; }
};

// Reads and checks tensor `tensor`, for the first input and the output. A table that several operations share is read
// at most once for each size of pieces.
Status LowerRowTable(const OpView& view, TensorNumber tensor, Reporter& reporter, RowTable* table);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_OPS_ROW_TABLE_H_
