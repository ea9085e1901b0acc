// Implements fovea/attention.h: turns the caller's options into a spec and a call; runtime/attention checks and runs
// them.
#include "fovea/attention.h"

#include <math.h>

#include <initializer_list>

#include "runtime/api/attention_views.h"
#include "runtime/api/handles.h"
#include "runtime/attention/check.h"
#include "runtime/attention/count.h"
#include "runtime/attention/features.h"
#include "runtime/attention/parallel.h"
#include "runtime/blob/included.h"
#include "runtime/kernels/kernels.h"
#include "runtime/parallel/tiles.h"

namespace fovea {
namespace {

static_assert(FOVEA_SCORE_ADDITIVE == static_cast<int>(Score::kAdditive) &&
                  FOVEA_PRODUCTS_I8 == static_cast<int>(Products::kI8) &&
                  FOVEA_PRODUCTS_I16 == static_cast<int>(Products::kI16) &&
                  FOVEA_WEIGHTING_SIGMOID == static_cast<int>(Activation::kSigmoid) &&
                  FOVEA_WEIGHTING_SILU == static_cast<int>(Activation::kSilu) &&
                  FOVEA_TYPE_I8 == static_cast<int>(DType::kI8) && FOVEA_TYPE_F16 == static_cast<int>(DType::kF16) &&
                  FOVEA_TYPE_BF16 == static_cast<int>(DType::kBf16) &&
                  FOVEA_CENTERS_FRACTIONS == static_cast<int>(Centers::kFractions) &&
                  FOVEA_ORIGIN_END == static_cast<int>(Origin::kEnd) &&
                  FOVEA_PAIRING_ROWS == static_cast<int>(Pairing::kParent) && FOVEA_UNBOUNDED == kUnbounded,
              "the interface and the engine must use equal numbers");

// Rows per tile for which the engine's chunks are full.
constexpr uint32_t kDefaultTileRows = 256;
// Clustered attention in several rounds packs all keys anew for each tile, so tiles are larger.
constexpr uint32_t kDefaultRoundRows = 1u << 14;
constexpr uint32_t kMostTileRows = 1u << 20;

// The caller's structs, read from any version.
struct Given {
  fovea_attention_options options;
  fovea_attention_pattern pattern;
  fovea_attention_score score;
  fovea_attention_weighting weighting;
  fovea_attention_positions positions;
  fovea_attention_kept kept;
  fovea_attention_summaries summaries;
};

// The options as a call, without views and scratch.
struct Request {
  Given given;
  AttentionSpec spec{};
  AttentionCall call{};
  AttentionRows rows{};
  AttentionWorkers workers{};
  WeightSink kept{};
  // Defaults for a single segment.
  uint32_t one_query_segment[2] = {0, 0}, one_key_segment[2] = {0, 0}, one_list[2] = {0, 0};
  uint32_t one_summary_segment[2] = {0, 0};

