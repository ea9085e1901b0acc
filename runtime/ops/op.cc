#include "runtime/ops/op.h"

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

Status LowerLayer(const OpView& view, uint32_t rows, uint32_t width, Reporter& reporter, Op* op, OpLayer* layer) {
  FOVEA_TRY(CheckLayers(view, rows, width, reporter));
  *layer = {0, rows};
  op->layers = layer;
  op->layer_count = 1;
  return kOk;
}

GemmWeights WeightsOf(const OpView& view, const OpLayer& layer) {
  const uint32_t tensor = view.TensorIndex(0), width = view.Tensor(0).width;
  const DType type = DType(view.Tensor(0).type);
  const auto at = [](const void* from, uint64_t bytes) { return static_cast<const uint8_t*>(from) + bytes; };
  const void* scales = view.blob->TensorScales(tensor);
  return {{type, layer.end - layer.begin, width},
          at(view.blob->TensorRows(tensor), layer.begin * RowBytes(type, width)),
          scales == nullptr ? nullptr : at(scales, ScaleBytes(type, layer.begin, width)),
          view.HasTensor(1) ? view.Floats(1) + layer.begin : nullptr};
}

Status RunLayer(const Op& op, const OpRun& run, uint32_t i, const float* x, uint32_t rows, uint32_t value,
                const GemmOutput& output) {
  const Linear& layer = *op.layers[i].linear;
  const GemmShape& shape = layer.weights.shape;
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
  return layer.backend->run(run.operators[layer.op], layer.weights, layer.packed, input, output);
}

Status RunLayerTogether(const Op& op, const OpRun& run, uint32_t i, const float* x, uint32_t rows, uint32_t value,
                        float* y) {
  const Team& team = run.team;
  const Linear& layer = *op.layers[i].linear;
  const uint32_t n = layer.weights.shape.n, step = layer.backend->column_step;
  const auto units = static_cast<uint32_t>(DivideUp(n, step));
  const uint32_t begin = units * team.worker / team.workers * step,
                 end = units * (team.worker + 1) / team.workers * step;
  const Status status = RunLayer(op, run, i, x, rows, value, {y, begin < n ? begin : n, end < n ? end : n});
  if (team.workers > 1) team.barrier(team.barrier_context, team.workers);
  return status;
}

}  // namespace fovea
