// Attention over the keys of a segment; runtime/attention does the work.
#include <math.h>

#include <algorithm>

#include "runtime/attention/check.h"
#include "runtime/ops/op.h"

namespace fovea {
namespace {

// Tensors of the operation.
enum : uint32_t {
  kDistanceBias,
  kCoordinates,
  kHeadWindows,
  kBlocks,
  kAdditive,
  kRelativeKeys,
  kRelativeQueries,
  kBuckets,
};

// Buckets of one operation: they are read to the end when it is checked.
constexpr uint32_t kMostBuckets = 1u << 14;

// Inputs after q, k and v, in this order.
struct ExtraInputs {
  explicit ExtraInputs(const OpView& op) {
    if (op.Flag(Attribute::kKeyBias)) key_bias = count++;
    if (op.Flag(Attribute::kListed)) listed = count++;
    if (op.U32(Attribute::kRounds, 0) != 0) clusters = count++;
    if (op.Choice(Attribute::kCenters, Centers::kNone) != Centers::kNone) centers = count++;
  }
  uint32_t key_bias = kBlobNone, listed = kBlobNone, clusters = kBlobNone, centers = kBlobNone;
  uint32_t count = 3;
};

// Keys sorted in rounds: a tile of neighbouring rows would see nearly all chunks of them.
bool ByHeads(const OpView& op) { return op.U32(Attribute::kRounds, 0) > 0; }

// In rounds of sorted keys, or in chunks of keys as they stand.
bool Clustered(const OpView& op) { return ByHeads(op) || op.U32(Attribute::kChunk, 0) > 0; }

const int32_t* Integers(const OpView& op, uint32_t i) { return op.HasTensor(i) ? op.Indices(i) : nullptr; }

Status CheckIntegers(const OpView& op, uint32_t i, uint32_t rows, uint32_t width, Reporter& reporter) {
  if (!op.HasTensor(i)) return kOk;
  const TensorRecord& tensor = op.Tensor(i);
  reporter.tensor = op.TensorIndex(i);
  if (DType(tensor.type) != DType::kI32) return reporter.Fail(FOVEA_E_SHAPE, "tensor must be i32", 4, tensor.type);
  if ((rows != 0 && tensor.rows != rows) || (width != 0 && tensor.width != width)) {
    return reporter.Fail(FOVEA_E_SHAPE, "tensor has the wrong shape", rows, tensor.rows);
  }
  reporter.tensor = FOVEA_NOWHERE;
  return kOk;
}

// Enumerations.
Status CheckNames(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckChoice<PatternKind>(op, Attribute::kPattern, "unknown attention pattern", reporter));
  FOVEA_TRY(CheckChoice<Score>(op, Attribute::kScore, "unknown score", reporter));
  FOVEA_TRY(CheckChoice<Products>(op, Attribute::kProducts, "unknown type of products", reporter));
  FOVEA_TRY(CheckChoice<Activation>(op, Attribute::kActivation, "unknown activation", reporter));
  const auto weighting = op.Choice(Attribute::kActivation, Activation::kNone);
  if (weighting == Activation::kTanh || weighting == Activation::kLogSigmoid) {
    return reporter.Fail(FOVEA_E_OP, "this activation does not weigh scores", 0, op.U32(Attribute::kActivation, 0));
  }
  return kOk;
}

// Types and shapes of tensors, as AttentionSpecOf reads them, and a number that would mean a default there. The others
// are CheckAttentionSpec's.
Status CheckTensors(const OpView& op, uint32_t heads, uint32_t d_k, Reporter& reporter) {
  if (op.U32(Attribute::kQueryStride, 1) == 0) return reporter.Fail(FOVEA_E_SHAPE, "query_stride is at least 1", 1, 0);
  FOVEA_TRY(CheckIntegers(op, kHeadWindows, heads, 3, reporter));
  if (op.HasTensor(kHeadWindows) && op.Choice(Attribute::kPattern, PatternKind::kFull) != PatternKind::kWindow) {
    return reporter.Fail(FOVEA_E_SHAPE, "windows by head go with the window pattern",
                         static_cast<uint32_t>(PatternKind::kWindow));
  }
  FOVEA_TRY(CheckIntegers(op, kBlocks, 0, 0, reporter));
  if (op.HasTensor(kBlocks) && op.Flag(Attribute::kBlocksByHead) && op.Tensor(kBlocks).rows % heads != 0) {
    return reporter.Fail(FOVEA_E_SHAPE, "table of blocks has the wrong shape", heads, op.Tensor(kBlocks).rows);
  }
  FOVEA_TRY(CheckFloats(op, kAdditive, heads, d_k, reporter));
  uint32_t width = 0;
  if (op.HasTensor(kDistanceBias)) {
    width = op.Tensor(kDistanceBias).width;
    if (width % 2 == 0) return reporter.Fail(FOVEA_E_SHAPE, "distance bias must have an odd width", 1, width);
    FOVEA_TRY(CheckFloats(op, kDistanceBias, heads, width, reporter));
  }
  const bool relative = op.HasTensor(kRelativeKeys) || op.HasTensor(kRelativeQueries);
  if (relative != op.HasTensor(kBuckets)) {
    return reporter.Fail(FOVEA_E_SHAPE, "relative scores and buckets need each other");
  }
  if (relative) {
    FOVEA_TRY(CheckIntegers(op, kBuckets, 1, width, reporter));
    if (op.Tensor(kBuckets).width % 2 == 0 || op.Tensor(kBuckets).width > kMostBuckets) {
      return reporter.Fail(FOVEA_E_SHAPE, "table of buckets must have an odd width", kMostBuckets,
                           op.Tensor(kBuckets).width);
    }
    const uint32_t rows = op.Tensor(op.HasTensor(kRelativeKeys) ? kRelativeKeys : kRelativeQueries).rows;
    if (rows % heads != 0) return reporter.Fail(FOVEA_E_SHAPE, "relative rows are not shared by heads", heads, rows);
    FOVEA_TRY(CheckFloats(op, kRelativeKeys, rows, d_k, reporter, true));
    FOVEA_TRY(CheckFloats(op, kRelativeQueries, rows, d_k, reporter, true));
  }
  return CheckIntegers(op, kCoordinates, 0, 0, reporter);
}

Status CheckExtraInputs(const OpView& op, uint32_t heads, Reporter& reporter) {
  const ExtraInputs extra(op);
  if (op.record->input_count != extra.count) {
    return reporter.Fail(FOVEA_E_RECORD, "inputs do not fit the attributes", extra.count, op.record->input_count);
  }
  const uint32_t keys = op.Input(1).space;
  if (extra.key_bias != kBlobNone) {
    const ValueRecord& bias = op.Input(extra.key_bias);
    if (DType(bias.type) != DType::kF32 || bias.space != keys || (bias.width != 1 && bias.width != heads)) {
      return reporter.Fail(FOVEA_E_SHAPE, "bias of keys needs one number, or one a head, for each key", heads,
                           bias.width);
    }
  }
  if (extra.centers != kBlobNone) {
    const ValueRecord& centers = op.Input(extra.centers);
    if (DType(centers.type) != DType::kF32 || centers.space != op.Input(0).space || centers.width != 1) {
      return reporter.Fail(FOVEA_E_SHAPE, "centers are one number for each query", 1, centers.width);
    }
  }
  if (extra.listed != kBlobNone) {
    FOVEA_TRY(CheckSelection(op, extra.listed, keys, reporter));
    if (op.InputSpace(extra.listed).parent != op.InputSpace(1).parent) {
      return reporter.Fail(FOVEA_E_SHAPE, "listed rows must be in the segments of the keys", op.InputSpace(1).parent,
                           op.InputSpace(extra.listed).parent);
    }
  }
  if (extra.clusters != kBlobNone) {
    const OperationRecord* sorted_by = op.Maker(extra.clusters);
    const uint64_t columns = uint64_t{heads} * op.U32(Attribute::kRounds, 0);
    if (sorted_by == nullptr || OpCode(sorted_by->code) != OpCode::kSort || op.Input(extra.clusters).space != keys ||
        op.Input(extra.clusters).width != 2 * columns) {
      return reporter.Fail(FOVEA_E_SHAPE, "clustered keys need their sorting, a column for each head and round",
                           2 * columns, op.Input(extra.clusters).width);
    }
  }
  if (op.HasTensor(kCoordinates)) {
    const SpaceRecord& space = op.InputSpace(1);
    if (op.Input(0).space != keys || space.kind != SpaceKind::kFixed || space.extra > op.Tensor(kCoordinates).width) {
      return reporter.Fail(FOVEA_E_SHAPE, "coordinates need one space of segments with a fixed number of rows",
                           op.Tensor(kCoordinates).width, space.extra);
    }
  }
  if ((op.Has(Attribute::kSelfScore) || Clustered(op)) && op.Input(0).space != keys) {
    return reporter.Fail(FOVEA_E_SHAPE, "queries and keys must be rows of one space", keys, op.Input(0).space);
  }
  return kOk;
}

// How keys and values are stored: both alike.
bool FindKeyType(const OpView& op, KeyType* type) {
  switch (DType(op.Input(1).type)) {
    case DType::kF32:
      *type = KeyType::kF32;
      break;
    case DType::kF16:
      *type = KeyType::kF16;
      break;
    case DType::kBf16:
      *type = KeyType::kBf16;
      break;
    case DType::kI8:
      *type = KeyType::kI8;
      break;
    default:
      return false;
  }
  return op.Input(1).type == op.Input(2).type;
}

// Input i, made by a cast, has a scale for each of `heads` parts of a row.
Status CheckScales(const OpView& op, uint32_t i, uint32_t heads, Reporter& reporter) {
  const uint32_t parts = OpView{op.blob, op.Maker(i), op.values}.U32(Attribute::kHeads, 1);
  if (parts == heads) return kOk;
  return reporter.Fail(FOVEA_E_SHAPE, "int8 keys and values need a scale for each head", heads, parts);
}

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckF32(op, 0, reporter));
  KeyType key_type;
  if (!FindKeyType(op, &key_type)) {
    return reporter.Fail(FOVEA_E_SHAPE, "keys and values are of one type: f32, f16, bf16 or int8", op.Input(1).type,
                         op.Input(2).type);
  }
  const ValueRecord &q = op.Input(0), &k = op.Input(1), &v = op.Input(2);
  Pairing pairing;
  if (q.space != op.Output().space || k.space != v.space || !FindPairing(op, &pairing)) {
    return reporter.Fail(FOVEA_E_SHAPE, "spaces of queries, keys, values and output do not fit", q.space, k.space);
  }
  const uint32_t heads = op.U32(Attribute::kHeads, 1), kv_heads = op.U32(Attribute::kKvHeads, heads);
  if (heads == 0 || kv_heads == 0 || heads % kv_heads != 0 || q.width % heads != 0) {
    return reporter.Fail(FOVEA_E_SHAPE, "heads do not divide each other or the width", heads, kv_heads);
  }
  const uint32_t d_k = q.width / heads;
  if (k.width != uint64_t{kv_heads} * d_k) {
    return reporter.Fail(FOVEA_E_SHAPE, "keys have the wrong width", uint64_t{kv_heads} * d_k, k.width);
  }
  if (v.width % kv_heads != 0 || op.Output().width != uint64_t{heads} * (v.width / kv_heads)) {
    return reporter.Fail(FOVEA_E_SHAPE, "values and output have widths that do not fit", op.Output().width, v.width);
  }
  for (uint32_t i = 1; i < 3 && key_type == KeyType::kI8; ++i) FOVEA_TRY(CheckScales(op, i, kv_heads, reporter));
  FOVEA_TRY(CheckNames(op, reporter));
  FOVEA_TRY(CheckTensors(op, heads, d_k, reporter));
  FOVEA_TRY(CheckExtraInputs(op, heads, reporter));
  return CheckAttentionSpec(AttentionSpecOf(op), FOVEA_E_SHAPE, reporter);
}

