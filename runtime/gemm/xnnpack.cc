// The XNNPACK backend: f32 weights, int8 and int4 weights with quantized activations, and on 64-bit Arm with dot
// products also f16 weights, which XNNPACK lacks. Where our kernels read another layout than XNNPACK's, no operator of
// XNNPACK is made.
//
// An operator is made per shape, not per layer: before every run XNNPACK asks its weights provider for the packed
// weights' address. The operator's storage is that provider and returns the address of the current layer.
#include <algorithm>
#include <new>

#include "runtime/gemm/gemm.h"
#include "runtime/gemm/xnnpack_cpuinfo/cpuinfo.h"
#include "runtime/gemm/xnnpack_operator.h"
#include "runtime/gemm/xnnpack_pthreadpool.h"
#include "runtime/gemm/xnnpack_target.h"
#include "runtime/kernels/gemm.h"
#include "runtime/kernels/gemm_arm.h"
#include "runtime/kernels/gemm_split.h"
#include "runtime/kernels/kernels.h"

namespace fovea {
namespace {

// Columns of the widest microkernel, to which packed weights are padded. Also the least width of a tile and the step of
// column ranges: a block of every microkernel begins at these multiples.
constexpr uint32_t kColumns = 64;
// The most bytes of packed weights in a tile of columns, so that it stays in L2 while all rows pass over it.
constexpr uint64_t kTileBytes = 384 * 1024;

// The most bytes per column in any microkernel's layout.
uint64_t ColumnBytes(const GemmShape& shape) {
  constexpr uint64_t kBias = 4, kScale = 4, kRowSum = 4;
  switch (shape.type) {
    case DType::kF32:
      return RoundUp(shape.k, 8) * 4 + kBias;
    case DType::kF16:
      return SplitColumnBytes(shape.k);
    case DType::kI8:
      return RoundUp(shape.k, 32) + kBias + kScale + kRowSum;
    case DType::kI4:
      return RoundUp(shape.k, 64) / 2 + kBias + kRowSum + shape.k / kI4Block * 2;
    default:
      return 0;
  }
}

// Columns of a tile of f16 weights: for each tile, all rows are split once more. 1 KB of each is multiplied by all rows
// before the next.
constexpr size_t kSplitTileColumns = 384;

struct XnnpackOperator {
  pthreadpool pool;  // first member: `finished` casts it to the operator
  fovea_xnnpack_provider provider;
  xnn_operator_t op;
  DType type;
  GemmPacking packing;
  size_t least_rows;
  // Our kernel, used instead of XNNPACK's from this number of rows on; or null. If both are used, their bits are equal.
  void (*own)(const GemmTile&);
  size_t own_from;
  const ActivationKernels* activations;
  const void* packed;  // the current layer's
  void (*activation)(const float*, size_t, float*);
  float* y;
  size_t n;  // stride of y in columns
  XnnpackObject object;
};

size_t AlwaysFound(void*, const xnn_weights_cache_look_up_key*) { return 0; }
void* ReserveNothing(void*, size_t) { return nullptr; }
size_t InsertNothing(void*, const xnn_weights_cache_look_up_key*, void*, size_t) { return SIZE_MAX; }
bool Finalized(void*) { return true; }
void* PackedAddress(void* context, size_t) {
  return const_cast<void*>(static_cast<const XnnpackOperator*>(context)->packed);
}
xnn_status DeleteNothing(void*) { return xnn_status_success; }

void ActivateTile(pthreadpool* pool, size_t row, size_t column, size_t rows, size_t columns) {
  const auto* op = reinterpret_cast<const XnnpackOperator*>(pool);
  const size_t n = op->n;
  for (size_t r = row; r < row + rows; ++r) op->activation(op->y + r * n + column, columns, op->y + r * n + column);
}

// In WebAssembly, XNNPACK multiplies int4 weights without SIMD.
#if defined(__wasm__)
constexpr bool kTakesI4 = false;
#else
constexpr bool kTakesI4 = true;
#endif

// Types of weights that not every machine supports.
struct Takes {
  bool i4, f16;
};

Takes TakesHere() {
#if FOVEA_GEMM_PACKED_ARM
  return {kTakesI4, cpuinfo_has_arm_neon_dot()};
#else
  return {kTakesI4, false};
#endif
}

// Whether a machine supports a shape.
bool SupportsOn(const Takes& takes, const GemmShape& shape) {
  if (shape.n == 0 || shape.k == 0) return false;
  switch (shape.type) {
    case DType::kF32:
      return true;
    case DType::kF16:
      return takes.f16;
    case DType::kI8:
      return shape.k <= kGemmIntegerDepth;
    // With an odd number of blocks the four-column kernels for SSE and AVX load from misaligned addresses.
    case DType::kI4:
      return takes.i4 && shape.k <= kGemmIntegerDepth && shape.k % (2 * kI4Block) == 0;
    default:
      return false;
  }
}

bool Supports(const GemmShape& shape) { return SupportsOn(TakesHere(), shape); }

// Matrix products take two rows. XNNPACK's kernels, which read rows one by one, multiply shapes that have no pairs.
bool TakesPairs(const GemmShape& shape) {
#if FOVEA_GEMM_PACKED_ARM
  return GemmTakesQuantized(shape.type) && shape.k % kPairedElements == 0 &&
         XnnpackPacking(shape) == GemmPacking::kNeonI8mm;
#else
  (void)shape;
  return false;
#endif
}

uint64_t PackedBytes(const GemmShape& shape) { return RoundUp(shape.n, kColumns) * ColumnBytes(shape); }

Status Refuse(const GemmWeights& weights, xnn_status status, size_t used, Reporter& reporter) {
  const uint64_t size = PackedBytes(weights.shape);
  if (used > size)
    return reporter.Fail(FOVEA_E_INTERNAL, "XNNPACK needs more bytes for packed weights than planned", used, size);
  if (status == xnn_status_invalid_parameter) {
    return reporter.Fail(FOVEA_E_BLOB, "a scale of int4 weights is not a positive normal number");
  }
  return reporter.Fail(FOVEA_E_INTERNAL, "XNNPACK cannot pack these weights", xnn_status_success, status);
}

// Whether weights are packed for our kernels alone, in a layout that XNNPACK does not have.
bool HasOwnLayout(const GemmShape& shape, GemmPacking packing) {
#if FOVEA_GEMM_PACKED_ARM
  return shape.type == DType::kF16 || (GemmTakesQuantized(shape.type) && packing == GemmPacking::kNeon);
#else
  (void)shape, (void)packing;
  return false;
#endif
}

// A machine whose int8 and f16 weights have this packing, on aarch64-neon also int4; or null.
const GemmTarget* TargetOf(GemmPacking packing) {
  switch (packing) {
    case GemmPacking::kAvx2:
      return XnnpackTarget("x86-avx2");
    case GemmPacking::kVnni:
      return XnnpackTarget("x86-vnni");
    case GemmPacking::kAmx:
      return XnnpackTarget("x86-amx");
    case GemmPacking::kNeon:
      return XnnpackTarget("aarch64-neon");
    case GemmPacking::kNeonDot:
      return XnnpackTarget("aarch64-dotprod");
    case GemmPacking::kNeonI8mm:
      return XnnpackTarget("aarch64-i8mm");
    case GemmPacking::kOther:
      break;
  }
  return nullptr;
}

// Packs with XNNPACK, or by a function for the layout: where XNNPACK has none, and int8, which is faster. `used` as in
// PackWithXnnpack.
xnn_status PackHere(const GemmWeights& weights, void* packed, uint64_t size, XnnpackObject* object, size_t* used) {
  const size_t bytes = static_cast<size_t>(size);
  const GemmPacking packing = XnnpackPacking(weights.shape);
  const bool plain = HasOwnLayout(weights.shape, packing) || weights.shape.type == DType::kI8;
  const GemmTarget* target = plain ? TargetOf(packing) : nullptr;
  return target == nullptr ? PackWithXnnpack(weights, packed, bytes, object, used)
                           : PackForXnnpackTarget(*target, weights, packed, bytes, used);
}

Status Pack(const GemmWeights& weights, void* packed, Reporter& reporter) {
  XnnpackObject object;
  size_t used = 0;
  const xnn_status status = PackHere(weights, packed, PackedBytes(weights.shape), &object, &used);
  return status == xnn_status_success ? kOk : Refuse(weights, status, used, reporter);
}

// XNNPACK reports the size it needs before it packs; the call then refuses the memory.
Status CheckLayout(const GemmWeights& weights, Reporter& reporter) {
  XnnpackObject object;
  size_t used = 0;
  const xnn_status status = PackHere(weights, nullptr, 0, &object, &used);
  if (used != 0 && used <= PackedBytes(weights.shape)) return kOk;
  return Refuse(weights, status, used, reporter);
}

// Packs small matrices of each type and hashes the result: it depends on where every weight, sum, scale and bias is
// stored, but not on anything else of the machine or the build. n fills all blocks, because packing functions may leave
// anything in padding columns; k does not, because its padding is multiplied and therefore defined.
template <class Pack>
uint64_t LayoutOf(const Takes& takes, const Pack& pack) {
  constexpr uint32_t kN = kColumns, kK = 37, kI4K = 4 * kI4Block;
  // f32 also with few columns, which use other microkernels.
  constexpr GemmShape kShapes[] = {
      {DType::kF32, kN, kK}, {DType::kF32, 2, kK}, {DType::kI8, kN, kK}, {DType::kI4, kN, kI4K}, {DType::kF16, kN, kK}};
  union {
    float f32[kN * kK];
    uint16_t f16[kN * kK];
    uint8_t bytes[kN * kI4K];
  } rows;
  float scales[kN], bias[kN];
  uint16_t block_scales[kN * kI4K / kI4Block];
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint32_t i = 0; i < kN; ++i) {
    bias[i] = 100.0f + static_cast<float>(i);
    scales[i] = 1.0f + static_cast<float>(i) / 64;
  }
  for (uint32_t i = 0; i < kN * kI4K / kI4Block; ++i) block_scales[i] = static_cast<uint16_t>(0x3f80 + i);
  for (const GemmShape& shape : kShapes) {
    if (!SupportsOn(takes, shape)) continue;
    for (uint32_t i = 0; i < shape.n * shape.k; ++i) {
      if (shape.type == DType::kF32) {
        rows.f32[i] = static_cast<float>(i);
      } else if (shape.type == DType::kF16) {
        rows.f16[i] = static_cast<uint16_t>(i * 5);  // finite
      } else {
        rows.bytes[i] = static_cast<uint8_t>(i * 0x9e3779b1u >> 24);
      }
    }
    const void* of_type = shape.type == DType::kI4 ? static_cast<const void*>(block_scales) : scales;
    alignas(64) uint64_t packed[kN * (40 * 4 + 4) / 8] = {};
    if (pack(GemmWeights{shape, &rows, of_type, bias}, packed, sizeof(packed)) != xnn_status_success) continue;
    for (uint64_t word : packed) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
  }
  return hash | 1;
}

uint64_t PackedLayout() {
  return LayoutOf(TakesHere(), [](const GemmWeights& weights, void* packed, size_t size) {
    XnnpackObject object;
    size_t used = 0;
    return PackHere(weights, packed, size, &object, &used);
  });
}

// The fewest rows for which kernels are chosen, so that a row's bits do not depend on the number of rows: on Arm the
// kernels for one row add f32 in another order, and round int8 differently on processors with dot products but without
// matrix products (i8mm).
size_t LeastRows(DType type) {
#if defined(__x86_64__) || defined(__i386__) || defined(__wasm__)
  (void)type;
#else
  if (type == DType::kF32) return 2;
#if defined(__aarch64__) || defined(__arm__)
  if (type == DType::kI8 && cpuinfo_has_arm_neon_dot() && !cpuinfo_has_arm_i8mm()) return 2;
#endif
#endif
  return 1;
}

uint64_t OperatorBytes(const GemmShape&) { return sizeof(XnnpackOperator); }

void ChooseOwn(const GemmShape& shape, const GemmKernels& kernels, XnnpackOperator* op) {
  const DType type = shape.type;
  if (op->packing == GemmPacking::kOther) return;
  if (op->packing == GemmPacking::kNeonI8mm && GemmTakesQuantized(type) && !TakesPairs(shape)) return;
  const bool avx512 = op->packing == GemmPacking::kVnni || op->packing == GemmPacking::kAmx;
  op->own = avx512                ? kernels.packed_avx512
            : type == DType::kF32 ? kernels.packed_f32
            : type == DType::kF16 ? kernels.packed_f16
            : type == DType::kI8  ? kernels.packed_i8
                                  : kernels.packed_i4;
  // XNNPACK's kernel is as fast for one row of f32 on x86, and for one of int8 with matrix products, VNNI or AMX.
  const bool leaves_one = (type == DType::kF32 && op->packing == GemmPacking::kAvx2) ||
                          (type == DType::kI8 && op->packing == GemmPacking::kNeonI8mm) || avx512;
  op->own_from = leaves_one ? 2 : 1;
}

Status MakeOperator(const GemmShape& shape, const Kernels& kernels, void* storage, Reporter& reporter) {
  if (!Supports(shape))
    return reporter.Fail(FOVEA_E_UNSUPPORTED, "no GEMM kernel supports this type or width of weights");
  auto* op = new (storage) XnnpackOperator();
  op->provider = {{op, AlwaysFound, ReserveNothing, InsertNothing, Finalized, PackedAddress, DeleteNothing},
                  &op->object,
                  sizeof(op->object)};
  op->type = shape.type;
  op->least_rows = LeastRows(shape.type);
  op->packing = XnnpackPacking(shape);
  ChooseOwn(shape, kernels.gemm, op);
  op->activations = &kernels.activation;
  if (HasOwnLayout(shape, op->packing)) {  // run with our kernel alone
    return op->own != nullptr ? kOk : reporter.Fail(FOVEA_E_INTERNAL, "no kernel reads the layout of these weights");
  }
  const xnn_status status = MakeXnnpackOperator(shape, &op->provider, &op->op);
  if (status == xnn_status_success) return kOk;
  return reporter.Fail(FOVEA_E_INTERNAL, "XNNPACK cannot make this operator", xnn_status_success, status);
}

// Bytes per column in our kernels' layout.
size_t OwnColumnBytes(const GemmShape& shape, GemmPacking packing) {
  const size_t k = shape.k;
  if (shape.type == DType::kF32) return (k + 1) * sizeof(float);
  if (shape.type == DType::kF16) return static_cast<size_t>(SplitColumnBytes(k));
  if (shape.type == DType::kI8) {
    const uint32_t depth = packing == GemmPacking::kNeonDot || packing == GemmPacking::kAmx ? 4
                           : packing == GemmPacking::kNeon                                  ? 16
                                                                                            : 8;
    return RoundUp(shape.k, depth) + sizeof(int32_t) + 2 * sizeof(float);
  }
  return k / kI4Block * (kI4Block / 2 + sizeof(uint16_t)) + 2 * sizeof(float);
}

// The width of equal tiles of `columns` columns within the byte limit.
size_t TileColumns(const GemmShape& shape, uint32_t columns) {
  const uint64_t fitting = std::max<uint64_t>(kTileBytes / ColumnBytes(shape) / kColumns * kColumns, kColumns);
  const uint64_t tiles = DivideUp(columns, fitting);
  return static_cast<size_t>(RoundUp(DivideUp(columns, tiles), kColumns));
}

// Runs one of our kernels in tiles of columns, whose results are still in cache for the activation.
void RunOwn(XnnpackOperator* op, const GemmWeights& weights, const GemmInput& input) {
  const pthreadpool& pool = op->pool;
  GemmTile tile = {};
  tile.rows = input.rows;
  tile.k = weights.shape.k;
  tile.x = GemmTakesQuantized(weights.shape.type) ? static_cast<const void*>(input.quantized) : input.x;
  tile.params = input.params;
  tile.y_stride = op->n;
  tile.packing = op->packing;
  const size_t column_bytes = OwnColumnBytes(weights.shape, op->packing);
  const size_t columns = op->type == DType::kF16 ? kSplitTileColumns : kGemmTileColumns;
  for (size_t c = pool.column_begin; c < pool.column_end; c += columns) {
    tile.columns = std::min(columns, pool.column_end - c);
    tile.weights = static_cast<const uint8_t*>(op->packed) + c * column_bytes;
    tile.y = op->y + c;
    op->own(tile);
    if (pool.finished != nullptr) pool.finished(&op->pool, 0, c, input.rows, tile.columns);
  }
}

Status Run(void* storage, const GemmWeights& weights, const void* packed, const GemmInput& input,
           const GemmOutput& output) {
  if (input.rows == 0 || output.begin == output.end) return kOk;
  auto* op = static_cast<XnnpackOperator*>(storage);
  const GemmShape& shape = weights.shape;
  op->packed = packed;
  op->y = output.y;
  op->n = shape.n;
  op->activation = op->activations->apply[static_cast<uint32_t>(output.activation)];
  op->pool = {input.rows, output.begin, output.end, 0, output.activation == Activation::kNone ? nullptr : ActivateTile};
  if (op->own != nullptr && input.rows >= op->own_from) {
    RunOwn(op, weights, input);
    return kOk;
  }
  op->pool.tile_columns = TileColumns(shape, output.end - output.begin);
  // A kernel for more rows than are left reads the parameters of missing rows and computes the last row again, with its
  // own parameters or (int4 kernels for 14 rows) with the next ones. So the last row's are repeated.
  if (GemmTakesQuantized(shape.type)) {
    for (size_t i = 0; i < kGemmExtraParams; ++i) input.params[input.rows + i] = input.params[input.rows - 1];
  }
  const size_t planned_rows = std::max<size_t>(input.rows, op->least_rows);
  const xnn_status status = RunXnnpackOperator(op->op, op->type, planned_rows, input, output.y, &op->pool);
  return status == xnn_status_success ? kOk : Status(FOVEA_E_INTERNAL);
}

constexpr char kRunFault[] = "XNNPACK refused to set up or run the operator of a linear layer";

constexpr GemmBackend kBackend = {"xnnpack",   kColumns,     Supports,      TakesPairs,   PackedBytes, Pack,
                                  CheckLayout, PackedLayout, OperatorBytes, MakeOperator, Run,         kRunFault};

}  // namespace

bool XnnpackTargetSupports(const GemmTarget& target, const GemmShape& shape) {
  return SupportsOn({target.i4.columns != 0, target.f16.columns != 0}, shape);
}

uint64_t XnnpackTargetLayout(const GemmTarget& target) {
  return LayoutOf({target.i4.columns != 0, target.f16.columns != 0},
                  [&](const GemmWeights& weights, void* packed, size_t size) {
                    size_t used = 0;
                    return PackForXnnpackTarget(target, weights, packed, size, &used);
                  });
}

Status XnnpackPackFor(const GemmTarget& target, const GemmWeights& weights, void* packed, Reporter& reporter) {
  size_t used = 0;
  const xnn_status status =
      PackForXnnpackTarget(target, weights, packed, static_cast<size_t>(PackedBytes(weights.shape)), &used);
  return status == xnn_status_success ? kOk : Refuse(weights, status, used, reporter);
}

const GemmBackend* XnnpackGemm() { return InitializeXnnpack() ? &kBackend : nullptr; }

}  // namespace fovea
