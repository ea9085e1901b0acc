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
  kLayout,
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
    if (op.Flag(Attribute::kGlobalKeys)) global_keys = count++;
    if (op.U32(Attribute::kRounds, 0) != 0) clusters = count++;
    if (op.Choice(Attribute::kCenters, Centers::kNone) != Centers::kNone) centers = count++;
    if (op.U32(Attribute::kPairBias, 0) != 0) pair_bias = count++;
  }
  uint32_t key_bias = kBlobNone, global_keys = kBlobNone, clusters = kBlobNone, centers = kBlobNone;
  uint32_t pair_bias = kBlobNone;
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

// Enumerations, and what no field of the spec says.
Status CheckNames(const OpView& op, Reporter& reporter) {
#define FOVEA_NUMBER(part, field, Name, least, most)
#define FOVEA_REAL(part, field, Name)
#define FOVEA_FLAG(part, field, Name)
#define FOVEA_CHOICE(part, field, Name, Enum) \
  FOVEA_TRY(CheckChoice<Enum>(op, Attribute::k##Name, "unknown " #field " of " #part, reporter));
#include "runtime/blob/attention_fields.inc"
#undef FOVEA_NUMBER
#undef FOVEA_REAL
#undef FOVEA_FLAG
#undef FOVEA_CHOICE
  const Activation weighting = op.Choice(Attribute::kActivation, Activation::kNone);
  if (!Weighs(weighting)) {
    return reporter.Fail(FOVEA_E_OP, "this activation does not weigh scores", 0, static_cast<uint32_t>(weighting));
  }
  FOVEA_TRY(CheckChoice<PatternKind>(op, Attribute::kPattern, "unknown attention pattern", reporter));
  const PatternKind kind = op.Choice(Attribute::kPattern, PatternKind::kFull);
  if (kind != PatternKind::kWindow && (op.Has(Attribute::kLeft) || op.Has(Attribute::kRight))) {
    return reporter.Fail(FOVEA_E_OP, "sides of a window need the window pattern",
                         static_cast<uint32_t>(PatternKind::kWindow), static_cast<uint32_t>(kind));
  }
  if (op.Choice(Attribute::kOrigin, Origin::kZero) == Origin::kStarts) {
    return reporter.Fail(FOVEA_E_OP, "nothing in a program says where segments start");
  }
  return kOk;
}

// Types and shapes of tensors, as AttentionSpecOf reads them, and a number that would mean a default there. The others
// are CheckAttentionSpec's.
Status CheckTensors(const OpView& op, uint32_t heads, uint32_t d_k, Reporter& reporter) {
  FOVEA_TRY(CheckIntegers(op, kHeadWindows, heads, 3, reporter));
  if (op.HasTensor(kHeadWindows) && op.Choice(Attribute::kPattern, PatternKind::kFull) != PatternKind::kWindow) {
    return reporter.Fail(FOVEA_E_SHAPE, "windows by head go with the window pattern",
                         static_cast<uint32_t>(PatternKind::kWindow));
  }
  FOVEA_TRY(CheckIntegers(op, kLayout, 0, 0, reporter));
  if (op.HasTensor(kLayout) && op.Flag(Attribute::kLayoutByHead) && op.Tensor(kLayout).rows % heads != 0) {
    return reporter.Fail(FOVEA_E_SHAPE, "layout has the wrong shape", heads, op.Tensor(kLayout).rows);
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
  if (extra.global_keys != kBlobNone) {
    FOVEA_TRY(CheckSelection(op, extra.global_keys, keys, reporter));
    if (op.InputSpace(extra.global_keys).parent != op.InputSpace(1).parent) {
      return reporter.Fail(FOVEA_E_SHAPE, "global keys must be in the segments of the keys", op.InputSpace(1).parent,
                           op.InputSpace(extra.global_keys).parent);
    }
  }
  if (extra.pair_bias != kBlobNone) {
    const ValueRecord& pairs = op.Input(extra.pair_bias);
    const uint32_t of = op.U32(Attribute::kPairBias, 0);
    if (DType(pairs.type) != DType::kF32 || pairs.space != op.Input(0).space || (of != 1 && of != heads) ||
        pairs.width % of != 0 || pairs.width / of < CertainRows(*op.blob, op.InputSpace(1))) {
      return reporter.Fail(FOVEA_E_SHAPE, "bias of pairs needs a number for each key of the segment, or one a head",
                           heads, pairs.width);
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
bool FindKeyType(const OpView& op, DType* type) {
  *type = DType(op.Input(1).type);
  const bool known = *type == DType::kF32 || *type == DType::kF16 || *type == DType::kBf16 || *type == DType::kI8;
  return known && op.Input(1).type == op.Input(2).type;
}

// Input i, made by a cast, has a scale for each of `heads` parts of a row.
Status CheckScales(const OpView& op, uint32_t i, uint32_t heads, Reporter& reporter) {
  const uint32_t parts = OpView{op.blob, op.Maker(i), op.values}.U32(Attribute::kHeads, 1);
  if (parts == heads) return kOk;
  return reporter.Fail(FOVEA_E_SHAPE, "int8 keys and values need a scale for each head", heads, parts);
}

Status Check(const OpView& op, Reporter& reporter) {
  FOVEA_TRY(CheckF32(op, 0, reporter));
  DType key_type;
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
  for (uint32_t i = 1; i < 3 && key_type == DType::kI8; ++i) FOVEA_TRY(CheckScales(op, i, kv_heads, reporter));
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
  if (type == DType::kI8) *scales = {data, row_bytes, sizeof(float), 0};
  const size_t before = type == DType::kI8 ? heads * sizeof(float) : 0;
  *rows = {data + before, row_bytes, static_cast<size_t>(RowBytes(type, width)), 0};
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
    call.key_bias = {run.Input(extra.key_bias), width * sizeof(float), width > 1 ? sizeof(float) : 0, 0};
  }
  if (extra.global_keys != kBlobNone) {
    call.global_keys = reinterpret_cast<const uint32_t*>(run.Indices(extra.global_keys));
    call.global_key_segments = run.SegmentsOf(run.view.Input(extra.global_keys));
  }
  if (extra.clusters != kBlobNone) {
    const size_t columns = size_t{spec.heads} * spec.pattern.rounds;
    call.clusters = {run.Indices(extra.clusters), run.Indices(extra.clusters) + columns, 2 * columns};
  }
  if (extra.centers != kBlobNone) {
    call.centers = run.Input(extra.centers);
    call.center_stride = sizeof(float);
  }
  if (extra.pair_bias != kBlobNone) {
    const uint32_t of = run.view.U32(Attribute::kPairBias, 0), width = run.view.Input(extra.pair_bias).width;
    const size_t row = width * sizeof(float);
    call.pair_bias = {run.Input(extra.pair_bias), false, width / of, row, of > 1 ? row / of : 0, PairBias::kByRow};
  }
  call.weights = run.weights;
  call.scratch = run.scratch;
  RunAttention(*run.kernels, call);
  return kOk;
}

double Flops(const OpView&) { return 0; }  // per key, see AttentionSpecOf

// What of a pattern is no plain field.
void LowerPattern(const OpView& op, uint32_t heads, Pattern* pattern) {
  const PatternKind kind = op.Choice(Attribute::kPattern, PatternKind::kFull);
  pattern->has_window = kind != PatternKind::kNone;
  if (kind == PatternKind::kWindow) {
    pattern->left = op.U32(Attribute::kLeft, kUnbounded);
    pattern->right = op.U32(Attribute::kRight, kUnbounded);
    pattern->head_windows = Integers(op, kHeadWindows);
  }
  pattern->global_keys = op.Flag(Attribute::kGlobalKeys);
  pattern->layout = Integers(op, kLayout);
  if (pattern->layout != nullptr) {
    pattern->layout_heads = op.Flag(Attribute::kLayoutByHead) ? heads : 1;
    pattern->layout_rows = op.Tensor(kLayout).rows / pattern->layout_heads;
    pattern->layout_columns = op.Tensor(kLayout).width;
  }
  // Chunks of keys as they stand are one round.
  if (pattern->chunk > 0 && pattern->rounds == 0) pattern->rounds = 1;
}

void LowerScore(const OpView& op, const AttentionSpec& spec, ScorePart* score) {
  const float usual = score->kind == Score::kDot ? 1.0f / sqrtf(static_cast<float>(spec.d_k)) : 1.0f;
  score->scale = op.F32(Attribute::kScale, usual);
  score->additive = op.Floats(kAdditive);
  score->has_self_score = op.Has(Attribute::kSelfScore);
  score->distance_bias = op.Floats(kDistanceBias);
  score->max_distance = op.HasTensor(kDistanceBias) ? op.Tensor(kDistanceBias).width / 2 : 0;
  if (!op.HasTensor(kBuckets)) return;
  score->max_distance = op.Tensor(kBuckets).width / 2;
  RelativeScores& relative = score->relative;
  relative.buckets = Integers(op, kBuckets);
  const auto table = [&](uint32_t i, const void** rows, DType* type) {
    if (!op.HasTensor(i)) return;
    *rows = op.blob->TensorRows(op.TensorIndex(i));
    *type = DType(op.Tensor(i).type);
    relative.bucket_count = op.Tensor(i).rows / spec.heads;
  };
  table(kRelativeKeys, &relative.keys, &relative.keys_type);
  table(kRelativeQueries, &relative.queries, &relative.queries_type);
}

// Attributes that become fields of the spec as they are.
#define FOVEA_NUMBER(part, field, Name, least, most) | OpAttributes(Attribute::k##Name)
#define FOVEA_REAL(part, field, Name) | OpAttributes(Attribute::k##Name)
#define FOVEA_FLAG(part, field, Name) | OpAttributes(Attribute::k##Name)
#define FOVEA_CHOICE(part, field, Name, Enum) | OpAttributes(Attribute::k##Name)
constexpr auto kPlainFields = OpAttributes()
#include "runtime/blob/attention_fields.inc"
    ;
#undef FOVEA_NUMBER
#undef FOVEA_REAL
#undef FOVEA_FLAG
#undef FOVEA_CHOICE

constexpr OpDef Define() {
  OpDef def = {
      3,
      7,
      0,
      8,
      kPlainFields | OpAttributes(Attribute::kHeads, Attribute::kKvHeads, Attribute::kScale, Attribute::kPattern,
                                  Attribute::kLeft, Attribute::kRight, Attribute::kLayoutByHead, Attribute::kGlobalKeys,
                                  Attribute::kKeyBias, Attribute::kPairBias),
      ~1u,
      Check,
      Scratch,
      Run,
      Flops};
  def.by_heads = ByHeads;
  def.share = Share::kHeads;
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

AttentionSpec AttentionSpecOf(const OpView& op) {
  AttentionSpec spec{};
  spec.heads = op.U32(Attribute::kHeads, 1);
  spec.kv_heads = op.U32(Attribute::kKvHeads, spec.heads);
  spec.d_k = op.Input(0).width / spec.heads;
  spec.d_v = op.Input(2).width / spec.kv_heads;
  FindPairing(op, &spec.pairing);
#define FOVEA_NUMBER(part, field, Name, least, most) spec.part.field = op.U32(Attribute::k##Name, least);
#define FOVEA_REAL(part, field, Name) spec.part.field = op.F32(Attribute::k##Name, 0.0f);
#define FOVEA_FLAG(part, field, Name) spec.part.field = op.Flag(Attribute::k##Name);
#define FOVEA_CHOICE(part, field, Name, Enum) spec.part.field = op.Choice(Attribute::k##Name, Enum(0));
#include "runtime/blob/attention_fields.inc"
#undef FOVEA_NUMBER
#undef FOVEA_REAL
#undef FOVEA_FLAG
#undef FOVEA_CHOICE
  LowerPattern(op, spec.heads, &spec.pattern);
  LowerScore(op, spec, &spec.score);
  if (op.HasTensor(kCoordinates)) {
    spec.positions.coordinates = Integers(op, kCoordinates);
    spec.positions.coordinate_sets = op.Tensor(kCoordinates).rows;
    spec.positions.coordinate_positions = op.Tensor(kCoordinates).width;
  }
  return spec;
}

uint32_t GlobalKeysInput(const OpView& op) { return ExtraInputs(op).global_keys; }

uint32_t KeysOfPairBias(const OpView& op) {
  const uint32_t input = ExtraInputs(op).pair_bias;
  return input == kBlobNone ? UINT32_MAX : op.Input(input).width / op.U32(Attribute::kPairBias, 0);
}

extern const OpDef kAttentionOp = Define();

}  // namespace fovea
