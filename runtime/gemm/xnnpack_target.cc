// Packs for other machines with XNNPACK's plain packing functions, which take the parameters of any microkernel, except
// most int8 weights, which a function of this file copies faster.
#include "runtime/gemm/xnnpack_target.h"

#include <string.h>
#include <xnnpack/microparams-init.h>
#include <xnnpack/pack.h>

#include "runtime/base/checked.h"
#include "runtime/kernels/gemm_split.h"

namespace fovea {
namespace {

// The microkernels that XNNPACK's src/configs/gemm-config.c chooses on these machines, given xnnpack_cpuinfo.cc. Those
// of f16, and of int8 and int4 for aarch64-neon, are ours (runtime/kernels/gemm_arm*).
constexpr GemmTarget kTargets[] = {
    {"arm-neon", {8, 1, 1}, {2, 1, 1}, {8, 2, 4}, {16, 1, 1}},
    {"aarch64-neon", {8, 1, 1}, {2, 1, 1}, {4, 16, 1}, {4, 16, 1}},
    {"aarch64-dotprod", {8, 1, 1}, {2, 1, 1}, {16, 4, 1}, {16, 4, 1}, {16, 4, 1}},
    {"aarch64-i8mm", {8, 1, 1}, {2, 1, 1}, {16, 8, 1}, {16, 8, 1}, {16, 8, 1}},
    {"x86-avx2", {16, 1, 1}, {2, 4, 1}, {8, 8, 1}, {8, 8, 1}},
    {"x86-avx512", {32, 1, 1}, {2, 4, 1}, {16, 8, 1}, {8, 8, 1}},
    {"x86-vnni", {32, 1, 1}, {2, 4, 1}, {16, 8, 1}, {16, 8, 1}},
    {"x86-amx", {32, 1, 1}, {2, 4, 1}, {64, 4, 1}, {16, 8, 1}},
    {"wasm", {8, 1, 1}, {2, 4, 1}, {4, 2, 4}, {}},
};

// Zero points of rows are known only at run time: sums of weights are packed for a zero point of 1.
constexpr int8_t kZeroPoint = 1;
constexpr uint8_t kI4ZeroPoint = 8;

struct Layout {
  XnnpackBlock block;
  size_t n, k;
  size_t stride;  // bytes per column

