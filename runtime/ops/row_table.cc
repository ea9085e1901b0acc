// Checks and lowers tables that list the input rows of each output row.
#include "runtime/ops/row_table.h"

#include "runtime/base/checked.h"
#include "runtime/blob/op_codes.h"
#include "runtime/blob/operands.h"

namespace fovea {
namespace {

// Limit on the earlier operations that an operation's table is compared with.
constexpr uint32_t kMaxCompared = 4096;

// Rows of `space` below one row of `ancestor`; false unless all spaces in between have fixed segments. O(depth).
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

bool FindPiece(const OpView& op, RowTable* piece) {
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

// The number of an operation's tensor that is such a table, if it has one.
uint32_t TableTensor(uint32_t code) {
  return OpCode(code) == OpCode::kArrange ? 0 : OpCode(code) == OpCode::kConvolve ? 2 : kBlobNone;
}

// Calls f(view, its table) for the operations with a table that precede `op` in the blob, and so have been checked,
// nearest first, until f asks to stop.
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
      const OpView earlier{&blob, record, blob.values.data + program.first_value};
      const uint32_t tensor = TableTensor(record->code);
      if (tensor == kBlobNone || !earlier.Has(TensorNumber(tensor))) continue;
      bool enough = false;
      FOVEA_TRY(f(earlier, earlier.Tensor(tensor), &enough));
      if (enough) return kOk;
    }
  }
  return kOk;
}

// Checks that every index is -1 or a row of a piece of the input. Tables that overlap must be the same bytes. Tables
// that an earlier operation with this table was compared with are not compared again.
Status CheckIndices(const OpView& op, TensorNumber tensor, uint32_t rows, Reporter& reporter) {
  if (op.shapes_only) return kOk;
  const TensorRecord& table = op.Tensor(tensor);
  bool known = false;
  uint32_t compared = 0;
  FOVEA_TRY(ForEachEarlier(op, [&](const OpView& earlier, const TensorRecord& other, bool* enough) -> Status {
    if (++compared > kMaxCompared) {
      return reporter.Fail(FOVEA_E_TOO_COMPLEX, "too many tables of indices", kMaxCompared, compared);
    }
    if (other.data == table.data && TableBytes(other) == TableBytes(table)) {
      RowTable piece;
      *enough = known = FindPiece(earlier, &piece) && piece.from <= rows;
      return kOk;
    }
    if (other.data >= table.data + TableBytes(table) || table.data >= other.data + TableBytes(other)) return kOk;
    return reporter.Fail(FOVEA_E_RECORD, "tables of indices overlap", table.data, other.data);
  }));
  if (known) return kOk;
  const uint64_t count = uint64_t{table.rows} * table.width;
  const int32_t* indices = op.Indices(tensor);
  for (uint64_t i = 0; i < count; ++i) {
    if (indices[i] < -1 || indices[i] >= static_cast<int32_t>(rows)) {
      return reporter.Fail(FOVEA_E_SHAPE, "an index is outside the rows of the input", rows,
                           static_cast<uint32_t>(indices[i]), i);
    }
  }
  return kOk;
}

}  // namespace

Status LowerRowTable(const OpView& view, TensorNumber tensor, Reporter& reporter, RowTable* table) {
  if (!FindPiece(view, table)) {
    return reporter.FailSpace("input and output must share a parent space, with fixed segments below it",
                              view.Output().space, view.Input(0).space);
  }
  reporter.tensor = view.TensorIndex(tensor);
  const TensorRecord& record = view.Tensor(tensor);
  if (DType(record.type) != DType::kI32) return reporter.Fail(FOVEA_E_SHAPE, "table must be i32", 4, record.type);
  if (record.rows != table->to) {
    return reporter.FailSpace("table must have a row for each row of the output", table->to, record.rows);
  }
  FOVEA_TRY(CheckIndices(view, tensor, table->from, reporter));
  reporter.tensor = FOVEA_NOWHERE;
  table->indices = view.Indices(tensor);
  table->columns = record.width;
  return kOk;
}

}  // namespace fovea