  const WeightSink* sink() const { return given.kept.values != nullptr ? &kept : nullptr; }
};

uint32_t Or(uint32_t value, uint32_t otherwise) { return value == 0 ? otherwise : value; }

Status ReadStructs(const fovea_attention_options* from, Given* given, Reporter& reporter) {
  if (from == nullptr) return reporter.Fail(FOVEA_E_NULL, "options is NULL");
  FOVEA_TRY(ReadStruct(from, &given->options, reporter));
  FOVEA_TRY(ReadStruct(given->options.pattern, &given->pattern, reporter));
  FOVEA_TRY(ReadStruct(given->options.score, &given->score, reporter));
  FOVEA_TRY(ReadStruct(given->options.weighting, &given->weighting, reporter));
  FOVEA_TRY(ReadStruct(given->options.positions, &given->positions, reporter));
  FOVEA_TRY(ReadStruct(given->options.summaries, &given->summaries, reporter));
  return ReadStruct(given->options.kept, &given->kept, reporter);
}

// Reads the plain fields of all parts.
Status ReadFields(const Given& given, AttentionSpec* spec, Reporter& reporter) {
#define FOVEA_NUMBER(part, field, Name, least, most) \
  spec->part.field = given.part.field == 0 ? (least) : given.part.field;
#define FOVEA_REAL(part, field, Name) spec->part.field = given.part.field;
#define FOVEA_FLAG(part, field, Name)                                                                            \
  if (given.part.field > 1) return reporter.Fail(FOVEA_E_OPTION, #field " must be 0 or 1", 1, given.part.field); \
  spec->part.field = given.part.field != 0;
#define FOVEA_CHOICE(part, field, Name, Enum) spec->part.field = Enum(given.part.field);
#include "runtime/blob/attention_fields.inc"
#undef FOVEA_NUMBER
#undef FOVEA_REAL
#undef FOVEA_FLAG
#undef FOVEA_CHOICE
  return kOk;
}

Status ReadPattern(const fovea_attention_pattern& given, uint32_t heads, Pattern* pattern, Reporter& reporter) {
  if (given.window > FOVEA_WINDOW_NONE) {
    return reporter.Fail(FOVEA_E_OPTION, "unknown kind of window", FOVEA_WINDOW_NONE, given.window);
  }
  const bool sides = given.window == FOVEA_WINDOW_SIDES;
  if (!sides && (given.left != 0 || given.right != 0 || given.head_windows != nullptr)) {
    return reporter.Fail(FOVEA_E_OPTION, "left, right and head_windows need FOVEA_WINDOW_SIDES", FOVEA_WINDOW_SIDES,
                         given.window);
  }
  if (given.global_key_count > 0 && given.global_keys == nullptr) {
    return reporter.Fail(FOVEA_E_NULL, "global_keys is NULL", given.global_key_count, 0);
  }
  if (given.layout == nullptr && (given.layout_rows != 0 || given.layout_columns != 0)) {
    return reporter.Fail(FOVEA_E_NULL, "layout is NULL", given.layout_rows, 0);
  }
  if ((given.center_values == nullptr) != (given.centers == FOVEA_CENTERS_NONE)) {
    return reporter.Fail(FOVEA_E_NULL, "centers and center_values need each other", given.centers, 0);
  }
  if ((given.order == nullptr) != (given.rank == nullptr) || (given.rounds > 1 && given.order == nullptr)) {
    return reporter.Fail(FOVEA_E_NULL, "a clustered pattern needs both order and rank");
  }
  const uint64_t columns = uint64_t{heads} * given.rounds;
  if (given.cluster_stride != 0 && given.cluster_stride < columns) {
    return reporter.Fail(FOVEA_E_OPTION, "cluster_stride is less than heads * rounds", columns, given.cluster_stride);
  }
  pattern->has_window = given.window != FOVEA_WINDOW_NONE;
  if (sides) {
    pattern->left = given.left;
    pattern->right = given.right;
    pattern->head_windows = given.head_windows;
  }
  pattern->global_keys = given.global_key_count > 0;
  pattern->layout = given.layout;
  pattern->layout_heads = Or(given.layout_heads, 1);
  pattern->layout_rows = given.layout_rows;
  pattern->layout_columns = given.layout_columns;
  return kOk;
}

Status ReadScore(const fovea_attention_score& given, uint32_t d_k, ScorePart* score, Reporter& reporter) {
  if (given.has_self_score > 1) {
    return reporter.Fail(FOVEA_E_OPTION, "has_self_score must be 0 or 1", 1, given.has_self_score);
  }
  const float usual = score->kind == Score::kDot && d_k > 0 ? 1.0f / sqrtf(static_cast<float>(d_k)) : 1.0f;
  score->scale = given.scale != 0.0f ? given.scale : usual;
  score->additive = given.additive;
  score->max_distance = given.max_distance;
  score->distance_bias = given.distance_bias;
  score->slopes = given.slopes;
  score->relative = {given.relative_keys, given.relative_queries, given.buckets, given.bucket_count, DType::kF32,
                     DType::kF32};
  score->has_self_score = given.has_self_score != 0;
  return kOk;
}

Status ReadSummaryPart(const fovea_attention_summaries& given, SummaryPart* summaries, Reporter& reporter) {
  if (given.group == 0) return reporter.Fail(FOVEA_E_OPTION, "group of summaries must be at least 1", 1, 0);
  *summaries = {given.group, given.bias, given.bias == nullptr ? 0 : given.max_distance};
  return kOk;
}

// Refuses what needs kernels that the profile has no line for. Models are checked when they are opened.
Status CheckKernels(const AttentionSpec& spec, Reporter& reporter) {
  if (!IsIncluded(spec.weighting.kind)) {
    return reporter.Fail(FOVEA_E_BUILD, kProfileLine<Activation>.lacks, kIncluded<Activation>,
                         static_cast<uint32_t>(spec.weighting.kind));
  }
  const RelativeScores& relative = spec.score.relative;
  if (!kWeightsF32 && (relative.keys != nullptr || relative.queries != nullptr)) {
    return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks weights f32, which relative scores need");
  }
  return kOk;
}

Status ReadSpec(const Given& given, AttentionSpec* spec, Reporter& reporter) {
  const fovea_attention_options& options = given.options;
  if (options.pairing > FOVEA_PAIRING_ROWS) {
    return reporter.Fail(FOVEA_E_OPTION, "unknown pairing", FOVEA_PAIRING_ROWS, options.pairing);
  }
  spec->heads = Or(options.heads, 1);
  spec->kv_heads = Or(options.kv_heads, spec->heads);
  spec->d_k = options.d_k;
  spec->d_v = Or(options.d_v, options.d_k);
  spec->pairing = Pairing(options.pairing);
  FOVEA_TRY(ReadFields(given, spec, reporter));
  FOVEA_TRY(ReadPattern(given.pattern, spec->heads, &spec->pattern, reporter));
  FOVEA_TRY(ReadScore(given.score, spec->d_k, &spec->score, reporter));
  const fovea_attention_positions& positions = given.positions;
  spec->positions.coordinates = positions.coordinates;
  spec->positions.coordinate_sets = Or(positions.coordinate_sets, 1);
  spec->positions.coordinate_positions = positions.coordinate_positions;
  spec->positions.row_coordinates = positions.row_coordinates != nullptr;
  spec->weighting.sinks = given.weighting.sinks;
  if (options.summaries != nullptr) FOVEA_TRY(ReadSummaryPart(given.summaries, &spec->summaries, reporter));
  if ((positions.starts != nullptr) != (spec->positions.origin == Origin::kStarts)) {
    return reporter.Fail(FOVEA_E_NULL, "starts must be set if and only if origin is FOVEA_ORIGIN_STARTS",
                         positions.origin, 0);
  }
  FOVEA_TRY(CheckFeatures(FeaturesOf(*spec), reporter));
  FOVEA_TRY(CheckAttentionSpec(*spec, false, FOVEA_E_OPTION, reporter));
  return CheckKernels(*spec, reporter);
}

Status ReadWorkers(const fovea_attention_options& options, uint32_t rounds, AttentionWorkers* workers,
                   Reporter& reporter) {
  if (options.workers > kMaxWorkers) {
    return reporter.Fail(FOVEA_E_OPTION, "too many workers", kMaxWorkers, options.workers);
  }
  if (options.tile_rows > kMostTileRows) {
    return reporter.Fail(FOVEA_E_OPTION, "tile_rows is too large", kMostTileRows, options.tile_rows);
  }
  *workers = {Or(options.workers, 1), Or(options.tile_rows, rounds > 1 ? kDefaultRoundRows : kDefaultTileRows),
              options.runner, options.runner_context};
  return kOk;
}

Status ReadKept(const fovea_attention_kept& given, uint32_t heads, WeightSink* sink, Reporter& reporter) {
  if (!kKeepsWeights && given.values != nullptr) {
    return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks part taps, which kept weights need");
  }
  if (given.what > FOVEA_KEEP_SCORES) {
    return reporter.Fail(FOVEA_E_OPTION, "the attention map must be of weights or scores", FOVEA_KEEP_SCORES,
                         given.what);
  }
  if ((given.keys == nullptr) != (given.counts == nullptr) || (given.keys != nullptr && given.values == nullptr)) {
    return reporter.Fail(FOVEA_E_NULL, "a sparse attention map needs values, keys and counts");
  }
  sink->scores = given.what == FOVEA_KEEP_SCORES;
  sink->heads = heads;
  sink->values = given.values;
  sink->stride = sink->staged_entries = given.stride;
  sink->keys = given.keys;
  sink->counts = given.counts;
  sink->staged_rows = kMostStagedRows;
  return kOk;
}

// Reads the caller's options and checks everything that does not depend on rows.
Status ReadRequest(const fovea_attention_options* from, Request* request, Reporter& reporter) {
  FOVEA_TRY(ReadStructs(from, &request->given, reporter));
  FOVEA_TRY(ReadSpec(request->given, &request->spec, reporter));
  FOVEA_TRY(ReadKept(request->given.kept, request->spec.heads, &request->kept, reporter));
  request->call.spec = &request->spec;
  request->call.weights = request->sink();
  return ReadWorkers(request->given.options, request->spec.pattern.rounds, &request->workers, reporter);
}

// Rounded up to a multiple of 64.
Status ScratchBytes(const Request& request, uint64_t* bytes, Reporter& reporter) {
  const CheckedSize all =
      CheckedSize(AttentionWorkerBytes(request.spec, request.sink(), request.workers)) * request.workers.count;
  if (!all.ok()) return reporter.Fail(FOVEA_E_OPTION, "scratch would not fit the address space", SIZE_MAX);
  *bytes = all.value();
  return kOk;
}

Status ReadSegments(const uint32_t* offsets, uint32_t count, uint32_t rows, uint32_t* one, Segments* segments,
                    Reporter& reporter) {
  *segments = {offsets, count};
  if (offsets != nullptr) return kOk;
  if (count > 1) return reporter.Fail(FOVEA_E_NULL, "several segments need offsets", count, 0);
  one[1] = rows;
  *segments = {one, 1};
  return kOk;
}

// `q` and `keys`: numbers of rows of their views.
Status ReadAllSegments(Request* request, uint32_t q, uint32_t keys, Reporter& reporter) {
  const fovea_attention_options& options = request->given.options;
  AttentionCall& call = request->call;
  FOVEA_TRY(ReadSegments(options.key_offsets, options.segment_count, keys, request->one_key_segment, &call.key_segments,
                         reporter));
  if (request->spec.pairing == Pairing::kPaired) {
    FOVEA_TRY(ReadSegments(options.query_offsets, options.segment_count, q, request->one_query_segment,
                           &call.query_segments, reporter));
  } else if (options.query_offsets != nullptr) {
    return reporter.Fail(FOVEA_E_OPTION, "query_offsets must be NULL with FOVEA_PAIRING_ROWS");
  } else if (call.q.segment_stride != 0 || call.out.segment_stride != 0) {
    return reporter.Fail(FOVEA_E_OPTION, "segment_stride of queries must be 0 with FOVEA_PAIRING_ROWS");
  }
  const fovea_attention_pattern& pattern = request->given.pattern;
  if (pattern.global_key_count == 0) return kOk;
  call.global_keys.rows = pattern.global_keys;
  return ReadSegments(pattern.global_key_offsets, call.key_segments.count, pattern.global_key_count, request->one_list,
                      &call.global_keys.segments, reporter);
}

// The number of rows that segments may have in all: the view's rows; with a segment_stride up to `rows` per segment.
Status CheckSegmentPlaces(const HeadRows& view, uint32_t rows, const Segments& segments, uint32_t* all,
                          Reporter& reporter) {
  *all = rows;
  if (view.segment_stride == 0) return kOk;
  for (uint32_t s = 0; s < segments.count; ++s) {
    const uint32_t begin = segments.offsets[s], end = segments.offsets[s + 1];
    if (end >= begin && end - begin <= rows) continue;
    return reporter.Fail(FOVEA_E_SEGMENTS, "a segment has more rows than the view has per segment", rows, end - begin,
                         s + 1);
  }
  *all = INT32_MAX;
  return kOk;
}

Status ReadSummaries(Request* request, Reporter& reporter) {
  if (request->given.options.summaries == nullptr) return kOk;
  const fovea_attention_summaries& given = request->given.summaries;
  const AttentionSpec& spec = request->spec;
  AttentionCall& call = request->call;
  SummaryRows& summaries = call.summaries;
  if (call.key_bias.data != nullptr || call.pair_bias.data != nullptr) {
    return reporter.Fail(FOVEA_E_OPTION, "summaries cannot be combined with key_bias or pair_bias");
  }
  for (const fovea_attention_rows* rows : {given.k, given.v}) {
    if (rows == nullptr) return reporter.Fail(FOVEA_E_NULL, "k or v of the summaries is NULL");
    if (DType(rows->type) == call.key_type && call.key_type != DType::kI8 && rows->segment_stride == 0) continue;
    return reporter.Fail(FOVEA_E_OPTION, "summaries must have the type of k, not int8, and no segment_stride",
                         static_cast<uint32_t>(call.key_type), rows->type);
  }
  HeadRows no_scales;
  FOVEA_TRY(ReadRows(given.k, {4, spec.kv_heads, spec.d_k, 1}, &summaries.k, &no_scales, reporter));
  FOVEA_TRY(ReadRows(given.v, {5, spec.kv_heads, spec.d_v, 1}, &summaries.v, &no_scales, reporter));
  if (given.k->rows != given.v->rows) {
    return reporter.Fail(FOVEA_E_ROWS, "keys and values differ in rows", given.k->rows, given.v->rows);
  }
  FOVEA_TRY(ReadSegments(given.offsets, call.key_segments.count, given.k->rows, request->one_summary_segment,
                         &summaries.segments, reporter));
  request->rows.summaries = given.k->rows;
  return kOk;
}

Status ReadRowCoordinates(Request* request, uint32_t keys, Reporter& reporter) {
  const float* coordinates = request->given.positions.row_coordinates;
  request->call.row_coordinates = coordinates;
  if (coordinates == nullptr) return kOk;
  if (reinterpret_cast<uintptr_t>(coordinates) % sizeof(float) != 0) {
    return reporter.Fail(FOVEA_E_MISALIGNED, "row_coordinates is not aligned to an element", sizeof(float));
  }
  if ((CheckedSize(keys) * request->spec.positions.axes * sizeof(float)).ok()) return kOk;
  return reporter.Fail(FOVEA_E_OPTION, "row_coordinates exceeds the address space", SIZE_MAX, keys);
}

Status ReadClusters(Request* request, uint32_t keys, Reporter& reporter) {
  const fovea_attention_pattern& pattern = request->given.pattern;
  Clusters& clusters = request->call.clusters;
  clusters = {pattern.order, pattern.rank, pattern.cluster_stride};
  if (clusters.stride == 0) clusters.stride = size_t{request->spec.heads} * pattern.rounds;
  if ((CheckedSize(clusters.stride) * keys * sizeof(int32_t)).ok()) return kOk;
  return reporter.Fail(FOVEA_E_OPTION, "order and rank exceed the address space", SIZE_MAX, clusters.stride);
}

// Reads the views and everything whose size depends on their rows.
Status ReadViews(Request* request, const fovea_attention_rows* q, const fovea_attention_rows* k,
                 const fovea_attention_rows* v, const fovea_attention_out* out, uint32_t* queries, Reporter& reporter) {
  const AttentionSpec& spec = request->spec;
  AttentionCall& call = request->call;
  const uint32_t count = request->given.options.segment_count, segments = Or(count, 1);
  if (count > INT32_MAX) return reporter.Fail(FOVEA_E_SEGMENTS, "too many segments", INT32_MAX, count);
  FOVEA_TRY(ReadRows(q, {0, spec.heads, spec.d_k, segments}, &call.q, nullptr, reporter));
  FOVEA_TRY(ReadRows(k, {1, spec.kv_heads, spec.d_k, segments}, &call.k, &call.k_scales, reporter));
  FOVEA_TRY(ReadRows(v, {2, spec.kv_heads, spec.d_v, segments}, &call.v, &call.v_scales, reporter));
  FOVEA_TRY(ReadOut(out, {3, spec.heads, spec.d_v, segments}, &call.out, reporter));
  if (k->type != v->type) return reporter.Fail(FOVEA_E_OPTION, "keys and values differ in type", k->type, v->type);
  if (k->rows != v->rows) return reporter.Fail(FOVEA_E_ROWS, "keys and values differ in rows", k->rows, v->rows);
  if ((k->segment_stride == 0) != (v->segment_stride == 0)) {
    return reporter.Fail(FOVEA_E_OPTION, "keys and values must both have a segment_stride, or neither",
                         k->segment_stride, 0);
  }
  call.key_type = DType(k->type);
  if (LacksRows(call.key_type)) {
    return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks rows of this type", 0, k->type);
  }
  FOVEA_TRY(ReadAllSegments(request, q->rows, k->rows, reporter));
  request->rows.global_keys = request->given.pattern.global_key_count;
  FOVEA_TRY(CheckSegmentPlaces(call.k, k->rows, call.key_segments, &request->rows.keys, reporter));
  FOVEA_TRY(CheckSegmentPlaces(call.q, q->rows, call.query_segments, &request->rows.queries, reporter));
  call.starts = request->given.positions.starts;
  call.tile_rows = request->workers.tile_rows;

  const bool paired = spec.pairing == Pairing::kPaired;
  *queries = paired ? call.query_segments.offsets[call.query_segments.count] : call.key_segments.count;
  const uint32_t keys = call.key_segments.offsets[call.key_segments.count];
  FOVEA_TRY(ReadClusters(request, keys, reporter));
  const bool own_places = request->given.score.key_bias_segment_stride != 0;
  const ViewShape shape = {FOVEA_NOWHERE, spec.heads, 1, segments};
  FOVEA_TRY(ReadKeyBias(request->given.score, own_places ? k->rows : keys, shape, &call.key_bias, reporter));
  FOVEA_TRY(ReadPairBias(request->given.score.pair_bias, *queries, shape, &call.pair_bias, reporter));
  AttentionFeatures biases = call.key_bias.data != nullptr ? Bit(AttentionFeature::kKeyBias) : 0;
  biases |= call.pair_bias.data != nullptr ? Bit(AttentionFeature::kPairBias) : 0;
  FOVEA_TRY(CheckFeatures(biases, reporter));
  FOVEA_TRY(ReadCenters(request->given.pattern, *queries, &call, reporter));
  FOVEA_TRY(ReadSummaries(request, reporter));
  FOVEA_TRY(ReadRowCoordinates(request, keys, reporter));
  request->kept.row_count = *queries;
  const CheckedSize kept = CheckedSize(*queries) * spec.heads * request->kept.stride * sizeof(float);
  if (!kept.ok())
    return reporter.Fail(FOVEA_E_OPTION, "the attention map exceeds the address space", SIZE_MAX, *queries);
  FOVEA_TRY(CheckAttentionCall(call, request->rows, reporter));
  uint32_t out_rows = out->rows;
  const HeadRows placed = {call.out.data, call.out.row_stride, call.out.head_stride, call.out.segment_stride};
  FOVEA_TRY(CheckSegmentPlaces(placed, out->rows, call.query_segments, &out_rows, reporter));
  return out_rows >= *queries ? kOk : reporter.Fail(FOVEA_E_ROWS, "out has too few rows", *queries, out_rows);
}

Status CheckScratch(const Request& request, const void* scratch, uint64_t size, Reporter& reporter) {
  uint64_t needed = 0;
  FOVEA_TRY(ScratchBytes(request, &needed, reporter));
  if (size < needed) return reporter.Fail(FOVEA_E_TOO_SMALL, "scratch is too small", needed, size);
  if (scratch == nullptr) return reporter.Fail(FOVEA_E_NULL, "scratch is NULL", needed, 0);
  return CheckAligned(scratch, reporter);
}

Status CheckLength(uint32_t rows, Reporter& reporter) {
  return rows <= INT32_MAX ? kOk : reporter.Fail(FOVEA_E_ROWS, "a segment has too many rows", INT32_MAX, rows);
}

Status CountPairs(const fovea_attention_options* options, uint32_t queries, uint32_t keys, uint64_t* pairs,
                  Reporter& reporter) {
  Request request;
  FOVEA_TRY(ReadRequest(options, &request, reporter));
  FOVEA_TRY(CheckLength(queries, reporter));
  FOVEA_TRY(CheckLength(keys, reporter));
  request.call.starts = request.given.positions.starts;
  const uint32_t start = request.call.StartOf(0, queries, keys);
  if (start > INT32_MAX - queries) return CheckLength(UINT32_MAX, reporter);
  const fovea_attention_pattern& pattern = request.given.pattern;
  *pairs = VisiblePairs(request.spec, {queries, keys, pattern.global_keys, pattern.global_key_count, 0, start});
  return kOk;
}

}  // namespace
}  // namespace fovea

using namespace fovea;  // NOLINT: this file is the border

extern "C" {

fovea_status fovea_attention_scratch_size(const fovea_attention_options* options, uint64_t* bytes, fovea_error* error) {
  Reporter reporter(error);
  if (bytes == nullptr) return reporter.Fail(FOVEA_E_NULL, "bytes is NULL").code;
  Request request;
  const Status read = ReadRequest(options, &request, reporter);
  return read.ok() ? ScratchBytes(request, bytes, reporter).code : read.code;
}

fovea_status fovea_attention_pairs(const fovea_attention_options* options, uint32_t queries, uint32_t keys,
                                   uint64_t* pairs, fovea_error* error) {
  Reporter reporter(error);
  if (pairs == nullptr) return reporter.Fail(FOVEA_E_NULL, "pairs is NULL").code;
  return CountPairs(options, queries, keys, pairs, reporter).code;
}

fovea_status fovea_attention_run(const fovea_attention_options* options, const fovea_attention_rows* q,
                                 const fovea_attention_rows* k, const fovea_attention_rows* v,
                                 const fovea_attention_out* out, void* scratch, uint64_t scratch_size,
                                 fovea_error* error) {
  Reporter reporter(error);
  Request request;
  uint32_t queries = 0;
  Status status = ReadRequest(options, &request, reporter);
  if (status.ok()) status = ReadViews(&request, q, k, v, out, &queries, reporter);
  if (status.ok()) status = CheckScratch(request, scratch, scratch_size, reporter);
  if (!status.ok() || queries == 0) return status.code;
  if (RunAttentionOnWorkers(GetKernelsOfAttention(), request.call, queries, request.workers, scratch)) return FOVEA_OK;
  return reporter.Fail(FOVEA_E_RUNNER, kRunnerFault, request.workers.count).code;
}

}  // extern "C"