uint64_t Scratch(const OpView& op, uint32_t tile_rows) { return AttentionScratchBytes(AttentionSpecOf(op), tile_rows); }

// Heads of keys or values as they lie in input i, and their scales.
void SetRows(const OpRun& run, uint32_t i, uint32_t heads, uint32_t width, HeadRows* rows, HeadRows* scales) {
  const DType type = DType(run.view.Input(i).type);
  const auto* data = static_cast<const uint8_t*>(run.inputs[i]);
  const size_t row_bytes = run.view.InputRowBytes(i);
  if (type == DType::kI8) *scales = {data, row_bytes, sizeof(float)};
  const size_t before = type == DType::kI8 ? heads * sizeof(float) : 0;
  *rows = {data + before, row_bytes, static_cast<size_t>(RowBytes(type, width))};
}

Status Run(const OpRun& run) {
  const AttentionSpec spec = AttentionSpecOf(run.view);
  const ExtraInputs extra(run.view);
  AttentionCall call{};
  call.spec = &spec;
  call.query_segments = run.spaces[run.view.Input(0).space].segments;
  call.key_segments = run.spaces[run.view.Input(1).space].segments;
  call.row_begin = run.row_begin;
  call.row_end = run.row_end;
  call.head_begin = run.head_begin;
  call.head_end = run.head_end;
  call.tile_rows = run.tile_rows;
  const size_t before = ByHeads(run.view) ? run.row_begin : 0;  // rows of inputs and output
  call.q = DenseHeads<const void>(run.Input(0) + before * spec.heads * spec.d_k, spec.heads, spec.d_k);
  FindKeyType(run.view, &call.key_type);
  SetRows(run, 1, spec.kv_heads, spec.d_k, &call.k, &call.k_scales);
  SetRows(run, 2, spec.kv_heads, spec.d_v, &call.v, &call.v_scales);
  call.out = DenseHeads<void>(run.output + before * spec.heads * spec.d_v, spec.heads, spec.d_v);
  if (extra.key_bias != kBlobNone) {
    const uint32_t width = run.view.Input(extra.key_bias).width;
    call.key_bias = {run.Input(extra.key_bias), width * sizeof(float), width > 1 ? sizeof(float) : 0};
  }
  if (extra.listed != kBlobNone) {
    call.listed = reinterpret_cast<const uint32_t*>(run.Indices(extra.listed));
    call.listed_segments = run.SegmentsOf(run.view.Input(extra.listed));
  }
  if (extra.clusters != kBlobNone) {
    const size_t columns = size_t{spec.heads} * spec.pattern.rounds;
    call.clusters = {run.Indices(extra.clusters), run.Indices(extra.clusters) + columns, 2 * columns};
  }
  if (extra.centers != kBlobNone) {
    call.centers = run.Input(extra.centers);
    call.center_stride = sizeof(float);
  }
  call.weights = run.weights;
  call.scratch = run.scratch;
  RunAttention(*run.kernels, call);
  return kOk;
}

