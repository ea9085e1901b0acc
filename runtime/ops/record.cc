// Checks and lowering that the records of all operations share.
#include "runtime/ops/record.h"

#include "runtime/base/checked.h"
#include "runtime/blob/attributes.h"

namespace fovea {
namespace {

bool Knows(const OpDef& def, Attribute key) {
  for (uint32_t i = 0; i < def.attributes.count; ++i) {
    if (def.attributes.keys[i] == key) return true;
  }
  return false;
}

// Rows kept from run to run (the KV cache) are written by `append` and read only by operations that handle pages.
Status CheckCached(const OpView& view, const OpDef& def, Reporter& reporter) {
  const auto cached = [](const SpaceRecord& space) { return space.kind == SpaceKind::kCached; };
  if (cached(view.OutputSpace()) != def.appends) {
    return reporter.FailSpace("only append writes to a cached space", def.appends, view.Output().space);
  }
  for (uint32_t i = 0; i < view.input_count; ++i) {
    if (!view.Has(InputNumber(i)) || def.cached.Has(i) || !cached(view.InputSpace(i))) continue;
    return reporter.Fail(FOVEA_E_SHAPE, "the operation cannot read cached rows", 0, view.Input(i).space);
  }
  return kOk;
}

OpValue InputOf(const OpView& view, const OpDef& def, uint32_t i) {
  const ValueRecord& value = view.Input(i);
  return {view.InputIndex(i), value.space, value.width, view.InputRowBytes(i), DType(value.type), def.whole.Has(i)};
}

OpValue OutputOf(const OpView& view, DType type) {
  const ValueRecord& value = view.Output();
  return {view.record->output, value.space, 0, view.OutputRowBytes(), type, false};
}

// Offset of the inputs in an operation's memory: after its struct and its extra bytes per input.
size_t InputsAt(const OpDef& def, uint32_t inputs) {
  return static_cast<size_t>(RoundUp(def.bytes + size_t{inputs} * def.bytes_per_input, alignof(OpValue)));
}

}  // namespace

Status CheckCounts(const OperationRecord& operation, const OpDef& def, Reporter& reporter) {
  const OperandCounts& may = def.operands;
  if (operation.input_count < may.min_inputs || operation.input_count > may.max_inputs) {
    const bool few = operation.input_count < may.min_inputs;
    return reporter.Fail(FOVEA_E_RECORD, few ? "too few inputs" : "too many inputs",
                         few ? may.min_inputs : may.max_inputs, operation.input_count);
  }
  if (operation.tensor_count < may.min_tensors || operation.tensor_count > may.max_tensors) {
    const bool few = operation.tensor_count < may.min_tensors;
    return reporter.Fail(FOVEA_E_RECORD, few ? "too few tensors" : "too many tensors",
                         few ? may.min_tensors : may.max_tensors, operation.tensor_count);
  }
  return kOk;
}

Status CheckAttributes(const Blob& blob, const OperationRecord& operation, const OpDef& def, Reporter& reporter) {
  for (uint32_t i = 0; i < operation.attribute_count; ++i) {
    const auto [key, bits] = blob.attributes[operation.first_attribute + i];
    if (!Knows(def, Attribute(key))) {
      return reporter.Fail(FOVEA_E_OP, "the operation does not have this attribute", def.attributes.count, key);
    }
    const AttributeType type = TypeOf(Attribute(key));
    const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    if (type == AttributeType::kF32 && !finite) {
      return reporter.Fail(FOVEA_E_RECORD, "an attribute is not a finite number", 0, key);
    }
    if (type == AttributeType::kFlag && bits > 1) return reporter.Fail(FOVEA_E_OP, "a flag must be 0 or 1", 1, bits);
  }
  return kOk;
}

Status LowerRecord(const OpView& written, const OpDef& def, Arena& arena, OpRoom* room, Reporter& reporter, Op** op) {
  OpView view = written;
  uint32_t numbered[kMaxFormerInputs], former = 0;
  if (def.former_inputs != nullptr) FOVEA_TRY(def.former_inputs(written, reporter, numbered, &former));
  if (former != 0) view.inputs = numbered, view.input_count = former;
  FOVEA_TRY(CheckCached(view, def, reporter));
  uint32_t inputs = 0;
  for (uint32_t k = 0; k < view.input_count; ++k) inputs += view.inputs[k] != kBlobNone ? 1 : 0;
  if (inputs > kMaxInputs) return reporter.Fail(FOVEA_E_RECORD, "too many inputs", kMaxInputs, inputs);
  const size_t inputs_at = InputsAt(def, inputs);
  void* memory = arena.TakeBytes(inputs_at + inputs * sizeof(OpValue));
  if (memory == nullptr) memory = room->bytes;
  auto* values = reinterpret_cast<OpValue*>(static_cast<uint8_t*>(memory) + inputs_at);
  for (uint32_t k = 0, place = 0; k < view.input_count; ++k) {
    if (view.inputs[k] != kBlobNone) new (values + place++) OpValue(InputOf(view, def, k));
  }
  Op common;
  common.def = &def;
  common.inputs = values;
  common.input_count = inputs;
  common.output = OutputOf(view, def.keeps_type ? DType(view.Input(0).type) : def.output);
  common.unit = def.unit;
  FOVEA_TRY(def.lower(view, common, memory, reporter));
  *op = static_cast<Op*>(memory);
  for (uint32_t k = 0; k < inputs && (*op)->unit == Unit::kHeads; ++k) values[k].whole = true;
  return kOk;
}

}  // namespace fovea
