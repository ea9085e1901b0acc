// Attention over the keys of a segment (sequence); runtime/attention computes it.
#include "runtime/ops/attention.h"

#include <math.h>

#include <algorithm>

#include "runtime/attention/check.h"
#include "runtime/attention/features.h"
#include "runtime/blob/attributes.h"
#include "runtime/blob/op_codes.h"
#include "runtime/blob/operands.h"
#include "runtime/ops/attention_records.h"

namespace fovea {
namespace {

using In = AttentionInput;
using T = AttentionTensor;

constexpr uint32_t kMostAxes = 16;

// Limit on the buckets of one operation: checking it reads them all.
constexpr uint32_t kMostBuckets = 1u << 14;

void PlaceInputs(const OpView& view, AttentionOp* op) {
  op->key_bias = view.PlaceOf(In::kKeyBias);
  op->global_keys = view.PlaceOf(In::kGlobalKeys);
  op->clusters = view.PlaceOf(In::kClusters);
  op->centers = view.PlaceOf(In::kCenters);
  op->pair_bias = view.PlaceOf(In::kPairBias);
  op->summaries = view.PlaceOf(In::kSummaryKeys);
  op->coordinates = view.PlaceOf(In::kRowCoordinates);
}

// Finds the places of the optional inputs. Some require an attribute.
Status FindInputs(const OpView& view, Reporter& reporter, AttentionOp* op) {
  if (op->input_count > 3) PlaceInputs(view, op);
  op->pair_bias_heads = view.U32(Attribute::kPairBias, view.Has(In::kPairBias) ? 1 : 0);
  if (view.Has(In::kClusters) != (view.U32(Attribute::kRounds, 0) != 0)) {
    return reporter.Fail(FOVEA_E_RECORD, "input clusters requires attribute rounds, and rounds requires clusters");
  }
  if (view.Has(In::kCenters) != (view.Choice(Attribute::kCenters, Centers::kNone) != Centers::kNone)) {
    return reporter.Fail(FOVEA_E_RECORD, "input centers requires attribute centers, and the attribute the input");
  }
  if (view.Has(In::kPairBias) != (op->pair_bias_heads != 0)) {
    return reporter.Fail(FOVEA_E_RECORD, "attribute pair_bias requires input pair_bias");
  }
  if (view.Has(In::kSummaryKeys) != view.Has(In::kSummaryValues)) {
    return reporter.Fail(FOVEA_E_RECORD, "inputs summary_keys and summary_values must be given together");
  }
  return kOk;
}

// Whether attention is in rounds of sorted keys, or in chunks of keys in their original order.
bool Clustered(const OpView& op) { return op.U32(Attribute::kRounds, 0) > 0 || op.U32(Attribute::kChunk, 0) > 0; }

// Number of coordinate axes, clamped to the range that CheckAttentionSpec accepts for the field.
uint32_t AxesOf(const OpView& op) { return std::min(std::max(op.U32(Attribute::kAxes, 1), uint32_t{1}), kMostAxes); }

Status CheckIntegers(const OpView& op, T i, uint32_t rows, uint32_t width, Reporter& reporter) {
  if (!op.Has(i)) return kOk;
  const TensorRecord& tensor = op.Tensor(i);
  reporter.tensor = op.TensorIndex(i);
  if (DType(tensor.type) != DType::kI32) return reporter.Fail(FOVEA_E_SHAPE, "tensor must be i32", 4, tensor.type);
  if ((rows != 0 && tensor.rows != rows) || (width != 0 && tensor.width != width)) {
    return reporter.Fail(FOVEA_E_SHAPE, "tensor has the wrong shape", rows, tensor.rows);
  }
  reporter.tensor = FOVEA_NOWHERE;
  return kOk;
}

// Reads the fields of the spec that are plain attributes, and checks rules that involve no field of it.
Status ReadFields(const OpView& op, Reporter& reporter, AttentionSpec* spec) {
#define FOVEA_NUMBER(part, field, Name, least, most) spec->part.field = op.U32(Attribute::k##Name, least);
#define FOVEA_REAL(part, field, Name) spec->part.field = op.F32(Attribute::k##Name, 0.0f);
#define FOVEA_FLAG(part, field, Name) spec->part.field = op.Flag(Attribute::k##Name);
#define FOVEA_CHOICE(part, field, Name, Enum) \
  FOVEA_TRY(ReadChoice(op, Attribute::k##Name, "unknown " #field " of " #part, reporter, &spec->part.field));
#include "runtime/blob/attention_fields.inc"
#undef FOVEA_NUMBER
#undef FOVEA_REAL
#undef FOVEA_FLAG
#undef FOVEA_CHOICE
  if (!Weighs(spec->weighting.kind)) {
    return reporter.Fail(FOVEA_E_OP, "this activation cannot be a weighting of scores", 0,
                         static_cast<uint32_t>(spec->weighting.kind));
  }
  PatternKind kind = PatternKind::kFull;
  FOVEA_TRY(ReadChoice(op, Attribute::kPattern, "unknown attention pattern", reporter, &kind));
  if (kind != PatternKind::kWindow && (op.Has(Attribute::kLeft) || op.Has(Attribute::kRight))) {
    return reporter.Fail(FOVEA_E_OP, "left and right require the window pattern",
                         static_cast<uint32_t>(PatternKind::kWindow), static_cast<uint32_t>(kind));
  }
  // New queries that continue a sequence whose keys are in the KV cache.
  const SpaceRecord& keys = op.InputSpace(1);
  const bool goes_on = keys.kind == SpaceKind::kCached && keys.source == op.Input(0).space;
  if (goes_on && !op.Has(Attribute::kOrigin)) spec->positions.origin = Origin::kEnd;
  if (goes_on && spec->positions.origin != Origin::kEnd) {
    return reporter.Fail(FOVEA_E_OP, "queries over cached keys must come after earlier ones (origin end)",
                         static_cast<uint32_t>(Origin::kEnd), static_cast<uint32_t>(spec->positions.origin));
  }
  if (spec->positions.origin == Origin::kStarts) {
    return reporter.Fail(FOVEA_E_OP, "origin starts is not supported in programs");
  }
  return kOk;
}

// Checks types and shapes of the tensors that become parts of the spec, and rejects a number that would mean a default
// there. CheckAttentionSpec checks everything else.
Status CheckTensors(const OpView& op, uint32_t heads, uint32_t d_k, Reporter& reporter) {
  FOVEA_TRY(CheckIntegers(op, T::kHeadWindows, heads, 3, reporter));
  if (op.Has(T::kHeadWindows) && op.Choice(Attribute::kPattern, PatternKind::kFull) != PatternKind::kWindow) {
    return reporter.Fail(FOVEA_E_SHAPE, "head_windows requires the window pattern",
                         static_cast<uint32_t>(PatternKind::kWindow));
  }
  FOVEA_TRY(CheckIntegers(op, T::kLayout, 0, 0, reporter));
  if (op.Has(T::kLayout) && op.Flag(Attribute::kLayoutByHead) && op.Tensor(T::kLayout).rows % heads != 0) {
    return reporter.Fail(FOVEA_E_SHAPE, "layout has the wrong shape", heads, op.Tensor(T::kLayout).rows);
  }
  FOVEA_TRY(CheckFloats(op, T::kAdditive, heads, d_k, reporter));
  FOVEA_TRY(CheckFloats(op, T::kSlopes, 1, heads, reporter));
  FOVEA_TRY(CheckFloats(op, T::kSinks, 1, heads, reporter));
  const uint32_t tables = AxesOf(op) * heads;
  uint32_t width = 0;
  if (op.Has(T::kDistanceBias)) {
    width = op.Tensor(T::kDistanceBias).width;
    if (width % 2 == 0) return reporter.Fail(FOVEA_E_SHAPE, "distance bias must have an odd width", 1, width);
    FOVEA_TRY(CheckFloats(op, T::kDistanceBias, tables, width, reporter));
  }
  const bool relative = op.Has(T::kRelativeKeys) || op.Has(T::kRelativeQueries);
  if (relative != op.Has(T::kBuckets)) {
    return reporter.Fail(FOVEA_E_SHAPE, "relative scores require buckets, and buckets require relative scores");
  }
  if (relative) {
    FOVEA_TRY(CheckIntegers(op, T::kBuckets, 1, width, reporter));
    if (op.Tensor(T::kBuckets).width % 2 == 0 || op.Tensor(T::kBuckets).width > kMostBuckets) {
      return reporter.Fail(FOVEA_E_SHAPE, "table of buckets must have an odd width", kMostBuckets,
                           op.Tensor(T::kBuckets).width);
    }
    const uint32_t rows = op.Tensor(op.Has(T::kRelativeKeys) ? T::kRelativeKeys : T::kRelativeQueries).rows;
    if (rows % tables != 0)
      return reporter.Fail(FOVEA_E_SHAPE, "rows of relative scores must be a multiple of heads and axes", tables, rows);
    for (const T i : {T::kRelativeKeys, T::kRelativeQueries}) {
      FOVEA_TRY(CheckFloats(op, i, rows, d_k, reporter, true));
      if (op.Has(i)) FOVEA_TRY(CheckWeights(DType(op.Tensor(i).type), reporter));
    }
  }
  return CheckIntegers(op, T::kCoordinates, 0, 0, reporter);
}

// Keys and values that summarize groups of keys and values: their space is made from the keys' space by strides, which
// leave out incomplete groups. Summaries cannot be masked, so biases of keys and pairs, which could, are rejected.
Status LowerSummaries(const OpView& view, Reporter& reporter, AttentionOp* op) {
  const bool biased = view.Has(T::kSummaryBias);
  if (op->summaries == kBlobNone) {
    return biased ? reporter.Fail(FOVEA_E_SHAPE, "tensor summary_bias requires summaries") : kOk;
  }
  const OpValue &keys = op->inputs[op->summaries], &values = op->inputs[op->summaries + 1];
  const SpaceRecord& space = view.InputSpace(In::kSummaryKeys);
  if (space.kind != SpaceKind::kStrided || space.source != op->keys().space || space.first != 0 ||
      space.extra != uint32_t{space.last} + 1 || op->queries().space != op->keys().space ||
      values.space != keys.space) {
    return reporter.Fail(FOVEA_E_SHAPE, "summaries must be in a space of whole groups of the keys' rows",
                         op->keys().space, keys.space);
  }
  if (keys.width != op->keys().width || values.width != op->inputs[2].width) {
    return reporter.Fail(FOVEA_E_SHAPE, "summaries must be as wide as keys and values", op->keys().width, keys.width);
  }
  if (keys.type != op->key_type || values.type != op->key_type || op->key_type == DType::kI8) {
    return reporter.Fail(FOVEA_E_SHAPE, "summaries must have the type of keys and values, and not int8",
                         static_cast<uint32_t>(op->key_type), static_cast<uint32_t>(keys.type));
  }
  if (op->key_bias != kBlobNone || op->pair_bias != kBlobNone) {
    return reporter.Fail(FOVEA_E_OP, "summaries cannot be combined with key_bias or pair_bias");
  }
  SummaryPart& part = op->spec.summaries;
  part.group = space.extra;
  if (!biased) return kOk;
  const uint32_t width = view.Tensor(T::kSummaryBias).width;
  if (width % 2 == 0) return reporter.Fail(FOVEA_E_SHAPE, "distance bias must have an odd width", 1, width);
  FOVEA_TRY(CheckFloats(view, T::kSummaryBias, op->heads, width, reporter));
  part.bias = view.Floats(T::kSummaryBias);
  part.max_distance = width / 2;
  return kOk;
}

Status CheckExtraInputs(const OpView& op, const AttentionOp& extra, uint32_t heads, Reporter& reporter) {
  const uint32_t keys = op.Input(1).space;
  if (extra.key_bias != kBlobNone) {
    const ValueRecord& bias = op.Input(In::kKeyBias);
    if (DType(bias.type) != DType::kF32 || bias.space != keys || (bias.width != 1 && bias.width != heads)) {
      return reporter.Fail(FOVEA_E_SHAPE, "key_bias must have one number for each key, or one for each head", heads,
                           bias.width);
    }
  }
  if (extra.centers != kBlobNone) {
    const ValueRecord& centers = op.Input(In::kCenters);
    if (DType(centers.type) != DType::kF32 || centers.space != op.Input(0).space || centers.width != 1) {
      return reporter.Fail(FOVEA_E_SHAPE, "centers must have one number for each query", 1, centers.width);
    }
  }
  if (extra.global_keys != kBlobNone) {
    FOVEA_TRY(CheckSelection(op, In::kGlobalKeys, keys, reporter));
    if (op.InputSpace(In::kGlobalKeys).parent != op.InputSpace(1).parent) {
      return reporter.Fail(FOVEA_E_SHAPE, "global keys must be in the segments of the keys", op.InputSpace(1).parent,
                           op.InputSpace(In::kGlobalKeys).parent);
    }
  }
  if (extra.pair_bias != kBlobNone) {
    const ValueRecord& pairs = op.Input(In::kPairBias);
    const uint32_t of = extra.pair_bias_heads;
    if (DType(pairs.type) != DType::kF32 || pairs.space != op.Input(0).space || (of != 1 && of != heads) ||
        pairs.width % of != 0 || pairs.width / of < CertainRows(*op.blob, op.InputSpace(1))) {
      return reporter.Fail(FOVEA_E_SHAPE, "pair_bias must have a number for each key of the segment (and head)", heads,
                           pairs.width);
    }
  }
  if (extra.clusters != kBlobNone) {
    const OperationRecord* sorted_by = op.Maker(In::kClusters);
    const uint64_t columns = uint64_t{heads} * op.U32(Attribute::kRounds, 0);
    if (sorted_by == nullptr || OpCode(sorted_by->code) != OpCode::kSort || op.Input(In::kClusters).space != keys ||
        op.Input(In::kClusters).width != 2 * columns) {
      return reporter.Fail(FOVEA_E_SHAPE, "clusters must be sorted keys with a column for each head and round",
                           2 * columns, op.Input(In::kClusters).width);
    }
  }
  if (op.Has(T::kCoordinates)) {
    const SpaceRecord& space = op.InputSpace(1);
    if (op.Input(0).space != keys || space.kind != SpaceKind::kFixed ||
        space.extra > op.Tensor(T::kCoordinates).width) {
      return reporter.Fail(FOVEA_E_SHAPE, "coordinates require queries and keys in one space with fixed segments",
                           op.Tensor(T::kCoordinates).width, space.extra);
    }
    const uint32_t axes = AxesOf(op), rows = op.Tensor(T::kCoordinates).rows;
    if (rows % axes != 0) return reporter.Fail(FOVEA_E_SHAPE, "coordinates must have a row for each axis", axes, rows);
  }
  if (extra.coordinates != kBlobNone) {
    const ValueRecord& coordinates = op.Input(In::kRowCoordinates);
    const uint32_t axes = AxesOf(op);
    if (DType(coordinates.type) != DType::kF32 || coordinates.space != keys || op.Input(0).space != keys ||
        coordinates.width != axes) {
      return reporter.Fail(FOVEA_E_SHAPE,
                           "row_coordinates must have a number for each axis, and queries must be the keys", axes,
                           coordinates.width);
    }
  }
  if ((op.Has(Attribute::kSelfScore) || Clustered(op)) && op.Input(0).space != keys) {
    return reporter.Fail(FOVEA_E_SHAPE, "queries and keys must be rows of one space", keys, op.Input(0).space);
  }
  return kOk;
}

// Finds the type in which keys and values are stored; it must be the same for both.
bool FindKeyType(const OpView& op, DType* type) {
  *type = DType(op.Input(1).type);
  const bool known = *type == DType::kF32 || *type == DType::kF16 || *type == DType::kBf16 || *type == DType::kI8;
  return known && op.Input(1).type == op.Input(2).type;
}

// Checks that input i has a scale for each of `heads` parts of a row.
Status CheckScales(const OpView& op, uint32_t i, uint32_t heads, Reporter& reporter) {
  const uint32_t parts = op.InputParts(i);
  if (parts == heads) return kOk;
  return reporter.Fail(FOVEA_E_SHAPE, "int8 keys and values must have a scale for each head", heads, parts);
}

// Derives how queries are paired with keys from the spaces of both.
bool FindPairing(const OpView& op, AttentionOp* to) {
  Pairing* const pairing = &to->spec.pairing;
  const uint32_t query = op.Input(0).space, key = op.Input(1).space;
  const uint32_t query_parent = op.blob->spaces[query].parent, key_parent = op.blob->spaces[key].parent;
  if (query == key || (query_parent == key_parent && query_parent != kBlobNone)) {
    *pairing = Pairing::kPaired;
    return true;
  }
  if (key_parent == query) {
    *pairing = Pairing::kParent;
    return true;
  }
  // The keys of the ancestor row that contains the query's segment, one or more levels up.
  *pairing = Pairing::kPaired;
  for (uint32_t space = query_parent; space != kBlobNone; space = op.blob->spaces[space].parent) {
    if (space == key_parent) return true;
    to->above[to->levels++] = space;
  }
  return false;
}

// Lowers the parts of a pattern that are not plain fields.
void LowerPattern(const OpView& op, uint32_t heads, Pattern* pattern) {
  const PatternKind kind = op.Choice(Attribute::kPattern, PatternKind::kFull);
  pattern->has_window = kind != PatternKind::kNone;
  if (kind == PatternKind::kWindow) {
    pattern->left = op.U32(Attribute::kLeft, kUnbounded);
    pattern->right = op.U32(Attribute::kRight, kUnbounded);
    pattern->head_windows = op.Indices(T::kHeadWindows);
  }
  pattern->global_keys = op.Has(In::kGlobalKeys);
  pattern->layout = op.Indices(T::kLayout);
  if (pattern->layout != nullptr) {
    pattern->layout_heads = op.Flag(Attribute::kLayoutByHead) ? heads : 1;
    pattern->layout_rows = op.Tensor(T::kLayout).rows / pattern->layout_heads;
    pattern->layout_columns = op.Tensor(T::kLayout).width;
  }
  // Chunks of keys in their original order are one round.
  if (pattern->chunk > 0 && pattern->rounds == 0) pattern->rounds = 1;
}

// Whether products may be shorter although the operation does not specify a type: their error is small beside that of
// integer weights. Not where rows see keys of another space or of earlier runs, so that a decoder's steps have the bits
// of its prefill.
bool MayRound(const OpView& op, const AttentionSpec& spec) {
  if constexpr (kRounded != Products::kF32) {
    if (op.Has(Attribute::kProducts) || spec.score.kind != Score::kDot || spec.pattern.causal ||
        spec.pattern.rounds > 0 || op.Input(0).space != op.Input(1).space) {
      return false;
    }
    for (uint32_t i = 0; i < op.blob->tensors.count; ++i) {
      const DType type{op.blob->tensors[i].type};
      if (type == DType::kI8 || type == DType::kI4) return true;
    }
  }
  return false;
}

void LowerScore(const OpView& op, const AttentionSpec& spec, ScorePart* score) {
  const float usual = score->kind == Score::kDot ? 1.0f / sqrtf(static_cast<float>(spec.d_k)) : 1.0f;
  score->scale = op.F32(Attribute::kScale, usual);
  score->may_round = MayRound(op, spec);
  score->additive = op.Floats(T::kAdditive);
  score->slopes = op.Floats(T::kSlopes);
  score->has_self_score = op.Has(Attribute::kSelfScore);
  score->distance_bias = op.Floats(T::kDistanceBias);
  score->max_distance = op.Has(T::kDistanceBias) ? op.Tensor(T::kDistanceBias).width / 2 : 0;
  if (!op.Has(T::kBuckets)) return;
  score->max_distance = op.Tensor(T::kBuckets).width / 2;
  RelativeScores& relative = score->relative;
  relative.buckets = op.Indices(T::kBuckets);
  const auto table = [&](T i, const void** rows, DType* type) {
    if (!op.Has(i)) return;
    *rows = op.blob->TensorRows(op.TensorIndex(i));
    *type = DType(op.Tensor(i).type);
    relative.bucket_count = op.Tensor(i).rows / (AxesOf(op) * spec.heads);
  };
  table(T::kRelativeKeys, &relative.keys, &relative.keys_type);
  table(T::kRelativeQueries, &relative.queries, &relative.queries_type);
}

// Keys in a paged KV cache: features that read arbitrary keys, or the last ones, cannot be combined with them; nor can
// windows that reach further back than keys are kept.
Status CheckCached(const OpView& op, const AttentionSpec& spec, Reporter& reporter) {
  const SpaceRecord& space = op.InputSpace(1);
  if (space.kind != SpaceKind::kCached) return kOk;
  const Pattern& pattern = spec.pattern;
  if (pattern.rounds > 0 || pattern.global_last > 0 || pattern.global_keys || op.Has(In::kKeyBias)) {
    return reporter.Fail(FOVEA_E_OP,
                         "cached keys cannot be combined with clusters, global_last, global_keys or key_bias");
  }
  if (space.extra == 0) return kOk;
  const bool window = pattern.has_window && pattern.head_windows == nullptr && pattern.centers == Centers::kNone &&
                      pattern.dilation == 1 && pattern.block == 1 && pattern.full_up_to == 0 &&
                      pattern.global_first == 0 && pattern.layout == nullptr;
  if (window && pattern.left <= space.extra) return kOk;
  return reporter.Fail(FOVEA_E_OP, "the window is longer than the keys that are kept", space.extra, pattern.left);
}

// Lowers everything in the spec except its plain fields.
void LowerSpec(const OpView& op, AttentionSpec* spec) {
  LowerPattern(op, spec->heads, &spec->pattern);
  LowerScore(op, *spec, &spec->score);
  spec->weighting.sinks = op.Floats(T::kSinks);
  spec->positions.row_coordinates = op.Has(In::kRowCoordinates);
  if (!op.Has(T::kCoordinates)) return;
  spec->positions.coordinates = op.Indices(T::kCoordinates);
  spec->positions.coordinate_sets = op.Tensor(T::kCoordinates).rows / AxesOf(op);
  spec->positions.coordinate_positions = op.Tensor(T::kCoordinates).width;
}

// Checks and lowers spaces, heads and widths of queries, keys and values.
Status LowerShapes(const OpView& view, Reporter& reporter, AttentionOp* op) {
  FOVEA_TRY(CheckF32(view, 0, reporter));
  if (!FindKeyType(view, &op->key_type)) {
    return reporter.Fail(FOVEA_E_SHAPE, "keys and values must have one type: f32, f16, bf16 or int8",
                         view.Input(1).type, view.Input(2).type);
  }
  AttentionSpec& spec = op->spec;
  const OpValue &q = op->inputs[0], &k = op->inputs[1], &v = op->inputs[2];
  if (k.space != v.space || !FindPairing(view, op)) {
    return reporter.Fail(FOVEA_E_SHAPE, "spaces of queries, keys and values do not match", q.space, k.space);
  }
  const uint32_t heads = view.U32(Attribute::kHeads, 1), kv_heads = view.U32(Attribute::kKvHeads, heads);
  if (heads == 0 || kv_heads == 0 || heads % kv_heads != 0 || q.width % heads != 0) {
    return reporter.Fail(FOVEA_E_SHAPE, "kv_heads must divide heads, and heads the width of the queries", heads,
                         kv_heads);
  }
  spec.heads = op->heads = heads;
  spec.kv_heads = op->kv_heads = kv_heads;
  spec.d_k = q.width / heads;
  if (k.width != uint64_t{kv_heads} * spec.d_k) {
    return reporter.Fail(FOVEA_E_SHAPE, "keys have the wrong width", uint64_t{kv_heads} * spec.d_k, k.width);
  }
  spec.d_v = v.width / kv_heads;
  if (v.width % kv_heads != 0) {
    return reporter.Fail(FOVEA_E_SHAPE, "kv_heads must divide the width of the values", kv_heads, v.width);
  }
  // A session may store cached rows as int8 regardless of their type in the program.
  const bool scaled = op->key_type == DType::kI8 || view.InputSpace(1).kind == SpaceKind::kCached;
  for (uint32_t i = 1; i < 3 && scaled; ++i) FOVEA_TRY(CheckScales(view, i, kv_heads, reporter));
  return kOk;
}

Status Lower(const OpView& view, Reporter& reporter, AttentionOp* op) {
  FOVEA_TRY(LowerAttention(view, reporter, op));
  if (op->output.space != op->queries().space) {
    return reporter.FailSpace("output must be in the space of the queries", op->queries().space, op->output.space);
  }
  FOVEA_TRY(MakeWidth(uint64_t{op->heads} * op->spec.d_v, reporter, op));
  // A tile of neighbouring rows would attend to nearly all chunks of sorted keys.
  if (op->clusters != kBlobNone) op->unit = Unit::kHeads;
  return kOk;
}

uint64_t Scratch(const AttentionOp& op, uint32_t tile_rows) { return AttentionScratchBytes(op.spec, tile_rows); }

// Sets the layout of heads of keys or values stored at `data`, and of their scales.
void SetRows(const OpValue& value, DType type, const void* data, uint32_t heads, HeadRows* rows, HeadRows* scales) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  const bool scaled = type == DType::kI8;
  const size_t row_bytes = type == value.type ? value.row_bytes : ValueRowBytes(type, value.width, heads);
  if (scaled) *scales = {bytes, row_bytes, sizeof(float), 0};
  *rows = {bytes + (scaled ? heads * sizeof(float) : 0), row_bytes,
           static_cast<size_t>(RowBytes(type, value.width / heads)), 0};
}

// Sets the inputs after q, k and v.
void SetExtraInputs(const AttentionOp& op, const OpRun& run, AttentionCall* call) {
  if (op.key_bias != kBlobNone) {
    const uint32_t width = op.inputs[op.key_bias].width;
    call->key_bias = {run.Input(op.key_bias), width * sizeof(float), width > 1 ? sizeof(float) : 0, 0};
  }
  if (op.global_keys != kBlobNone) {
    call->global_keys.rows = reinterpret_cast<const uint32_t*>(run.Indices(op.global_keys));
    call->global_keys.segments = run.SegmentsOf(op.inputs[op.global_keys]);
  }
  if (op.clusters != kBlobNone) {
    const size_t columns = size_t{op.spec.heads} * op.spec.pattern.rounds;
    call->clusters = {run.Indices(op.clusters), run.Indices(op.clusters) + columns, 2 * columns};
  }
  if (op.centers != kBlobNone) {
    call->centers = {run.Input(op.centers), sizeof(float)};
  }
  if (op.coordinates != kBlobNone) call->row_coordinates = run.Input(op.coordinates);
  if (op.pair_bias != kBlobNone) {
    const uint32_t of = op.pair_bias_heads, width = op.inputs[op.pair_bias].width;
    const size_t row = width * sizeof(float);
    call->pair_bias = {run.Input(op.pair_bias), false, width / of, row, of > 1 ? row / of : 0, PairBias::kByRow};
  }
  if (op.summaries != kBlobNone) {
    const auto set = [&](uint32_t i, HeadRows* rows) {
      SetRows(op.inputs[i], op.key_type, run.inputs[i], op.kv_heads, rows, nullptr);
    };
    set(op.summaries, &call->summaries.k);
    set(op.summaries + 1, &call->summaries.v);
    call->summaries.segments = run.SegmentsOf(op.inputs[op.summaries]);
  }
}

Status Run(const AttentionOp& op, const OpRun& run) {
  const AttentionSpec& spec = op.spec;
  AttentionCall call{};
  Segments above[kMaxSpaceDepth];
  SetAttentionCall(op, run, above, &call);
  call.row_begin = run.row_begin;
  call.row_end = run.row_end;
  const size_t before = op.unit == Unit::kHeads ? run.row_begin : 0;  // rows of inputs and output before the tile
  call.q.data = run.Input(0) + before * spec.heads * spec.d_k;
  call.out = DenseHeads<void>(run.output + before * spec.heads * spec.d_v, spec.heads, spec.d_v);
  call.weights = run.weights;
  RunAttention(*run.kernels, call);
  return kOk;
}

double Flops(const AttentionOp&) { return 0; }  // counted per key, see AttentionSpec

}  // namespace

AttentionFeatures FeaturesOf(const AttentionOp& op) {
  AttentionFeatures features = FeaturesOf(op.spec);
  if (op.key_bias != kBlobNone) features |= Bit(AttentionFeature::kKeyBias);
  if (op.pair_bias != kBlobNone) features |= Bit(AttentionFeature::kPairBias);
  if (op.summaries != kBlobNone) features |= Bit(AttentionFeature::kSummaries);
  return features;
}

Status LowerAttention(const OpView& view, Reporter& reporter, AttentionOp* op) {
  FOVEA_TRY(LowerShapes(view, reporter, op));
  FOVEA_TRY(ReadFields(view, reporter, &op->spec));
  FOVEA_TRY(FindInputs(view, reporter, op));
  LowerSpec(view, &op->spec);
  FOVEA_TRY(CheckFeatures(FeaturesOf(*op), reporter));
  if constexpr (!kAttendsPlainly) {
    FOVEA_TRY(CheckTensors(view, op->heads, op->spec.d_k, reporter));
    FOVEA_TRY(CheckExtraInputs(view, *op, op->heads, reporter));
    FOVEA_TRY(LowerSummaries(view, reporter, op));
  }
  FOVEA_TRY(CheckCached(view, op->spec, reporter));
  return CheckAttentionSpec(op->spec, view.shapes_only, FOVEA_E_SHAPE, reporter);
}

// Attributes that came with an input before inputs had numbers.
static bool AnnouncesInput(Attribute key) {
  return key == Attribute::kKeyBias || key == Attribute::kGlobalKeys || key == Attribute::kRounds ||
         key == Attribute::kCenters || key == Attribute::kPairBias || key == Attribute::kSummaries ||
         key == Attribute::kRowCoordinates;
}

// A record with input numbers that has all inputs up to the last has more inputs than its attributes announce, since
// key_bias is the first optional input.
Status FormerAttentionInputs(const OpView& view, Reporter& reporter, uint32_t* inputs, uint32_t* count) {
  bool announced = false;
  for (uint32_t i = 0; i < view.record->attribute_count; ++i) {
    const AttributeRecord& attribute = view.blob->attributes[view.record->first_attribute + i];
    announced = announced || (attribute.bits != 0 && AnnouncesInput(static_cast<Attribute>(attribute.key)));
  }
  if (!announced) return kOk;
  const uint32_t given = view.record->input_count;
  uint32_t next = 3;
  bool by_flag = false, numbered = false;
  for (uint32_t i = 0; i < kAttentionInputs; ++i) inputs[i] = i < 3 ? view.InputIndex(i) : kBlobNone;
  const auto take = [&](In input, bool given_by) {
    if (given_by) inputs[static_cast<uint32_t>(input)] = view.InputIndex(next++);
  };
  const auto flag = [&](In input, Attribute key) {
    by_flag = by_flag || view.Flag(key);
    take(input, view.Flag(key));
  };
  flag(In::kKeyBias, Attribute::kKeyBias);
  flag(In::kGlobalKeys, Attribute::kGlobalKeys);
  take(In::kClusters, view.U32(Attribute::kRounds, 0) != 0);
  take(In::kCenters, view.Choice(Attribute::kCenters, Centers::kNone) != Centers::kNone);
  take(In::kPairBias, view.U32(Attribute::kPairBias, 0) != 0);
  flag(In::kSummaryKeys, Attribute::kSummaries);
  flag(In::kSummaryValues, Attribute::kSummaries);
  flag(In::kRowCoordinates, Attribute::kRowCoordinates);
  for (uint32_t i = 3; i < given; ++i) numbered = numbered || view.InputIndex(i) == kBlobNone;
  *count = next == given && !numbered ? kAttentionInputs : 0;
  if (!by_flag || *count != 0) return kOk;
  return reporter.Fail(FOVEA_E_RECORD, "inputs do not match the attributes", next, given);
}

void SetAttentionCall(const AttentionOp& op, const OpRun& run, Segments (&above)[kMaxSpaceDepth], AttentionCall* call) {
  const AttentionSpec& spec = op.spec;
  call->spec = &spec;
  call->layout = static_cast<const AttentionLayout*>(run.placed);
  call->query_segments = run.SegmentsOf(op.queries());
  call->key_segments = run.SegmentsOf(op.keys());
  for (uint32_t i = 0; i < op.levels; ++i) above[i] = run.spaces[op.above[i]].segments;
  call->above = above;
  call->levels = op.levels;
  call->head_begin = run.head_begin;
  call->head_end = run.head_end;
  call->tile_rows = run.tile_rows;
  call->q = DenseHeads<const void>(run.Input(0), spec.heads, spec.d_k);
  call->key_type = run.TypeOf(op.keys());
  call->key_pages = run.spaces[op.keys().space].pages;
  SetRows(op.inputs[1], call->key_type, run.inputs[1], spec.kv_heads, &call->k, &call->k_scales);
  SetRows(op.inputs[2], call->key_type, run.inputs[2], spec.kv_heads, &call->v, &call->v_scales);
  if constexpr (!kAttendsPlainly) SetExtraInputs(op, run, call);
  call->scratch = run.scratch;
}

void PlaceAttention(const AttentionOp& op, uint32_t tile_rows, void* memory) {
  new (memory) AttentionLayout(LayOutAttention(op.spec, tile_rows));
}

SegmentLimit KeyLimit(const AttentionOp& op) {
  const uint32_t keys = op.pair_bias == kBlobNone ? UINT32_MAX : op.inputs[op.pair_bias].width / op.pair_bias_heads;
  return {op.keys().space, keys};
}

const AttentionOp* AsAttention(const Op& op) {
  return op.def == FindOp(static_cast<uint32_t>(OpCode::kAttention)) ? static_cast<const AttentionOp*>(&op) : nullptr;
}

extern const OpDef kAttentionOp = DefineOp<OpCode::kAttention, Lower, Run>([](OpDef& def) {
  def.attributes = kAttentionAttributes;
  def.former_inputs = FormerAttentionInputs;
  def.whole = {1, kAnyNumber};
  def.cached = {1, 3};
  def.share = Share::kHeads;
  def.scratch = OfOp<Scratch>::Call;
  def.placed_bytes = sizeof(AttentionLayout);
  def.place = OfOp<PlaceAttention>::Call;
  def.segment_limit = OfOp<KeyLimit>::Call;
  def.flops_per_row = OfOp<Flops>::Call;
});

}  // namespace fovea
