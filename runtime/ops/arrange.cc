// Row i of a piece = rows table[i][0], table[i][1] .. of the same piece beside each other, zeros for -1: patches of
// images, windows and their reverse. A piece is what lies below one row of the nearest space that both sides nest in;
// every space on the way down to them has fixed segments, so that a picture's rows may become rows of its windows.
#include <string.h>

#include "runtime/base/checked.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

// Operations before one that its table is compared with, at most.
constexpr uint32_t kMaxCompared = 4096;

// Rows that a piece has on either side.
struct Piece {
  uint32_t from, to;
};

// Of a space's nesting in `ancestor`: false unless all spaces below it have fixed segments. One step a level.
bool RowsBelow(const Blob& blob, uint32_t space, uint32_t ancestor, uint32_t* rows) {
  uint64_t product = 1;
  while (space != ancestor) {
    if (space == kBlobNone || blob.spaces[space].kind != SpaceKind::kFixed) return false;
    product *= blob.spaces[space].extra;
    if (product > kMaxRecords) return false;
    space = blob.spaces[space].parent;
  }
  *rows = static_cast<uint32_t>(product);
  return true;
}

bool FindPiece(const OpView& op, Piece* piece) {
  const Blob& blob = *op.blob;
  for (uint32_t space = op.Input(0).space; blob.spaces[space].kind == SpaceKind::kFixed;) {
    space = blob.spaces[space].parent;
    if (space != op.Output().space && RowsBelow(blob, op.Output().space, space, &piece->to)) {
      return RowsBelow(blob, op.Input(0).space, space, &piece->from);
    }
  }
  return false;
}

uint64_t TableBytes(const TensorRecord& table) { return table.rows * RowBytes(DType::kI32, table.width); }

// Calls f(view) for the operations of this kind that stand before `op` in the blob, and so are known to be right, the
// nearest first, until it says that it has seen enough.
template <typename F>
Status ForEachEarlier(const OpView& op, F f) {
  const Blob& blob = *op.blob;
  for (uint32_t p = blob.programs.count; p-- > 0;) {
    const ProgramRecord& program = blob.programs[p];
    const OperationRecord* first = &blob.operations[program.first_operation];
    if (first > op.record) continue;
    const OperationRecord* record = first + program.operation_count;
    if (record > op.record) record = op.record;
    while (record-- > first) {
      if (OpCode(record->code) != OpCode::kArrange) continue;
      bool enough = false;
      FOVEA_TRY(f(OpView{&blob, record, blob.values.data + program.first_value}, &enough));
      if (enough) return kOk;
    }
  }
  return kOk;
}

// Every index is -1 or a row that a piece of the input has. However many operations share a table it is read once for
// each size of pieces at most: tables that overlap must be the same bytes. What an earlier operation with this table
// was compared with needs no second look.
Status CheckIndices(const OpView& op, uint32_t rows, Reporter& reporter) {
  const TensorRecord& table = op.Tensor(0);
  bool known = false;
  uint32_t compared = 0;
  FOVEA_TRY(ForEachEarlier(op, [&](const OpView& earlier, bool* enough) -> Status {
    const TensorRecord& other = earlier.Tensor(0);
    if (++compared > kMaxCompared) {
      return reporter.Fail(FOVEA_E_TOO_COMPLEX, "too many tables of indices", kMaxCompared, compared);
    }
    if (other.data == table.data && TableBytes(other) == TableBytes(table)) {
      Piece piece;
      *enough = known = FindPiece(earlier, &piece) && piece.from <= rows;
      return kOk;
    }
    if (other.data >= table.data + TableBytes(table) || table.data >= other.data + TableBytes(other)) return kOk;
    return reporter.Fail(FOVEA_E_RECORD, "tables of indices overlap", table.data, other.data);
  }));
  if (known) return kOk;
  const uint64_t count = uint64_t{table.rows} * table.width;
  const int32_t* indices = op.Indices(0);
  for (uint64_t i = 0; i < count; ++i) {
    if (indices[i] < -1 || indices[i] >= static_cast<int32_t>(rows)) {
      return reporter.Fail(FOVEA_E_SHAPE, "an index is outside the rows of the input", rows,
                           static_cast<uint32_t>(indices[i]), i);
    }
  }
  return kOk;
}

struct ArrangeOp : Op {
  Piece piece{};
  const int32_t* indices = nullptr;  // [piece.to, columns]
  uint32_t columns = 0;
};

Status Lower(const OpView& view, Reporter& reporter, ArrangeOp* op) {
  FOVEA_TRY(CheckF32(view, 0, reporter));
  const uint32_t width = op->inputs[0].width;
  if (!FindPiece(view, &op->piece)) {
    return reporter.Fail(FOVEA_E_SHAPE, "input and output must nest in one space, with fixed segments below it",
                         op->output.space, op->inputs[0].space);
  }
  if (!view.HasTensor(0)) return reporter.Fail(FOVEA_E_RECORD, "arrange has no table");
  reporter.tensor = view.TensorIndex(0);
  const TensorRecord& table = view.Tensor(0);
  if (DType(table.type) != DType::kI32) return reporter.Fail(FOVEA_E_SHAPE, "table must be i32", 4, table.type);
  if (table.rows != op->piece.to) {
    return reporter.Fail(FOVEA_E_SHAPE, "table must have a row for each row of the output", op->piece.to, table.rows);
  }
  if (uint64_t{table.width} * width != op->output.width) {
    return reporter.Fail(FOVEA_E_SHAPE, "output must be as wide as a row of the table has input rows",
                         uint64_t{table.width} * width, op->output.width);
  }
  FOVEA_TRY(CheckIndices(view, op->piece.from, reporter));
  reporter.tensor = FOVEA_NOWHERE;
  op->indices = view.Indices(0);
  op->columns = table.width;
  return kOk;
}

Status Run(const ArrangeOp& op, const OpRun& run) {
  const size_t width = op.inputs[0].width, columns = op.columns;
  const Piece piece = op.piece;
  float* y = run.output;
  for (uint32_t row = run.row_begin; row < run.row_end; ++row) {
    const float* x = run.Input(0) + size_t{row / piece.to} * piece.from * width;
    const int32_t* indices = op.indices + size_t{row % piece.to} * columns;
    for (size_t i = 0; i < columns; ++i, y += width) {
      if (indices[i] < 0) {
        memset(y, 0, width * sizeof(float));
      } else {
        memcpy(y, x + static_cast<uint32_t>(indices[i]) * width, width * sizeof(float));
      }
    }
  }
  return kOk;
}

}  // namespace

extern const OpDef kArrangeOp = DefineOp<Lower, Run>().Inputs(1, 1).Tensors(1, 1).ReadsWhole(0);

}  // namespace fovea
