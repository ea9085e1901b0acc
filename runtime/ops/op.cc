#include "runtime/ops/op.h"

#include "runtime/blob/included.h"
#include "runtime/blob/op_names.h"
#include "runtime/blob/operands.h"
#include "runtime/kernels/kernels.h"

namespace fovea {

#define FOVEA_OP(number, name, Name, mixes) extern const OpDef k##Name##Op;
#include "runtime/blob/op_list.inc"
#undef FOVEA_OP

const OpDef* FindOp(uint32_t code) {
  switch (static_cast<OpCode>(code)) {
#define FOVEA_OP(number, name, Name, mixes) \
  case OpCode::k##Name:                     \
    return IsIncluded(OpCode::k##Name) ? &k##Name##Op : nullptr;
#include "runtime/blob/op_list.inc"
#undef FOVEA_OP
  }
  return nullptr;
}

Status MakeWidth(uint64_t width, Reporter& reporter, Op* op) {
  if (width == 0 || width > kMaxWidth) {
    return reporter.Fail(FOVEA_E_SHAPE, "the result's width is out of range", kMaxWidth, width);
  }
  op->output.width = static_cast<uint32_t>(width);
  return kOk;
}

Status LowerElementwise(const OpView& view, Reporter& reporter, Op* op) {
  op->output.width = view.Input(0).width;
  return CheckElementwise(view, reporter);
}

Status LowerLayer(const OpView& view, uint32_t rows, uint32_t width, Reporter& reporter, Op* op, OpLayer* layer) {
  FOVEA_TRY(CheckLayers(view, rows, width, reporter));
  *layer = {0, rows};
  op->layers = layer;
  op->layer_count = 1;
  return kOk;
}

namespace {

// These weights from row `begin` on.
GemmWeights After(const GemmWeights& weights, uint64_t begin) {
  const GemmShape& shape = weights.shape;
  const auto at = [](const void* from, uint64_t bytes) {
    return from == nullptr ? nullptr : static_cast<const uint8_t*>(from) + bytes;
  };
  return {shape, at(weights.rows, begin * RowBytes(shape.type, shape.k)),
          at(weights.scales, ScaleBytes(shape.type, begin, shape.k)),
          weights.bias == nullptr ? nullptr : weights.bias + begin};
}

}  // namespace

GemmWeights WeightsOf(const OpView& view, const OpLayer& layer) {
  const uint32_t tensor = view.TensorIndex(0);
  const GemmShape shape = {DType(view.Tensor(0).type), (layer.end - layer.begin) / layer.count, view.Tensor(0).width};
  const float* bias = view.Has(TensorNumber(1)) ? view.Floats(1) : nullptr;
  return After({shape, view.blob->TensorRows(tensor), view.blob->TensorScales(tensor), bias}, layer.begin);
}

GemmWeights Linear::WeightsAt(uint32_t i) const { return After(weights, uint64_t{i} * weights.shape.n); }

const void* Linear::PackedAt(uint32_t i) const {
  if (packed == nullptr) return nullptr;
  return static_cast<const uint8_t*>(packed) + RoundUp(backend->packed_bytes(weights.shape), kAlignment) * i;
}

float* TakeRows(Arena& arena, uint64_t rows, uint64_t width) {
  const CheckedSize bytes = CheckedSize(rows) * CheckedSize(width) * CheckedSize(sizeof(float));
  return static_cast<float*>(arena.TakeBytes(bytes + CheckedSize(kGemmSlack)));
}

GemmInput LayerInput(const OpRun& run, const Linear& layer, const float* x, uint32_t rows, uint32_t value) {
  const GemmShape& shape = layer.weights.shape;
  if (!GemmTakesQuantized(shape.type)) return {rows, x, nullptr, nullptr};
  QuantizedTile& tile = *run.quantized;
  if (value == kBlobNone || tile.value != value || tile.pairs != layer.pairs) {
    const QuantizeKernels& kernels = run.kernels->quantize;
    (layer.pairs ? kernels.quantize_pairs : kernels.quantize_rows)(x, rows, shape.k, tile.rows, tile.params);
    tile.value = value;
    tile.pairs = layer.pairs;
  }
  return {rows, x, tile.rows, tile.params};
}

Status RunLayer(const Op& op, const OpRun& run, uint32_t i, const float* x, uint32_t rows, uint32_t value,
                const GemmOutput& output) {
  const Linear& layer = *op.layers[i].linear;
  const GemmInput input = LayerInput(run, layer, x, rows, value);
  const Status status = layer.backend->run(run.operators[layer.op], layer.weights, layer.packed, input, output);
  return status.ok() ? kOk : FailLayer(run, *layer.backend, status);
}

Status FailLayer(const OpRun& run, const GemmBackend& backend, Status status) {
  return run.Fail(status.code, backend.run_fault);
}

Status RunLayerCooperatively(const Op& op, const OpRun& run, uint32_t i, const float* x, uint32_t rows, uint32_t value,
                             float* y) {
  const Team& team = run.team;
  const Linear& layer = *op.layers[i].linear;
  const uint32_t n = layer.weights.shape.n, step = layer.backend->column_step;
  const auto units = static_cast<uint32_t>(DivideUp(n, step));
  const uint32_t begin = units * team.worker / team.workers * step,
                 end = units * (team.worker + 1) / team.workers * step;
  const Status status = RunLayer(op, run, i, x, rows, value, {y, begin < n ? begin : n, end < n ? end : n});
  if (team.workers > 1 && !team.barrier->Wait(team.arrivals)) {
    return run.Fail(FOVEA_E_RUNNER, kBarrierFault, team.workers);
  }
  return status;
}

}  // namespace fovea
