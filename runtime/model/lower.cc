// Lowering: decodes the records of an operation into a plain struct.
#include "runtime/model/lower.h"

#include "runtime/base/checked.h"
#include "runtime/blob/attributes.h"
#include "runtime/blob/included.h"
#include "runtime/blob/op_names.h"

namespace fovea {
namespace {

Status CheckOperands(const Blob& blob, const ProgramRecord& program, const OperationRecord& operation, const OpDef& def,
                     Reporter& reporter) {
  FOVEA_TRY(CheckCounts(operation, def, reporter));
  const uint64_t operands = uint64_t{operation.input_count} + operation.tensor_count;
  if (!InBounds(operation.first_operand, operands, blob.operands.count)) {
    return reporter.Fail(FOVEA_E_RECORD, "an operation's operands are out of range", blob.operands.count,
                         operation.first_operand + operands);
  }
  for (uint32_t i = 0; i < operation.tensor_count; ++i) {
    const uint32_t tensor = blob.operands[operation.first_operand + operation.input_count + i];
    if (tensor == kBlobNone && RequiresTensor(def, i)) return reporter.Fail(FOVEA_E_RECORD, "a tensor is missing", i);
    if (tensor != kBlobNone && tensor >= blob.tensors.count) {
      return reporter.Fail(FOVEA_E_RECORD, "an operation's tensor does not exist", blob.tensors.count, tensor);
    }
  }
  if (operation.output >= program.value_count) {
    return reporter.Fail(FOVEA_E_RECORD, "an operation's output does not exist", program.value_count, operation.output);
  }
  return kOk;
}

Status CheckAttributeRange(const Blob& blob, const OperationRecord& operation, Reporter& reporter) {
  if (operation.attribute_count <= kMaxAttributes &&
      InBounds(operation.first_attribute, operation.attribute_count, blob.attributes.count)) {
    return kOk;
  }
  return reporter.Fail(FOVEA_E_RECORD, "an operation's attributes are out of range", blob.attributes.count,
                       operation.first_attribute);
}

// The order of values (see ProgramRecord) guarantees that each is computed once and before it is used.
Status CheckOrder(const Blob& blob, const ProgramRecord& program, const OpDef& def, uint32_t inputs, uint32_t i,
                  Reporter& reporter) {
  const OperationRecord& operation = blob.operations[program.first_operation + i];
  if (operation.output != inputs + i) {
    return reporter.Fail(FOVEA_E_RECORD, "an operation's output must be the next value", inputs + i, operation.output);
  }
  for (uint32_t k = 0; k < operation.input_count; ++k) {
    const uint32_t input = blob.operands[operation.first_operand + k];
    if (input == kBlobNone && !RequiresInput(def, k)) continue;
    if (input >= inputs + i) {
      return reporter.Fail(FOVEA_E_RECORD, "an operation reads a value before it is computed", inputs + i, input);
    }
  }
  return kOk;
}

// A tensor that only packed sections hold can be the weight of linear layers, tensor 0, and nothing else.
Status FailAbsent(Reporter& reporter) {
  return reporter.Fail(FOVEA_E_RECORD, "an operation reads the rows of a tensor that is only packed");
}

Status FindAbsent(const OpView& view, Reporter& reporter, bool* absent) {
  for (uint32_t i = 0; i < view.record->tensor_count; ++i) {
    if (view.tensors[i] == kBlobNone || !view.blob->IsAbsent(view.tensors[i])) continue;
    if (i != 0) return FailAbsent(reporter);
    *absent = true;
  }
  return kOk;
}

// Whether the record gives the output the width and the type that the operation makes.
Status CheckOutput(const OpView& view, const OpValue& made, Reporter& reporter) {
  const ValueRecord& value = view.Output();
  if (DType(value.type) != made.type) {
    return reporter.Fail(FOVEA_E_SHAPE, "the output's type is not the type that the operation makes",
                         static_cast<uint32_t>(made.type), value.type);
  }
  if (value.width == made.width) return kOk;
  return reporter.Fail(FOVEA_E_SHAPE, "the output's width is not the width that the operation makes", made.width,
                       value.width);
}

// Reports an operation that is unknown or that this build does not include.
Status FailWithout(uint32_t code, Reporter& reporter) {
  switch (static_cast<OpCode>(code)) {
#define FOVEA_OP(number, name, Name, mixes) \
  case OpCode::k##Name:                     \
    if (IsIncluded(OpCode::k##Name)) break; \
    return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks the operation " #name, 0, code);
#include "runtime/blob/op_list.inc"
#undef FOVEA_OP
  }
  return reporter.Fail(FOVEA_E_OP, "unknown operation", 0, code);
}

}  // namespace

// Exactly one operation chooses the rows of a selected space, before any other operation in this space and in the
// spaces derived from it.
Status Lowerer::CheckSelected(const OpView& op, const OpDef& def, Reporter& reporter) {
  const uint64_t bit = op.OutputSpace().kind == SpaceKind::kSelected ? uint64_t{1} << op.Output().space : 0;
  if (bit != 0 && def.chooses != ((selected_ & bit) == 0)) {
    return reporter.Fail(FOVEA_E_RECORD,
                         "the first operation of a selected space, and no other, must be select or expand", 0,
                         op.Output().space);
  }
  selected_ |= bit;
  if ((selections_[op.Output().space] & ~selected_) != 0) {
    return reporter.Fail(FOVEA_E_RECORD, "the output's space depends on rows that no operation has chosen yet", 0,
                         op.Output().space);
  }
  return kOk;
}

Status Lowerer::Lower(uint32_t i, Arena& arena, OpRoom* room, Reporter& reporter, Op** op) {
  const OperationRecord& record = blob_.operations[program_.first_operation + i];
  const OpDef* def = FindOp(record.code);
  if (def == nullptr) return FailWithout(record.code, reporter);
  if (record.name != kBlobNone && !blob_.HasString(record.name)) {
    return reporter.Fail(FOVEA_E_RECORD, "an operation's name is outside the strings section", blob_.strings.size,
                         record.name);
  }
  FOVEA_TRY(CheckOperands(blob_, program_, record, *def, reporter));
  FOVEA_TRY(CheckAttributeRange(blob_, record, reporter));
  FOVEA_TRY(CheckAttributes(blob_, record, *def, reporter));
  FOVEA_TRY(CheckOrder(blob_, program_, *def, inputs_, i, reporter));
  OpView view = View(i);
  FOVEA_TRY(FindAbsent(view, reporter, &view.shapes_only));
  FOVEA_TRY(CheckSelected(view, *def, reporter));
  FOVEA_TRY(LowerRecord(view, *def, arena, room, reporter, op));
  if (view.shapes_only && (*op)->layer_count == 0) return FailAbsent(reporter);
  return CheckOutput(view, (*op)->output, reporter);
}

}  // namespace fovea
