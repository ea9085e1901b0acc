#include "runtime/ops/view.h"

#include <string.h>

#include "runtime/base/checked.h"
#include "runtime/blob/attributes.h"
#include "runtime/blob/op_codes.h"
#include "runtime/blob/operands.h"
#include "runtime/blob/strides.h"
#include "runtime/gemm/gemm.h"
#include "runtime/kernels/gemm.h"
#include "runtime/ops/op.h"

namespace fovea {

const AttributeRecord* OpView::Find(Attribute key) const {
  for (uint32_t i = 0; i < record->attribute_count; ++i) {
    const AttributeRecord& attribute = blob->attributes[record->first_attribute + i];
    if (attribute.key == static_cast<uint32_t>(key)) return &attribute;
  }
  return nullptr;
}

uint32_t OpView::PlaceOf(InputNumber i) const {
  if (!Has(i)) return kBlobNone;
  uint32_t place = 0;
  for (uint32_t k = 0; k < i.number; ++k) place += inputs[k] != kBlobNone ? 1 : 0;
  return place;
}

uint32_t OpView::InputParts(InputNumber i) const {
  return Maker(i) == nullptr ? Input(i).detail : OpView{blob, Maker(i), values}.U32(Attribute::kHeads, 1);
}

uint32_t OpView::OutputRowBytes() const {
  const ValueRecord& value = Output();
  // Only `cast` and `append` produce int8, and their heads divide the width. No overflow: widths are below 2^25.
  const uint32_t heads = DType(value.type) == DType::kI8 ? U32(Attribute::kHeads, 1) : 0;
  return static_cast<uint32_t>(ValueRowBytes(DType(value.type), value.width, heads));
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

Status CheckF32(const OpView& op, InputNumber i, Reporter& reporter) {
  return DType(op.Input(i).type) == DType::kF32 ? kOk : reporter.Fail(FOVEA_E_SHAPE, "input must be f32");
}

Status CheckWidth(const OpView& op, InputNumber i, Reporter& reporter) {
  if (op.Input(i).width == op.Input(0).width) return kOk;
  return reporter.Fail(FOVEA_E_SHAPE, "inputs have different widths", op.Input(0).width, op.Input(i).width);
}

Status CheckSpace(const OpView& op, InputNumber i, Reporter& reporter) {
  if (op.Input(i).space == op.Output().space) return kOk;
  if (i.number == 0) {
    return reporter.FailSpace("input and output must be in one space", op.Input(i).space, op.Output().space);
  }
  return reporter.Fail(FOVEA_E_SHAPE, "inputs must be in one space", op.Output().space, op.Input(i).space);
}

Status CheckRowLocal(const OpView& op, Reporter& reporter) {
  for (uint32_t i = 0; i < op.input_count; ++i) {
    if (!op.Has(InputNumber(i))) continue;
    FOVEA_TRY(CheckF32(op, i, reporter));
    FOVEA_TRY(CheckSpace(op, i, reporter));
  }
  return kOk;
}

Status CheckElementwise(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckRowLocal(op, reporter));
  for (uint32_t i = 1; i < op.input_count; ++i) FOVEA_TRY(CheckWidth(op, i, reporter));
  return kOk;
}

Status ReadHeads(const OpView& op, Reporter& reporter, uint32_t* heads) {
  *heads = op.U32(Attribute::kHeads, 1);
  if (*heads != 0 && op.Input(0).width % *heads == 0) return kOk;
  return reporter.Fail(FOVEA_E_SHAPE, "heads do not divide the width", op.Input(0).width, *heads);
}

Status CheckWeights(DType type, Reporter& reporter) {
  if (!LacksWeights(type)) return kOk;
  return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks weights of this type", 0,
                       static_cast<uint32_t>(type));
}

