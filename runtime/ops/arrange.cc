// Row i of a piece = rows table[i][0], table[i][1] .. of the same piece beside each other, zeros for -1: patches of
// images, windows and their reverse. A piece is what lies below one row of the nearest space that both sides nest in;
// every space on the way down to them has fixed segments, so that a picture's rows may become rows of its windows.
#include <string.h>

#include "runtime/base/checked.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

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

// Calls f(view) for the operations of this kind that stand before `op` in the blob and so are known to be right.
template <typename F>
Status ForEachEarlier(const OpView& op, F f) {
  const Blob& blob = *op.blob;
  for (uint32_t p = 0; p < blob.programs.count; ++p) {
    const ProgramRecord& program = blob.programs[p];
    for (uint32_t i = 0; i < program.operation_count; ++i) {
      const OperationRecord* record = &blob.operations[program.first_operation + i];
      if (record == op.record) return kOk;
      if (OpCode(record->code) == OpCode::kArrange) {
        FOVEA_TRY(f(OpView{&blob, record, blob.values.data + program.first_value}));
      }
    }
  }
  return kOk;
}

// Every index is -1 or a row that a piece of the input has. However many operations share a table it is read once for
// each size of pieces at most: tables that overlap must be the same bytes.
Status CheckIndices(const OpView& op, uint32_t rows, Reporter& reporter) {
  const TensorRecord& table = op.Tensor(0);
  bool known = false;
  FOVEA_TRY(ForEachEarlier(op, [&](const OpView& earlier) -> Status {
    const TensorRecord& other = earlier.Tensor(0);
    if (other.data == table.data && TableBytes(other) == TableBytes(table)) {
      Piece piece;
      known = known || (FindPiece(earlier, &piece) && piece.from <= rows);
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

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckF32(op, 0, reporter));
  Piece piece;
  if (!FindPiece(op, &piece)) {
    return reporter.Fail(FOVEA_E_SHAPE, "input and output must nest in one space, with fixed segments below it",
                         op.Output().space, op.Input(0).space);
  }
  if (!op.HasTensor(0)) return reporter.Fail(FOVEA_E_RECORD, "arrange has no table");
  reporter.tensor = op.TensorIndex(0);
  const TensorRecord& table = op.Tensor(0);
  if (DType(table.type) != DType::kI32) return reporter.Fail(FOVEA_E_SHAPE, "table must be i32", 4, table.type);
  if (table.rows != piece.to) {
    return reporter.Fail(FOVEA_E_SHAPE, "table must have a row for each row of the output", piece.to, table.rows);
  }
  if (uint64_t{table.width} * op.Input(0).width != op.Output().width) {
    return reporter.Fail(FOVEA_E_SHAPE, "output must be as wide as a row of the table has input rows",
                         uint64_t{table.width} * op.Input(0).width, op.Output().width);
  }
  FOVEA_TRY(CheckIndices(op, piece.from, reporter));
  reporter.tensor = FOVEA_NOWHERE;
  return kOk;
}

Status Run(const OpRun& run) {
  const OpView& op = run.view;
  const size_t width = op.Input(0).width, columns = op.Tensor(0).width;
  Piece piece;
  if (!FindPiece(op, &piece)) return kOk;  // the check would have refused it
  float* y = run.output;
  for (uint32_t row = run.row_begin; row < run.row_end; ++row) {
    const float* x = run.Input(0) + size_t{row / piece.to} * piece.from * width;
    const int32_t* indices = op.Indices(0) + size_t{row % piece.to} * columns;
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

extern const OpDef kArrangeOp = {1, 1, 1, 1, OpAttributes(), 1u << 0, Check, nullptr, Run, OneFlopPerElement};

}  // namespace fovea