double Flops(const OpView&) { return 0; }  // per key, see AttentionSpecOf

constexpr OpDef Define() {
  OpDef def = {
      3,
      6,
      0,
      8,
      OpAttributes(Attribute::kActivation, Attribute::kHeads, Attribute::kKvHeads, Attribute::kScale,
                   Attribute::kPattern, Attribute::kLeft, Attribute::kRight, Attribute::kDilation, Attribute::kBlock,
                   Attribute::kFirst, Attribute::kLast, Attribute::kCausal, Attribute::kFullUpTo, Attribute::kTopK,
                   Attribute::kBlocksByHead, Attribute::kRounds, Attribute::kChunk, Attribute::kChunksBefore,
                   Attribute::kChunksAfter, Attribute::kScore, Attribute::kCap, Attribute::kListed, Attribute::kKeyBias,
                   Attribute::kSelfScore, Attribute::kCenters, Attribute::kGaussian, Attribute::kQueryStride,
                   Attribute::kApart, Attribute::kProducts, Attribute::kChunkMultiple),
      ~1u,
      Check,
      Scratch,
      Run,
      Flops};
  def.by_heads = ByHeads;
  return def;
}

}  // namespace

bool FindPairing(const OpView& op, Pairing* pairing) {
  const uint32_t query = op.Input(0).space, key = op.Input(1).space;
  const uint32_t query_parent = op.blob->spaces[query].parent, key_parent = op.blob->spaces[key].parent;
  if (query == key || (query_parent == key_parent && query_parent != kBlobNone)) {
    *pairing = Pairing::kPaired;
    return true;
  }
  *pairing = Pairing::kParent;
  return key_parent == query;
}

