// Records of an operation -> its lowered form.
#include "runtime/model/lower.h"

#include "runtime/base/checked.h"
#include "runtime/blob/attributes.h"
#include "runtime/blob/included.h"
#include "runtime/blob/op_names.h"

namespace fovea {
namespace {

Status CheckOperands(const Blob& blob, const ProgramRecord& program, const OperationRecord& operation, const OpDef& def,
                     Reporter& reporter) {
  if (operation.input_count < def.min_inputs || operation.input_count > def.max_inputs) {
    const bool few = operation.input_count < def.min_inputs;
    return reporter.Fail(FOVEA_E_RECORD, few ? "too few inputs" : "too many inputs",
                         few ? def.min_inputs : def.max_inputs, operation.input_count);
  }
  if (operation.tensor_count < def.min_tensors || operation.tensor_count > def.max_tensors) {
    const bool few = operation.tensor_count < def.min_tensors;
    return reporter.Fail(FOVEA_E_RECORD, few ? "too few tensors" : "too many tensors",
                         few ? def.min_tensors : def.max_tensors, operation.tensor_count);
  }
  const uint64_t operands = uint64_t{operation.input_count} + operation.tensor_count;
  if (!InBounds(operation.first_operand, operands, blob.operands.count)) {
    return reporter.Fail(FOVEA_E_RECORD, "operands are out of range", blob.operands.count,
                         operation.first_operand + operands);
  }
  for (uint32_t i = 0; i < operation.tensor_count; ++i) {
    const uint32_t tensor = blob.operands[operation.first_operand + operation.input_count + i];
    if (tensor != kBlobNone && tensor >= blob.tensors.count) {
      return reporter.Fail(FOVEA_E_RECORD, "no such tensor", blob.tensors.count, tensor);
    }
  }
  if (operation.output >= program.value_count) {
    return reporter.Fail(FOVEA_E_RECORD, "no such value", program.value_count, operation.output);
  }
  return kOk;
}

bool Knows(const OpDef& def, Attribute key) {
  for (uint32_t i = 0; i < def.attribute_count; ++i) {
    if (def.attributes[i] == key) return true;
  }
  return false;
}

Status CheckAttributes(const Blob& blob, const OperationRecord& operation, const OpDef& def, Reporter& reporter) {
  if (operation.attribute_count > kMaxAttributes ||
      !InBounds(operation.first_attribute, operation.attribute_count, blob.attributes.count)) {
    return reporter.Fail(FOVEA_E_RECORD, "attributes are out of range", blob.attributes.count,
                         operation.first_attribute);
  }
  for (uint32_t i = 0; i < operation.attribute_count; ++i) {
    const auto [key, bits] = blob.attributes[operation.first_attribute + i];
    if (!Knows(def, Attribute(key))) {
      return reporter.Fail(FOVEA_E_OP, "operation does not know this attribute", def.attribute_count, key);
    }
    const AttributeType type = TypeOf(Attribute(key));
    const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    if (type == AttributeType::kF32 && !finite) {
      return reporter.Fail(FOVEA_E_RECORD, "attribute is not finite", 0, key);
    }
    if (type == AttributeType::kFlag && bits > 1) return reporter.Fail(FOVEA_E_OP, "a flag is 0 or 1", 1, bits);
  }
  return kOk;
}

// The order of values (see ProgramRecord) is what guarantees that each is computed once and before it is used.
Status CheckOrder(const Blob& blob, const ProgramRecord& program, uint32_t inputs, uint32_t i, Reporter& reporter) {
  const OperationRecord& operation = blob.operations[program.first_operation + i];
  if (operation.output != inputs + i) {
    return reporter.Fail(FOVEA_E_RECORD, "an operation's output must be the next value", inputs + i, operation.output);
  }
  for (uint32_t k = 0; k < operation.input_count; ++k) {
    const uint32_t input = blob.operands[operation.first_operand + k];
    if (input >= inputs + i) {
      return reporter.Fail(FOVEA_E_RECORD, "an operation reads a value before it is computed", inputs + i, input);
    }
  }
  return kOk;
}

// What is kept from run to run is written by `append` and read by those who find rows in pages.
Status CheckCached(const OpView& view, const OpDef& def, Reporter& reporter) {
  const auto cached = [](const SpaceRecord& space) { return space.kind == SpaceKind::kCached; };
  if (cached(view.OutputSpace()) != def.appends) {
    return reporter.Fail(FOVEA_E_SHAPE, "cached spaces have what is appended to them, and nothing else", def.appends,
                         view.Output().space);
  }
  for (uint32_t i = 0; i < view.record->input_count; ++i) {
    const bool may = i >= def.cached_begin && i < def.cached_end;
    if (may || !cached(view.InputSpace(i))) continue;
    return reporter.Fail(FOVEA_E_SHAPE, "the operation does not read cached rows", 0, view.Input(i).space);
  }
  return kOk;
}

OpValue InputOf(const OpView& view, const OpDef& def, uint32_t i) {
  const ValueRecord& value = view.Input(i);
  const bool whole = i >= def.whole_begin && i < def.whole_end;
  return {view.InputIndex(i), value.space, value.width, view.InputRowBytes(i), DType(value.type), whole};
}

OpValue OutputOf(const OpView& view) {
  const ValueRecord& value = view.Output();
  return {view.record->output, value.space, value.width, view.OutputRowBytes(), DType(value.type), false};
}

// Its struct with what lies after it for each input, then the inputs.
size_t InputsAt(const OpDef& def, uint32_t inputs) {
  return static_cast<size_t>(RoundUp(def.bytes + size_t{inputs} * def.bytes_per_input, alignof(OpValue)));
}

// Of an operation that this build does not have.
Status FailWithout(uint32_t code, Reporter& reporter) {
  switch (static_cast<OpCode>(code)) {
#define FOVEA_OP(number, name, Name)        \
  case OpCode::k##Name:                     \
    if (IsIncluded(OpCode::k##Name)) break; \
    return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks the operation " #name, 0, code);
#include "runtime/blob/op_list.inc"
#undef FOVEA_OP
  }
  return reporter.Fail(FOVEA_E_OP, "unknown operation", 0, code);
}

}  // namespace

// Exactly one operation chooses the rows of a selected space, and it comes before all others there and in the spaces
// that follow from it.
Status Lowerer::CheckSelected(const OpView& op, const OpDef& def, Reporter& reporter) {
  const uint64_t bit = op.OutputSpace().kind == SpaceKind::kSelected ? uint64_t{1} << op.Output().space : 0;
  if (bit != 0 && def.chooses != ((selected_ & bit) == 0)) {
    return reporter.Fail(FOVEA_E_RECORD, "the first operation of a selected space, and no other, must choose its rows",
                         0, op.Output().space);
  }
  selected_ |= bit;
  if ((selections_[op.Output().space] & ~selected_) != 0) {
    return reporter.Fail(FOVEA_E_RECORD, "the space follows from rows that no operation has chosen yet", 0,
                         op.Output().space);
  }
  return kOk;
}

Status Lowerer::Lower(uint32_t i, Arena& arena, OpRoom* room, Reporter& reporter, Op** op) {
  const OpView view = View(i);
  const OperationRecord& record = *view.record;
  const OpDef* def = FindOp(record.code);
  if (def == nullptr) return FailWithout(record.code, reporter);
  if (record.name != kBlobNone && !blob_.HasString(record.name)) {
    return reporter.Fail(FOVEA_E_RECORD, "operation refers to no string", blob_.strings.size, record.name);
  }
  FOVEA_TRY(CheckOperands(blob_, program_, record, *def, reporter));
  FOVEA_TRY(CheckAttributes(blob_, record, *def, reporter));
  FOVEA_TRY(CheckOrder(blob_, program_, inputs_, i, reporter));
  const DType made = def->keeps_type ? DType(view.Input(0).type) : def->output;
  if (DType(view.Output().type) != made && !def->casts) {
    return reporter.Fail(FOVEA_E_SHAPE, "the operation makes values of another type", static_cast<uint32_t>(made),
                         view.Output().type);
  }
  FOVEA_TRY(CheckSelected(view, *def, reporter));
  FOVEA_TRY(CheckCached(view, *def, reporter));

  const uint32_t inputs = record.input_count;
  const size_t inputs_at = InputsAt(*def, inputs);
  void* memory = arena.TakeBytes(inputs_at + inputs * sizeof(OpValue));
  if (memory == nullptr) memory = room->bytes;
  auto* values = reinterpret_cast<OpValue*>(static_cast<uint8_t*>(memory) + inputs_at);
  for (uint32_t k = 0; k < inputs; ++k) new (values + k) OpValue(InputOf(view, *def, k));
  Op common;
  common.def = def;
  common.inputs = values;
  common.input_count = inputs;
  common.output = OutputOf(view);
  common.unit = def->unit;
  FOVEA_TRY(def->lower(view, common, memory, reporter));
  *op = static_cast<Op*>(memory);
  for (uint32_t k = 0; k < inputs && (*op)->unit == Unit::kHeads; ++k) values[k].whole = true;
  return kOk;
}

}  // namespace fovea
