#include "runtime/ops/op.h"

#include <string.h>

namespace fovea {

#define FOVEA_OP(number, name, Name) extern const OpDef k##Name##Op;
#include "runtime/ops/op_list.inc"
#undef FOVEA_OP

const OpDef* FindOp(uint32_t code) {
  switch (static_cast<OpCode>(code)) {
#define FOVEA_OP(number, name, Name) \
  case OpCode::k##Name:              \
    return &k##Name##Op;
#include "runtime/ops/op_list.inc"
#undef FOVEA_OP
  }
  return nullptr;
}

const AttributeRecord* OpView::Find(Attribute key) const {
  for (uint32_t i = 0; i < record->attribute_count; ++i) {
    const AttributeRecord& attribute = blob->attributes[record->first_attribute + i];
    if (attribute.key == static_cast<uint32_t>(key)) return &attribute;
  }
  return nullptr;
}

uint32_t OpView::U32(Attribute key, uint32_t otherwise) const {
  const AttributeRecord* found = Find(key);
  return found == nullptr ? otherwise : found->bits;
}

float OpView::F32(Attribute key, float otherwise) const {
  const AttributeRecord* found = Find(key);
  if (found == nullptr) return otherwise;
  float value;
  memcpy(&value, &found->bits, sizeof(value));
  return value;
}

Status CheckRowLocal(const OpView& op, Reporter& reporter) {
  for (uint32_t i = 0; i < op.record->input_count; ++i) {
    if (DType(op.Input(i).type) != DType::kF32) return reporter.Fail(FOVEA_E_SHAPE, "input must be f32");
    if (op.Input(i).space != op.Output().space) {
      return reporter.Fail(FOVEA_E_SHAPE, "input and output must be in one space", op.Output().space,
                           op.Input(i).space);
    }
  }
  return kOk;
}

Status CheckElementwise(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckRowLocal(op, reporter));
  for (uint32_t i = 0; i < op.record->input_count; ++i) {
    if (op.Input(i).width != op.Output().width) {
      return reporter.Fail(FOVEA_E_SHAPE, "input and output must have one width", op.Output().width, op.Input(i).width);
    }
  }
  return kOk;
}

Status CheckFloats(const OpView& op, uint32_t i, uint32_t rows, uint32_t width, Reporter& reporter) {
  if (!op.HasTensor(i)) return kOk;
  reporter.tensor = op.TensorIndex(i);
  const TensorRecord& tensor = op.Tensor(i);
  if (DType(tensor.type) != DType::kF32) return reporter.Fail(FOVEA_E_SHAPE, "tensor must be f32", 0, tensor.type);
  if (tensor.width != width) return reporter.Fail(FOVEA_E_SHAPE, "tensor has the wrong width", width, tensor.width);
  if (rows != 0 && tensor.rows != rows) {
    return reporter.Fail(FOVEA_E_SHAPE, "tensor has the wrong number of rows", rows, tensor.rows);
  }
  reporter.tensor = FOVEA_NOWHERE;
  return kOk;
}

Status CheckActivation(const OpView& op, Reporter& reporter) {
  const uint32_t activation = op.U32(Attribute::kActivation, 0);
  if (activation >= kActivationCount) {
    return reporter.Fail(FOVEA_E_OP, "unknown activation", kActivationCount - 1, activation);
  }
  return kOk;
}

Status CheckPositions(const OpView& op, Reporter& reporter) {
  const uint32_t offset = op.U32(Attribute::kOffset, 0), rows = op.Tensor(0).rows;
  if (offset >= rows) return reporter.Fail(FOVEA_E_SHAPE, "position table ends before its offset", offset, rows);
  uint32_t least = 0;  // no overflow: few spaces of at most 2^20 rows more
  const SpaceRecord* space = &op.blob->spaces[op.Output().space];
  for (; space->kind == SpaceKind::kExtended; space = &op.blob->spaces[space->source]) least += space->extra;
  if (rows - offset < least) {
    return reporter.Fail(FOVEA_E_SHAPE, "position table is shorter than the shortest segment", least, rows - offset);
  }
  return kOk;
}

double OneFlopPerElement(const OpView& op) { return op.Output().width; }

}  // namespace fovea
