// y = scale * sum of table[i][ids[i]]. Ids were checked against the tables when the run began.
#include "runtime/ops/op.h"

namespace fovea {
namespace {

Status Check(const OpView& op, Reporter& reporter) {
  if (op.record->tensor_count != op.record->input_count) {
    return reporter.Fail(FOVEA_E_RECORD, "embed needs one table per input", op.record->input_count,
                         op.record->tensor_count);
  }
  for (uint32_t i = 0; i < op.record->input_count; ++i) {
    if (DType(op.Input(i).type) != DType::kI32 || op.Input(i).width != 1) {
      return reporter.Fail(FOVEA_E_SHAPE, "embed reads ids: i32 of width 1");
    }
    if (IdsOf(op, i) == kBlobNone) return reporter.Fail(FOVEA_E_SHAPE, "embed reads ids, which a run checks first");
    if (op.Input(i).space != op.Output().space) {
      return reporter.Fail(FOVEA_E_SHAPE, "input and output must be in one space", op.Output().space,
                           op.Input(i).space);
    }
    if (!op.HasTensor(i)) return reporter.Fail(FOVEA_E_RECORD, "embed has no table");
    if (DType(op.Tensor(i).type) == DType::kI32) return reporter.Fail(FOVEA_E_SHAPE, "table cannot be i32");
    if (op.Tensor(i).width != op.Output().width) {
      return reporter.Fail(FOVEA_E_SHAPE, "table has the wrong width", op.Output().width, op.Tensor(i).width);
    }
  }
  return kOk;
}

Status Run(const OpRun& run) {
  const size_t width = run.view.Output().width;
  const float scale = run.view.F32(Attribute::kScale, 1.0f);
  for (uint32_t i = 0; i < run.view.record->input_count; ++i) {
    const TensorRecord& table = run.view.Tensor(i);
    const DType type = DType(table.type);
    const uint8_t* rows = static_cast<const uint8_t*>(run.view.blob->TensorRows(run.view.TensorIndex(i)));
    const uint8_t* scales = static_cast<const uint8_t*>(run.view.blob->TensorScales(run.view.TensorIndex(i)));
    const size_t row_bytes = RowBytes(type, width), scale_bytes = ScaleBytes(type, 1, width);
    const RowToF32 write = i == 0 ? run.kernels->dequantize.set[table.type] : run.kernels->dequantize.add[table.type];
    const int32_t* ids = static_cast<const int32_t*>(run.inputs[i]);
    for (uint32_t r = 0; r < run.rows(); ++r) {
      const size_t id = static_cast<uint32_t>(ids[r]);
      const void* row_scales = scales == nullptr ? nullptr : scales + id * scale_bytes;
      write(rows + id * row_bytes, row_scales, width, scale, run.output + r * width);
    }
  }
  return kOk;
}

double Flops(const OpView& op) { return double{1} * op.record->input_count * op.Output().width; }

}  // namespace

extern const OpDef kEmbedOp = {1, kMaxInputs, 1,       kMaxTensors, OpAttributes(Attribute::kScale),
                               0, Check,      nullptr, Run,         Flops};

}  // namespace fovea