Status CheckFloats(const OpView& op, TensorNumber i, uint32_t rows, uint32_t width, Reporter& reporter, bool halves) {
  if (!op.Has(i)) return kOk;
  reporter.tensor = op.TensorIndex(i);
  const TensorRecord& tensor = op.Tensor(i);
  const DType type = DType(tensor.type);
  if (type != DType::kF32 && !(halves && type == DType::kF16)) {
    return reporter.Fail(FOVEA_E_SHAPE, halves ? "tensor must be f32 or f16" : "tensor must be f32", 0, tensor.type);
  }
  if (tensor.width != width) return reporter.Fail(FOVEA_E_SHAPE, "tensor has the wrong width", width, tensor.width);
  if (rows != 0 && tensor.rows != rows) {
    return reporter.Fail(FOVEA_E_SHAPE, "tensor has the wrong number of rows", rows, tensor.rows);
  }
  reporter.tensor = FOVEA_NOWHERE;
  return kOk;
}

// Rows that every segment can have regardless of the caller. No overflow: few spaces add at most 2^20 rows each.
uint32_t CertainRows(const Blob& blob, const SpaceRecord& space) {
  switch (space.kind) {
    case SpaceKind::kInput:
    case SpaceKind::kCached:
      break;
    case SpaceKind::kFixed:
      return space.extra;
    case SpaceKind::kSelected:
      return space.extra != 0 ? space.extra : CertainRows(blob, blob.spaces[space.source]);
    case SpaceKind::kExtended:
      return CertainRows(blob, blob.spaces[space.source]) + space.extra;
    case SpaceKind::kStrided:
      return static_cast<uint32_t>(Strides(space).Rows(CertainRows(blob, blob.spaces[space.source])));
  }
  return 0;
}

Status CheckPositions(const OpView& op, Reporter& reporter, uint32_t* count) {
  const uint32_t offset = op.U32(Attribute::kOffset, 0), rows = op.Tensor(0).rows;
  if (offset >= rows)
    return reporter.Fail(FOVEA_E_SHAPE, "offset is beyond the end of the position table", offset, rows);
  const uint32_t certain = CertainRows(*op.blob, op.OutputSpace());
  if (rows - offset < certain) {
    return reporter.Fail(FOVEA_E_SHAPE, "position table is shorter than the segments", certain, rows - offset);
  }
  *count = rows - offset;
  return kOk;
}

Status CheckSelection(const OpView& op, InputNumber i, uint32_t source, Reporter& reporter) {
  const OperationRecord* maker = op.Maker(i);
  if (maker == nullptr || !FindOp(maker->code)->chooses || op.InputSpace(i).source != source) {
    return reporter.Fail(FOVEA_E_SHAPE, "indices must come from select or expand over the rows' space", source,
                         op.InputSpace(i).source);
  }
  return kOk;
}

uint32_t IdsOf(const OpView& op, InputNumber i) {
  for (OpView view = op; DType(view.Input(i).type) == DType::kI32; i = InputNumber(0)) {
    const OperationRecord* maker = view.Maker(i);
    if (maker == nullptr) return view.InputIndex(i);
    if (OpCode(maker->code) != OpCode::kGather) break;
    view = {op.blob, maker, op.values};
  }
  return kBlobNone;
}

Status CheckLayers(const OpView& op, uint32_t rows, uint32_t width, Reporter& reporter) {
  const TensorRecord& weight = op.Tensor(0);
  if (DType(weight.type) == DType::kI32) return reporter.Fail(FOVEA_E_SHAPE, "weight cannot be i32");
  FOVEA_TRY(CheckWeights(DType(weight.type), reporter));
  if (GemmTakesQuantized(DType(weight.type)) && weight.width > kGemmIntegerDepth) {
    return reporter.Fail(FOVEA_E_TOO_COMPLEX, "weight is too wide: integer sums could overflow", kGemmIntegerDepth,
                         weight.width);
  }
  if (weight.width != width) {
    return reporter.Fail(FOVEA_E_SHAPE, "weight's width must be the input's width", width, weight.width);
  }
  if (weight.rows != rows) {
    return reporter.Fail(FOVEA_E_SHAPE, "weight's rows must be the output's width", rows, weight.rows);
  }
  return CheckFloats(op, 1, 1, rows, reporter);
}

}  // namespace fovea