  size_t BlockStride() const { return block.columns * stride; }
  // Bytes of whole blocks of columns.
  size_t Bytes() const { return static_cast<size_t>(DivideUp(n, block.columns)) * BlockStride(); }
  size_t Depth() const { return static_cast<size_t>(RoundUp(k, uint32_t{block.depth} * block.turns)); }
  void* Row(void* packed, size_t bytes_of_column) const {
    return static_cast<uint8_t*>(packed) + block.columns * bytes_of_column;
  }
};

// Writes one f32 per column, after the given number of bytes per column of a block.
void PackFloats(const Layout& layout, size_t after, const float* values, void* packed) {
  if (values == nullptr) return;
  xnn_init_qs8_qc8w_scale_fp32_params(layout.n, layout.block.columns, layout.block.columns, layout.BlockStride(),
                                      layout.BlockStride(), 0, values, layout.Row(packed, after));
}

// Layout of a block: biases, weights.
void PackF32(const Layout& layout, const GemmWeights& weights, void* packed) {
  const XnnpackBlock& block = layout.block;
  xnn_pack_f32_gemm_goi_w(1, layout.n, layout.k, block.columns, block.depth, block.turns,
                          static_cast<const float*>(weights.rows), weights.bias, nullptr, static_cast<float*>(packed),
                          0, nullptr);
}

// Elements of k that are copied of each column before more: what they are written to stays in cache.
constexpr size_t kCopied = 512;

// Copies up to kCopied weights of a column, kDepth together and the next `stride` later. Returns their sum.
template <size_t kDepth>
int32_t CopyColumn(const int8_t* row, size_t k, size_t stride, uint8_t* to) {
  constexpr size_t kStep = kDepth < 8 ? 8 : kDepth;
  constexpr uint64_t kFlip = 0x8080808080808080u, kEven = 0x00ff00ff00ff00ffu;  // unsigned: 128 more
  static_assert(kCopied / 8 * 2 * 255 <= 0xffff, "sums fit 16 bits");
  uint64_t sums = 0;
  size_t i = 0;
  for (; i + kStep <= k; i += kStep) {
    for (size_t j = 0; j < kStep; j += 8) {
      uint64_t eight;
      memcpy(&eight, row + i + j, sizeof(eight));
      sums += ((eight ^ kFlip) & kEven) + ((eight ^ kFlip) >> 8 & kEven);
    }
    for (size_t j = 0; j < kStep; j += kDepth, to += stride) memcpy(to, row + i + j, kDepth);
  }
  int32_t sum = -128 * static_cast<int32_t>(i);
  for (int lane = 0; lane < 4; ++lane) sum += static_cast<int32_t>(sums >> 16 * lane & 0xffffu);
  for (; i < k; i += kDepth, to += stride) {
    for (size_t j = i; j < k && j < i + kDepth; ++j) {
      to[j - i] = static_cast<uint8_t>(row[j]);
      sum += row[j];
    }
  }
  return sum;
}

// Sums of weights, and weights, as XNNPACK's function writes them, which takes a byte after another.
void CopyI8(const Layout& layout, const GemmWeights& weights, void* packed) {
  constexpr size_t kMostColumns = 64;
  const size_t columns = layout.block.columns, depth = layout.block.depth, k = layout.k;
  const auto copy = depth == 4 ? CopyColumn<4> : depth == 8 ? CopyColumn<8> : CopyColumn<16>;
  auto* block = static_cast<uint8_t*>(packed);
  for (size_t c = 0; c < layout.n; c += columns, block += layout.BlockStride()) {
    const auto* rows = static_cast<const int8_t*>(weights.rows) + c * k;
    const size_t count = columns < layout.n - c ? columns : layout.n - c;
    int32_t minus_sums[kMostColumns] = {};
    uint8_t* to = block + columns * sizeof(int32_t);
    for (size_t i = 0; i < k; i += kCopied, to += columns * kCopied) {
      const size_t part = k - i < kCopied ? k - i : kCopied;
      for (size_t j = 0; j < count; ++j) {
        minus_sums[j] -= kZeroPoint * copy(rows + j * k + i, part, columns * depth, to + j * depth);
      }
    }
    memcpy(block, minus_sums, count * sizeof(int32_t));
  }
}

// Layout of a block: sums of weights, weights, scales, biases.
void PackI8(const Layout& layout, const GemmWeights& weights, void* packed) {
  const XnnpackBlock& block = layout.block;
  if (block.turns == 1) {
    CopyI8(layout, weights, packed);
  } else {
    const xnn_qs8_packing_params params = {kZeroPoint};
    xnn_pack_qs8_gemm_goi_w(1, layout.n, layout.k, block.columns, block.depth, block.turns,
                            static_cast<const int8_t*>(weights.rows), nullptr, nullptr, packed,
                            block.columns * 2 * sizeof(float), &params);
  }
  const size_t scales = sizeof(int32_t) + layout.Depth();
  PackFloats(layout, scales, static_cast<const float*>(weights.scales), packed);
  PackFloats(layout, scales + sizeof(float), weights.bias, packed);
}

// Layout of a block: sums of weights, then weights and scales for each 32 of k, then biases.
void PackI4(const Layout& layout, const GemmWeights& weights, void* packed) {
  const XnnpackBlock& block = layout.block;
  const xnn_qs8_qc4w_packing_params params = {kZeroPoint, kI4ZeroPoint};
  const auto* scales = static_cast<const xnn_bfloat16*>(weights.scales);
  xnn_pack_qs8_qb4w_gemm_goi_w(1, layout.n, layout.k, block.columns, block.depth, block.turns, kI4Block,
                               static_cast<const uint8_t*>(weights.rows), nullptr, scales, packed,
                               block.columns * sizeof(uint16_t), block.columns * sizeof(float), &params);
  constexpr size_t kWeights = kI4Block / 2;
  xnn_init_blockwise_scale_bf16_params(
      layout.n, block.columns, block.columns, layout.BlockStride(), layout.BlockStride(), layout.k / kI4Block,
      block.columns * (kWeights + sizeof(uint16_t)), 0, scales, layout.Row(packed, sizeof(float) + kWeights));
  PackFloats(layout, layout.stride - sizeof(float), weights.bias, packed);
}

// Whether all scales are positive and normal; checked in the bits of a bf16.
bool ScalesAreUsable(const GemmWeights& weights) {
  const auto* scales = static_cast<const uint16_t*>(weights.scales);
  const size_t count = size_t{weights.shape.n} * (weights.shape.k / kI4Block);
  for (size_t i = 0; i < count; ++i) {
    if (scales[i] < 0x0080 || scales[i] >= 0x7f80) return false;
  }
  return true;
}

// Layout: runtime/kernels/gemm_split.h.
void PackF16(const Layout& layout, const GemmWeights& weights, void* packed) {
  PackSplit(static_cast<const uint16_t*>(weights.rows), weights.bias, layout.n, layout.k, layout.block.depth,
            static_cast<uint8_t*>(packed));
}

}  // namespace

const GemmTarget* XnnpackTarget(const char* name) {
  for (const GemmTarget& target : kTargets) {
    if (strcmp(target.name, name) == 0) return &target;
  }
  return nullptr;
}

const char* XnnpackTargetName(uint32_t index) {
  return index < sizeof(kTargets) / sizeof(kTargets[0]) ? kTargets[index].name : nullptr;
}

xnn_status PackForXnnpackTarget(const GemmTarget& target, const GemmWeights& weights, void* packed, size_t size,
                                size_t* used) {
  Layout layout = {{}, weights.shape.n, weights.shape.k, 0};
  void (*pack)(const Layout&, const GemmWeights&, void*) = nullptr;
  switch (weights.shape.type) {
    case DType::kF32:
      layout.block = weights.shape.n < target.f32.columns ? target.narrow_f32 : target.f32;
      layout.stride = layout.Depth() * sizeof(float) + sizeof(float);
      pack = PackF32;
      break;
    case DType::kF16:
      if (target.f16.columns == 0) return xnn_status_unsupported_parameter;
      layout.block = target.f16;
      layout.stride = static_cast<size_t>(SplitColumnBytes(layout.k));
      pack = PackF16;
      break;
    case DType::kI8:
      layout.block = target.i8;
      layout.stride = layout.Depth() + sizeof(int32_t) + 2 * sizeof(float);
      pack = PackI8;
      break;
    case DType::kI4:
      if (!ScalesAreUsable(weights)) return xnn_status_invalid_parameter;
      if (target.i4.columns == 0) return xnn_status_unsupported_parameter;
      layout.block = target.i4;
      layout.stride = layout.k / 2 + layout.k / kI4Block * sizeof(uint16_t) + 2 * sizeof(float);
      pack = PackI4;
      break;
    default:
      return xnn_status_unsupported_parameter;
  }
  *used = layout.Bytes();
  if (*used > size) return xnn_status_out_of_memory;
  const bool filled = weights.shape.type == DType::kI8 && weights.bias != nullptr && layout.Depth() == layout.k &&
                      layout.n % layout.block.columns == 0;
  if (!filled) memset(packed, 0, *used);
  pack(layout, weights, packed);
  return xnn_status_success;
}

}  // namespace fovea
