// The Highway backend: reads weights in place from the blob; supports every type and target.
#include <algorithm>
#include <new>

#include "runtime/gemm/gemm.h"
#include "runtime/kernels/gemm.h"
#include "runtime/kernels/kernels.h"

namespace fovea {
namespace {

// An operator stores the kernel functions for its type of weights.
struct HighwayOperator {
  void (*tile)(const GemmTile&);
  const ActivationKernels* activations;
};

// Bytes of weights in a tile, which stay in L1 or the fast part of L2 while all rows pass over them.
constexpr size_t kTileBytes = 32 * 1024;
constexpr uint32_t kLeastColumns = 16;

bool Supports(const GemmShape& shape) {
  switch (shape.type) {
    case DType::kF32:
    case DType::kF16:
      return true;
    case DType::kI8:
      return shape.k <= kGemmIntegerDepth;
    case DType::kI4:
      return shape.k <= kGemmIntegerDepth && shape.k % kI4Block == 0;
    default:
      return false;
  }
}

uint64_t PackedBytes(const GemmShape&) { return 0; }
Status Pack(const GemmWeights&, void*, Reporter&) { return kOk; }
Status CheckLayout(const GemmWeights&, Reporter&) { return kOk; }
uint64_t PackedLayout() { return 1; }

uint64_t OperatorBytes(const GemmShape&) { return sizeof(HighwayOperator); }

Status MakeOperator(const GemmShape& shape, const Kernels& kernels, void* storage, Reporter& reporter) {
  if (!Supports(shape))
    return reporter.Fail(FOVEA_E_UNSUPPORTED, "no GEMM kernel supports this type or width of weights");
  const GemmKernels& gemm = kernels.gemm;
  auto tile = gemm.f32;
  if (shape.type == DType::kF16) tile = gemm.f16;
  if (shape.type == DType::kI8) tile = gemm.i8;
  if (shape.type == DType::kI4) tile = gemm.i4;
  new (storage) HighwayOperator{tile, &kernels.activation};
  return kOk;
}

Status Run(void* storage, const GemmWeights& weights, const void*, const GemmInput& input, const GemmOutput& output) {
  const HighwayOperator& op = *static_cast<const HighwayOperator*>(storage);
  const GemmShape& shape = weights.shape;
  const size_t n = shape.n, k = shape.k;
  const size_t row_bytes = RowBytes(shape.type, k), scale_bytes = ScaleBytes(shape.type, 1, k);
  const size_t fitting = kTileBytes / std::max<size_t>(row_bytes, 1) / 4 * 4;
  const size_t columns = std::clamp<size_t>(fitting, kLeastColumns, kGemmTileColumns);

  GemmTile tile;
  tile.rows = input.rows;
  tile.k = k;
  tile.x = GemmTakesQuantized(shape.type) ? static_cast<const void*>(input.quantized) : input.x;
  tile.params = input.params;
  tile.y_stride = n;
  for (size_t c = output.begin; c < output.end; c += columns) {
    tile.columns = std::min<size_t>(columns, output.end - c);
    tile.weights = static_cast<const uint8_t*>(weights.rows) + c * row_bytes;
    tile.scales = scale_bytes == 0 ? nullptr : static_cast<const uint8_t*>(weights.scales) + c * scale_bytes;
    tile.bias = weights.bias == nullptr ? nullptr : weights.bias + c;
    tile.y = output.y + c;
    op.tile(tile);
    if (output.activation == Activation::kNone) continue;
    const auto apply = op.activations->apply[static_cast<uint32_t>(output.activation)];
    for (size_t r = 0; r < input.rows; ++r) apply(tile.y + r * n, tile.columns, tile.y + r * n);
  }
  return kOk;
}

bool TakesPairs(const GemmShape&) { return false; }

constexpr GemmBackend kBackend = {"highway",   kLeastColumns, Supports,      TakesPairs,   PackedBytes, Pack,
                                  CheckLayout, PackedLayout,  OperatorBytes, MakeOperator, Run,         nullptr};

}  // namespace

const GemmBackend& HighwayGemm() { return kBackend; }

}  // namespace fovea
