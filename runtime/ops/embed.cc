// y = scale * sum over i of table[i][ids[i]]. Ids are checked against the tables when a run begins.
#include "runtime/blob/attributes.h"
#include "runtime/blob/operands.h"
#include "runtime/kernels/kernels.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

struct Table {
  const uint8_t *rows, *scales;  // scales: null if the type has none
  DType type;
  uint32_t count;  // number of rows
  uint32_t ids;    // the input of the program that holds them
};

struct EmbedOp : Op {
  float scale = 1.0f;
  Table* tables = nullptr;  // [input_count]
};

Status LowerTable(const OpView& view, uint32_t i, Reporter& reporter, EmbedOp* op) {
  const OpValue& ids = op->inputs[i];
  Table& table = op->tables[i];
  if (ids.type != DType::kI32 || ids.width != 1) {
    return reporter.Fail(FOVEA_E_SHAPE, "ids must be i32 of width 1");
  }
  table.ids = IdsOf(view, i);
  if (table.ids == kBlobNone)
    return reporter.Fail(FOVEA_E_SHAPE, "ids must be an input of the program or gathered from one");
  FOVEA_TRY(CheckSpace(view, i, reporter));
  if (!view.Has(TensorNumber(i))) return reporter.Fail(FOVEA_E_RECORD, "a table is missing");
  const TensorRecord& tensor = view.Tensor(i);
  table.type = DType(tensor.type);
  if (table.type == DType::kI32) return reporter.Fail(FOVEA_E_SHAPE, "table cannot be i32");
  FOVEA_TRY(CheckWeights(table.type, reporter));
  if (i == 0) op->output.width = tensor.width;
  if (tensor.width != op->output.width) {
    return reporter.Fail(FOVEA_E_SHAPE, "tables have different widths", op->output.width, tensor.width);
  }
  table.count = tensor.rows;
  table.rows = static_cast<const uint8_t*>(view.blob->TensorRows(view.TensorIndex(i)));
  table.scales = static_cast<const uint8_t*>(view.blob->TensorScales(view.TensorIndex(i)));
  return kOk;
}

Status Lower(const OpView& view, Reporter& reporter, EmbedOp* op) {
  if (view.record->tensor_count != op->input_count) {
    return reporter.Fail(FOVEA_E_RECORD, "embed needs one table per input", op->input_count, view.record->tensor_count);
  }
  op->tables = static_cast<Table*>(op->PerInput(sizeof(EmbedOp)));
  for (uint32_t i = 0; i < op->input_count; ++i) FOVEA_TRY(LowerTable(view, i, reporter, op));
  op->scale = view.F32(Attribute::kScale, op->scale);
  return kOk;
}

Status Run(const EmbedOp& op, const OpRun& run) {
  const size_t width = op.output.width;
  for (uint32_t i = 0; i < op.input_count; ++i) {
    const Table& table = op.tables[i];
    const size_t row_bytes = RowBytes(table.type, width), scale_bytes = ScaleBytes(table.type, 1, width);
    const auto type = static_cast<uint32_t>(table.type);
    const RowToF32 write = i == 0 ? run.kernels->dequantize.set[type] : run.kernels->dequantize.add[type];
    for (uint32_t r = 0; r < run.rows(); ++r) {
      const size_t id = static_cast<uint32_t>(run.Indices(i)[r]);
      const void* row_scales = table.scales == nullptr ? nullptr : table.scales + id * scale_bytes;
      write(table.rows + id * row_bytes, row_scales, width, op.scale, run.output + r * width);
    }
  }
  return kOk;
}

double Flops(const EmbedOp& op) { return double{1} * op.input_count * op.output.width; }

IdLimit Ids(const EmbedOp& op, uint32_t i) { return {op.tables[i].ids, op.tables[i].count}; }

constexpr Attribute kAttributes[] = {Attribute::kScale};

}  // namespace

extern const OpDef kEmbedOp = DefineOp<OpCode::kEmbed, Lower, Run>([](OpDef& def) {
  def.bytes_per_input = sizeof(Table);
  def.attributes = kAttributes;
  def.id_limit = OfOp<Ids>::Call;
  def.flops_per_row = OfOp<Flops>::Call;
});

}  // namespace fovea
