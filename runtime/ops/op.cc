#include "runtime/ops/op.h"

#include <string.h>

#include "runtime/base/checked.h"
#include "runtime/blob/strides.h"

namespace fovea {

#define FOVEA_OP(number, name, Name) extern const OpDef k##Name##Op;
#include "runtime/blob/op_list.inc"
#undef FOVEA_OP

const OpDef* FindOp(uint32_t code) {
  switch (static_cast<OpCode>(code)) {
#define FOVEA_OP(number, name, Name) \
  case OpCode::k##Name:              \
    return &k##Name##Op;
#include "runtime/blob/op_list.inc"
#undef FOVEA_OP
  }
  return nullptr;
}

Unit UnitOf(const OpView& op) {
  const OpDef& def = *FindOp(op.record->code);
  return def.by_heads != nullptr && def.by_heads(op) ? Unit::kHeads : def.unit;
}

bool ReadsAllRows(const OpView& op, uint32_t i) {
  return ((FindOp(op.record->code)->reads_all_rows >> i) & 1) != 0 || UnitOf(op) == Unit::kHeads;
}

const AttributeRecord* OpView::Find(Attribute key) const {
  for (uint32_t i = 0; i < record->attribute_count; ++i) {
    const AttributeRecord& attribute = blob->attributes[record->first_attribute + i];
    if (attribute.key == static_cast<uint32_t>(key)) return &attribute;
  }
  return nullptr;
}

uint32_t OpView::OutputRowBytes() const {
  const ValueRecord& value = Output();
  // Only casts make int8, and their heads divide the width. No overflow: widths are below 2^25.
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

Status CheckF32(const OpView& op, uint32_t i, Reporter& reporter) {
  return DType(op.Input(i).type) == DType::kF32 ? kOk : reporter.Fail(FOVEA_E_SHAPE, "input must be f32");
}

Status CheckWidth(const OpView& op, uint32_t i, Reporter& reporter) {
  if (op.Input(i).width == op.Output().width) return kOk;
  return reporter.Fail(FOVEA_E_SHAPE, "input and output must have one width", op.Output().width, op.Input(i).width);
}

Status CheckRowLocal(const OpView& op, Reporter& reporter) {
  for (uint32_t i = 0; i < op.record->input_count; ++i) {
    FOVEA_TRY(CheckF32(op, i, reporter));
    if (op.Input(i).space != op.Output().space) {
      return reporter.Fail(FOVEA_E_SHAPE, "input and output must be in one space", op.Output().space,
                           op.Input(i).space);
    }
  }
  return kOk;
}

Status CheckElementwise(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckRowLocal(op, reporter));
  for (uint32_t i = 0; i < op.record->input_count; ++i) FOVEA_TRY(CheckWidth(op, i, reporter));
  return kOk;
}

Status CheckFloats(const OpView& op, uint32_t i, uint32_t rows, uint32_t width, Reporter& reporter, bool halves) {
  if (!op.HasTensor(i)) return kOk;
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

// Rows that segments of a space can have whatever the caller binds. No overflow: few spaces of at most 2^20 rows more.
uint32_t CertainRows(const Blob& blob, const SpaceRecord& space) {
  switch (space.kind) {
    case SpaceKind::kInput:
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

Status CheckPositions(const OpView& op, Reporter& reporter) {
  const uint32_t offset = op.U32(Attribute::kOffset, 0), rows = op.Tensor(0).rows;
  if (offset >= rows) return reporter.Fail(FOVEA_E_SHAPE, "position table ends before its offset", offset, rows);
  const uint32_t certain = CertainRows(*op.blob, op.OutputSpace());
  if (rows - offset < certain) {
    return reporter.Fail(FOVEA_E_SHAPE, "position table is shorter than the space's segments", certain, rows - offset);
  }
  return kOk;
}

Status CheckSelection(const OpView& op, uint32_t i, uint32_t source, Reporter& reporter) {
  const OperationRecord* maker = op.Maker(i);
  if (maker == nullptr || !FindOp(maker->code)->chooses || op.InputSpace(i).source != source) {
    return reporter.Fail(FOVEA_E_SHAPE, "indices must be those that were chosen of the rows' space", source,
                         op.InputSpace(i).source);
  }
  return kOk;
}

uint32_t IdsOf(const OpView& op, uint32_t i) {
  for (OpView view = op; DType(view.Input(i).type) == DType::kI32; i = 0) {
    const OperationRecord* maker = view.Maker(i);
    if (maker == nullptr) return view.InputIndex(i);
    if (OpCode(maker->code) != OpCode::kGather) break;
    view.record = maker;
  }
  return kBlobNone;
}

double OneFlopPerElement(const OpView& op) { return op.Output().width; }

Status CheckLayers(const OpView& op, uint32_t rows, uint32_t width, Reporter& reporter) {
  if (!op.HasTensor(0)) return reporter.Fail(FOVEA_E_RECORD, "there is no weight");
  const TensorRecord& weight = op.Tensor(0);
  if (DType(weight.type) == DType::kI32) return reporter.Fail(FOVEA_E_SHAPE, "weight cannot be i32");
  if (GemmTakesQuantized(DType(weight.type)) && weight.width > kGemmIntegerDepth) {
    return reporter.Fail(FOVEA_E_TOO_COMPLEX, "sums of integer products this long could overflow", kGemmIntegerDepth,
                         weight.width);
  }
  if (weight.width != width) {
    return reporter.Fail(FOVEA_E_SHAPE, "weight's width is not the input's", width, weight.width);
  }
  if (weight.rows != rows) {
    return reporter.Fail(FOVEA_E_SHAPE, "weight's rows are not the output's width", rows, weight.rows);
  }
  return CheckFloats(op, 1, 1, rows, reporter);
}

bool FindLayer(const OpView& op, uint32_t i, GemmWeights* layer) {
  const OpDef& def = *FindOp(op.record->code);
  if (def.layer == nullptr) return false;
  const LayerRows rows = def.layer(op, i);
  if (rows.begin == rows.end) return false;
  const uint32_t tensor = op.TensorIndex(0), width = op.Tensor(0).width;
  const DType type = DType(op.Tensor(0).type);
  const auto at = [](const void* from, uint64_t bytes) { return static_cast<const uint8_t*>(from) + bytes; };
  const void* scales = op.blob->TensorScales(tensor);
  *layer = {{type, rows.end - rows.begin, width},
            at(op.blob->TensorRows(tensor), rows.begin * RowBytes(type, width)),
            scales == nullptr ? nullptr : at(scales, ScaleBytes(type, rows.begin, width)),
            op.HasTensor(1) ? op.Floats(1) + rows.begin : nullptr};
  return true;
}

Status RunLayer(const OpRun& run, uint32_t i, const float* x, uint32_t rows, uint32_t value, const GemmOutput& output) {
  const LinearRun& layer = run.layers[i];
  const GemmShape& shape = layer.weights->shape;
  GemmInput input{rows, x, nullptr, nullptr};
  if (GemmTakesQuantized(shape.type)) {
    QuantizedTile& tile = *run.quantized;
    if (value == kBlobNone || tile.value != value) {
      run.kernels->quantize.quantize_rows(x, rows, shape.k, tile.rows, tile.params);
      tile.value = value;
    }
    input.quantized = tile.rows;
    input.params = tile.params;
  }
  return layer.backend->run(layer.op, *layer.weights, layer.packed, input, output);
}

Status RunLayerTogether(const OpRun& run, uint32_t i, const float* x, uint32_t rows, uint32_t value, float* y) {
  const Team& team = run.team;
  const uint32_t n = run.layers[i].weights->shape.n, step = run.layers[i].backend->column_step;
  const auto units = static_cast<uint32_t>(DivideUp(n, step));
  const uint32_t begin = units * team.worker / team.workers * step,
                 end = units * (team.worker + 1) / team.workers * step;
  const Status status = RunLayer(run, i, x, rows, value, {y, begin < n ? begin : n, end < n ? end : n});
  if (team.workers > 1) team.barrier(team.barrier_context, team.workers);
  return status;
}

}  // namespace fovea