Pattern PatternOf(const OpView& op) {
  Pattern pattern;
  const PatternKind kind = op.Choice(Attribute::kPattern, PatternKind::kFull);
  pattern.has_window = kind != PatternKind::kNone;
  if (kind == PatternKind::kWindow) {
    pattern.left = op.U32(Attribute::kLeft, kUnbounded);
    pattern.right = op.U32(Attribute::kRight, kUnbounded);
    pattern.head_windows = Integers(op, kHeadWindows);
  }
  pattern.dilation = op.U32(Attribute::kDilation, 1);
  pattern.block = op.U32(Attribute::kBlock, 1);
  pattern.first = op.U32(Attribute::kFirst, 0);
  pattern.last = op.U32(Attribute::kLast, 0);
  pattern.listed = op.Flag(Attribute::kListed);
  pattern.blocks = Integers(op, kBlocks);
  if (pattern.blocks != nullptr) {
    pattern.blocks_heads = op.Flag(Attribute::kBlocksByHead) ? op.U32(Attribute::kHeads, 1) : 1;
    pattern.block_rows = op.Tensor(kBlocks).rows / pattern.blocks_heads;
    pattern.block_columns = op.Tensor(kBlocks).width;
  }
  pattern.causal = op.Flag(Attribute::kCausal);
  pattern.full_up_to = op.U32(Attribute::kFullUpTo, 0);
  pattern.top_k = op.U32(Attribute::kTopK, 0);
  pattern.rounds = Clustered(op) ? std::max(op.U32(Attribute::kRounds, 0), 1u) : 0;
  pattern.chunk = op.U32(Attribute::kChunk, 0);
  pattern.chunks_before = op.U32(Attribute::kChunksBefore, 0);
  pattern.chunks_after = op.U32(Attribute::kChunksAfter, 0);
  pattern.chunk_multiple = op.U32(Attribute::kChunkMultiple, 1);
  return pattern;
}

AttentionSpec AttentionSpecOf(const OpView& op) {
  AttentionSpec spec{};
  spec.heads = op.U32(Attribute::kHeads, 1);
  spec.kv_heads = op.U32(Attribute::kKvHeads, spec.heads);
  spec.d_k = op.Input(0).width / spec.heads;
  spec.d_v = op.Input(2).width / spec.kv_heads;
  spec.score = op.Choice(Attribute::kScore, Score::kDot);
  spec.products = op.Choice(Attribute::kProducts, Products::kF32);
  const float usual = spec.score == Score::kDot ? 1.0f / sqrtf(static_cast<float>(spec.d_k)) : 1.0f;
  spec.scale = op.F32(Attribute::kScale, usual);
  FindPairing(op, &spec.pairing);
  spec.pattern = PatternOf(op);
  spec.cap = op.F32(Attribute::kCap, 0.0f);
  spec.weighting = op.Choice(Attribute::kActivation, Activation::kNone);
  spec.additive = op.Floats(kAdditive);
  spec.distance_bias = op.Floats(kDistanceBias);
  spec.distance_reach = op.HasTensor(kDistanceBias) ? op.Tensor(kDistanceBias).width / 2 : 0;
  if (op.HasTensor(kBuckets)) {
    spec.distance_reach = op.Tensor(kBuckets).width / 2;
    spec.relative.buckets = Integers(op, kBuckets);
    const auto table = [&](uint32_t i, const void** rows, DType* type) {
      if (!op.HasTensor(i)) return;
      *rows = op.blob->TensorRows(op.TensorIndex(i));
      *type = DType(op.Tensor(i).type);
      spec.relative.bucket_count = op.Tensor(i).rows / spec.heads;
    };
    table(kRelativeKeys, &spec.relative.keys, &spec.relative.keys_type);
    table(kRelativeQueries, &spec.relative.queries, &spec.relative.queries_type);
  }
  if (op.HasTensor(kCoordinates)) {
    spec.coordinates = Integers(op, kCoordinates);
    spec.coordinate_sets = op.Tensor(kCoordinates).rows;
    spec.coordinate_positions = op.Tensor(kCoordinates).width;
  }
  spec.query_stride = op.U32(Attribute::kQueryStride, 1);
  spec.apart = op.U32(Attribute::kApart, 0);
  spec.has_self_score = op.Has(Attribute::kSelfScore);
  spec.self_score = op.F32(Attribute::kSelfScore, 0.0f);
  spec.centers = op.Choice(Attribute::kCenters, Centers::kNone);
  spec.gaussian = op.Flag(Attribute::kGaussian);
  return spec;
}

uint32_t ListedInput(const OpView& op) { return ExtraInputs(op).listed; }

extern const OpDef kAttentionOp = Define();

}  // namespace fovea
