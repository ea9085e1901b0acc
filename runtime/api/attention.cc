// fovea/attention.h.
#include "fovea/attention.h"

#include <math.h>

#include <initializer_list>

#include "runtime/api/handles.h"
#include "runtime/attention/check.h"
#include "runtime/attention/count.h"
#include "runtime/attention/tap.h"
#include "runtime/parallel/tiles.h"

namespace fovea {
namespace {

static_assert(FOVEA_SCORE_ADDITIVE == static_cast<int>(Score::kAdditive) &&
                  FOVEA_WEIGHTING_SIGMOID == static_cast<int>(Activation::kSigmoid) &&
                  FOVEA_WEIGHTING_SILU == static_cast<int>(Activation::kSilu) &&
                  FOVEA_ROWS_I8 == static_cast<int>(KeyType::kI8) &&
                  FOVEA_CENTERS_FRACTIONS == static_cast<int>(Centers::kFractions) &&
                  FOVEA_PAIRING_ROWS == static_cast<int>(Pairing::kParent) && FOVEA_UNBOUNDED == kUnbounded,
              "the interface and the engine count alike");

// Chunks of the engine are full with as many rows.
constexpr uint32_t kDefaultTileRows = 256;
// Clustered in several rounds all of them are packed anew for as many rows.
constexpr uint32_t kDefaultRoundRows = 1u << 14;
constexpr uint32_t kMostTileRows = 1u << 20;
constexpr size_t kElementBytes[kKeyTypeCount] = {4, 2, 2, 1};

// Options of any version as a call: all but views and scratch.
struct Request {
  fovea_attention_options options;
  fovea_attention_pattern pattern;
  AttentionSpec spec{};
  AttentionCall call{};
  AttentionRows rows{};
  WeightSink weights{};
  // Where one segment is meant.
  uint32_t one_query_segment[2] = {0, 0}, one_key_segment[2] = {0, 0}, one_list[2] = {0, 0};
};

uint32_t Or(uint32_t value, uint32_t otherwise) { return value == 0 ? otherwise : value; }

Status ReadPattern(const fovea_attention_pattern& given, uint32_t heads, Pattern* pattern, Reporter& reporter) {
  if (given.window > FOVEA_WINDOW_NONE) {
    return reporter.Fail(FOVEA_E_OPTION, "unknown kind of window", FOVEA_WINDOW_NONE, given.window);
  }
  const bool sides = given.window == FOVEA_WINDOW_SIDES;
  if (!sides && (given.left != 0 || given.right != 0 || given.head_windows != nullptr)) {
    return reporter.Fail(FOVEA_E_OPTION, "sides of a window need FOVEA_WINDOW_SIDES", FOVEA_WINDOW_SIDES, given.window);
  }
  if (given.causal > 1) return reporter.Fail(FOVEA_E_OPTION, "causal is 0 or 1", 1, given.causal);
  if (given.listed_count > 0 && given.listed == nullptr) {
    return reporter.Fail(FOVEA_E_NULL, "listed is NULL", given.listed_count, 0);
  }
  if (given.blocks == nullptr && (given.block_rows != 0 || given.block_columns != 0)) {
    return reporter.Fail(FOVEA_E_NULL, "blocks is NULL", given.block_rows, 0);
  }
  if (given.rounds > 0) {
    if (given.order == nullptr || given.rank == nullptr) {
      return reporter.Fail(FOVEA_E_NULL, "a clustered pattern needs its order and rank");
    }
    const bool alone = given.window == FOVEA_WINDOW_FULL && given.dilation <= 1 && given.block <= 1 &&
                       given.first == 0 && given.last == 0 && given.listed_count == 0 && given.full_up_to == 0 &&
                       given.blocks == nullptr;
    if (!alone) return reporter.Fail(FOVEA_E_OPTION, "a clustered pattern goes with causal only", 0, given.rounds);
    const uint64_t columns = uint64_t{heads} * given.rounds;
    if (given.cluster_stride != 0 && given.cluster_stride < columns) {
      return reporter.Fail(FOVEA_E_OPTION, "cluster_stride is less than heads * rounds", columns, given.cluster_stride);
    }
  }
  pattern->has_window = given.window != FOVEA_WINDOW_NONE;
  if (sides) {
    pattern->left = given.left;
    pattern->right = given.right;
    pattern->head_windows = given.head_windows;
  }
  pattern->dilation = Or(given.dilation, 1);
  pattern->block = Or(given.block, 1);
  pattern->first = given.first;
  pattern->last = given.last;
  pattern->listed = given.listed_count > 0;
  pattern->blocks = given.blocks;
  pattern->blocks_heads = Or(given.blocks_heads, 1);
  pattern->block_rows = given.block_rows;
  pattern->block_columns = given.block_columns;
  pattern->causal = given.causal != 0;
  pattern->full_up_to = given.full_up_to;
  pattern->top_k = given.top_k;
  pattern->rounds = given.rounds;
  pattern->chunk = given.chunk;
  pattern->chunks_before = given.chunks_before;
  pattern->chunks_after = given.chunks_after;
  pattern->chunk_multiple = Or(given.chunk_multiple, 1);
  return kOk;
}

Status ReadSpec(const fovea_attention_options& given, AttentionSpec* spec, Reporter& reporter) {
  if (given.score >= kScoreCount) return reporter.Fail(FOVEA_E_OPTION, "unknown score", kScoreCount - 1, given.score);
  if (!isfinite(given.scale)) return reporter.Fail(FOVEA_E_OPTION, "scale must be finite");
  if (!isfinite(given.cap)) return reporter.Fail(FOVEA_E_OPTION, "cap must be finite");
  if (given.pairing > FOVEA_PAIRING_ROWS) {
    return reporter.Fail(FOVEA_E_OPTION, "unknown pairing", FOVEA_PAIRING_ROWS, given.pairing);
  }
  if (given.gaussian > 1) return reporter.Fail(FOVEA_E_OPTION, "gaussian is 0 or 1", 1, given.gaussian);
  if ((given.centers == nullptr) != (given.center_kind == 0)) {
    return reporter.Fail(FOVEA_E_NULL, "centers and their kind need each other", given.center_kind, 0);
  }
  if (given.has_self_score > 1 || !isfinite(given.self_score)) {
    return reporter.Fail(FOVEA_E_OPTION, "has_self_score is 0 or 1, self_score finite", 1, given.has_self_score);
  }
  spec->heads = Or(given.heads, 1);
  spec->kv_heads = Or(given.kv_heads, spec->heads);
  spec->d_k = given.d_k;
  spec->d_v = Or(given.d_v, given.d_k);
  spec->score = Score(given.score);
  spec->products = Products(given.products);
  const float usual = spec->score == Score::kDot && given.d_k > 0 ? 1.0f / sqrtf(static_cast<float>(given.d_k)) : 1.0f;
  spec->scale = given.scale != 0.0f ? given.scale : usual;
  spec->pairing = Pairing(given.pairing);
  spec->cap = given.cap;
  spec->weighting = Activation(given.weighting);
  spec->additive = given.additive;
  spec->distance_bias = given.distance_bias;
  spec->distance_reach = given.distance_reach;
  spec->relative = {given.relative_keys, given.relative_queries, given.buckets, given.bucket_count, DType::kF32,
                    DType::kF32};
  spec->coordinates = given.coordinates;
  spec->coordinate_sets = Or(given.coordinate_sets, 1);
  spec->coordinate_positions = given.coordinate_positions;
  spec->query_stride = Or(given.query_stride, 1);
  spec->apart = given.apart;
  spec->has_self_score = given.has_self_score != 0;
  spec->self_score = given.self_score;
  spec->centers = Centers(given.center_kind);
  spec->gaussian = given.gaussian != 0;
  return kOk;
}

// Reads the caller's options and checks all that does not depend on rows.
Status ReadRequest(const fovea_attention_options* given, Request* request, Reporter& reporter) {
  if (given == nullptr) return reporter.Fail(FOVEA_E_NULL, "options is NULL");
  fovea_attention_options& options = request->options;
  FOVEA_TRY(ReadStruct(given, &options, reporter));
  FOVEA_TRY(ReadStruct(options.pattern, &request->pattern, reporter));
  FOVEA_TRY(ReadSpec(options, &request->spec, reporter));
  FOVEA_TRY(ReadPattern(request->pattern, request->spec.heads, &request->spec.pattern, reporter));
  FOVEA_TRY(CheckAttentionSpec(request->spec, FOVEA_E_OPTION, reporter));
  if (options.workers > kMaxWorkers) {
    return reporter.Fail(FOVEA_E_OPTION, "too many workers", kMaxWorkers, options.workers);
  }
  if (options.tile_rows > kMostTileRows) {
    return reporter.Fail(FOVEA_E_OPTION, "tile_rows is too large", kMostTileRows, options.tile_rows);
  }
  options.workers = Or(options.workers, 1);
  options.tile_rows = Or(options.tile_rows, request->pattern.rounds > 1 ? kDefaultRoundRows : kDefaultTileRows);
  return kOk;
}

// What a worker has: scratch of the engine, and rows of weights in the making.
struct WorkerScratch {
  void* engine;
  float* weights;
  uint32_t* weight_keys;
};

WorkerScratch PlaceWorker(const Request& request, Arena* arena) {
  const fovea_attention_options& options = request.options;
  WorkerScratch worker{};
  worker.engine = arena->TakeBytes(AttentionScratchBytes(request.spec, options.tile_rows));
  const CheckedSize staged = CheckedSize(kMostStagedRows) * options.weight_stride * sizeof(float);
  if (options.weights != nullptr) worker.weights = static_cast<float*>(arena->TakeBytes(staged));
  if (options.weight_keys != nullptr) worker.weight_keys = static_cast<uint32_t*>(arena->TakeBytes(staged));
  return worker;
}

uint64_t WorkerBytes(const Request& request) {
  Arena arena;
  PlaceWorker(request, &arena);
  return arena.needed();
}

// A multiple of 64.
Status ScratchBytes(const Request& request, uint64_t* bytes, Reporter& reporter) {
  const CheckedSize all = CheckedSize(WorkerBytes(request)) * request.options.workers;
  if (!all.ok()) return reporter.Fail(FOVEA_E_OPTION, "scratch would not fit the address space", SIZE_MAX);
  *bytes = all.value();
  return kOk;
}

// Rows of vectors somewhere in the caller's memory; strides become what 0 stands for. With one head nothing reads its
// stride.
struct Place {
  const void* data;
  uint64_t rows, heads, width;
  size_t element;
  size_t row_stride, head_stride;
};

Status CheckPlace(Place* place, Reporter& reporter) {
  const CheckedSize vector = CheckedSize(place->width) * place->element;
  if (place->head_stride == 0 || place->heads == 1) place->head_stride = static_cast<size_t>(vector.value());
  CheckedSize dense;
  if (place->row_stride == 0) {
    dense = CheckedSize(place->heads) * place->head_stride;
    place->row_stride = static_cast<size_t>(dense.value());
  }
  for (const uintptr_t at :
       {reinterpret_cast<uintptr_t>(place->data), uintptr_t{place->row_stride}, uintptr_t{place->head_stride}}) {
    if (at % place->element == 0) continue;
    return reporter.Fail(FOVEA_E_MISALIGNED, "data or a stride is not on a multiple of an element's size",
                         place->element, at % place->element);
  }
  if (place->rows == 0) return kOk;
  if (place->data == nullptr) return reporter.Fail(FOVEA_E_NULL, "data of a view is NULL", place->rows, 0);
  const CheckedSize end = CheckedSize(reinterpret_cast<uintptr_t>(place->data)) +
                          CheckedSize(place->rows - 1) * place->row_stride +
                          CheckedSize(place->heads - 1) * place->head_stride + vector;
  if (!vector.ok() || !dense.ok() || !end.ok()) {
    return reporter.Fail(FOVEA_E_OPTION, "a view leaves the address space", SIZE_MAX, place->rows);
  }
  return kOk;
}

// Keeps the rule that positions fit an int32.
Status CheckRows(uint32_t rows, Reporter& reporter) {
  return rows <= INT32_MAX ? kOk : reporter.Fail(FOVEA_E_ROWS, "a view has too many rows", INT32_MAX, rows);
}

Status ReadRows(const fovea_attention_rows* given, uint32_t tensor, uint32_t heads, uint32_t width, HeadRows* rows,
                HeadRows* scales, Reporter& reporter) {
  reporter.tensor = tensor;
  if (given == nullptr) return reporter.Fail(FOVEA_E_NULL, "a view is NULL");
  if (given->type > FOVEA_ROWS_I8 || (scales == nullptr && given->type != FOVEA_ROWS_F32)) {
    return reporter.Fail(FOVEA_E_OPTION, "a view has a type that does not fit", FOVEA_ROWS_F32, given->type);
  }
  FOVEA_TRY(CheckRows(given->rows, reporter));
  Place place = {given->data,       given->rows,       heads, width, kElementBytes[given->type],
                 given->row_stride, given->head_stride};
  FOVEA_TRY(CheckPlace(&place, reporter));
  *rows = {given->data, place.row_stride, place.head_stride};
  if (given->type == FOVEA_ROWS_I8) {
    place = {given->scales, given->rows, heads, 1, sizeof(float), given->scale_row_stride, given->scale_head_stride};
    FOVEA_TRY(CheckPlace(&place, reporter));
    *scales = {given->scales, place.row_stride, place.head_stride};
  }
  reporter.tensor = FOVEA_NOWHERE;
  return kOk;
}

Status ReadOut(const fovea_attention_out* given, const AttentionSpec& spec, HeadMatrix<void>* out, Reporter& reporter) {
  reporter.tensor = 3;
  if (given == nullptr) return reporter.Fail(FOVEA_E_NULL, "out is NULL");
  FOVEA_TRY(CheckRows(given->rows, reporter));
  Place place = {given->data, given->rows, spec.heads, spec.d_v, sizeof(float), given->row_stride, given->head_stride};
  FOVEA_TRY(CheckPlace(&place, reporter));
  // Rows of heads or heads of rows, either without overlaps: workers write them at the same time.
  const CheckedSize vector = CheckedSize(spec.d_v) * sizeof(float);
  const CheckedSize row = CheckedSize(spec.heads - 1) * place.head_stride + vector;
  const CheckedSize head = CheckedSize(given->rows > 0 ? given->rows - 1 : 0) * place.row_stride + vector;
  const bool by_row = (spec.heads == 1 || place.head_stride >= vector.value()) && place.row_stride >= row.value();
  const bool by_head = place.row_stride >= vector.value() && (spec.heads == 1 || place.head_stride >= head.value());
  if (given->rows > 1 ? !by_row && !by_head : spec.heads > 1 && place.head_stride < vector.value()) {
    return reporter.Fail(FOVEA_E_OPTION, "rows of out overlap", vector.value(), place.row_stride);
  }
  *out = {given->data, place.row_stride, place.head_stride};
  reporter.tensor = FOVEA_NOWHERE;
  return kOk;
}

Status ReadSegments(const uint32_t* offsets, uint32_t count, uint32_t rows, uint32_t* one, Segments* segments,
                    Reporter& reporter) {
  *segments = {offsets, count};
  if (offsets != nullptr) return kOk;
  if (count > 1) return reporter.Fail(FOVEA_E_NULL, "several segments need their offsets", count, 0);
  one[1] = rows;
  *segments = {one, 1};
  return kOk;
}

Status ReadAllSegments(Request* request, Reporter& reporter) {
  const fovea_attention_options& options = request->options;
  const AttentionRows& rows = request->rows;
  AttentionCall& call = request->call;
  if (options.segment_count > INT32_MAX) {
    return reporter.Fail(FOVEA_E_SEGMENTS, "too many segments", INT32_MAX, options.segment_count);
  }
  FOVEA_TRY(ReadSegments(options.key_offsets, options.segment_count, rows.keys, request->one_key_segment,
                         &call.key_segments, reporter));
  if (request->spec.pairing == Pairing::kPaired) {
    FOVEA_TRY(ReadSegments(options.query_offsets, options.segment_count, rows.queries, request->one_query_segment,
                           &call.query_segments, reporter));
  } else if (options.query_offsets != nullptr) {
    return reporter.Fail(FOVEA_E_OPTION, "FOVEA_PAIRING_ROWS has no query_offsets");
  }
  const fovea_attention_pattern& pattern = request->pattern;
  if (pattern.listed_count == 0) return kOk;
  call.listed = pattern.listed;
  return ReadSegments(pattern.listed_offsets, call.key_segments.count, rows.listed, request->one_list,
                      &call.listed_segments, reporter);
}

Status ReadKeyBias(const Request& request, HeadRows* bias, Reporter& reporter) {
  const fovea_attention_options& options = request.options;
  const uint32_t heads = Or(options.key_bias_heads, 1);
  if (heads != 1 && heads != request.spec.heads) {
    return reporter.Fail(FOVEA_E_OPTION, "key_bias is one for all heads or one for each", request.spec.heads, heads);
  }
  if (options.key_bias == nullptr) return kOk;
  Place place = {options.key_bias,
                 request.rows.keys,
                 heads,
                 1,
                 sizeof(float),
                 options.key_bias_row_stride,
                 options.key_bias_head_stride};
  FOVEA_TRY(CheckPlace(&place, reporter));
  *bias = {options.key_bias, place.row_stride, heads == 1 ? 0 : place.head_stride};
  return kOk;
}

Status ReadCenters(const fovea_attention_options& options, uint32_t queries, AttentionCall* call, Reporter& reporter) {
  if (options.centers == nullptr) return kOk;
  Place place = {options.centers, queries, 1, 1, sizeof(float), options.center_stride, 0};
  FOVEA_TRY(CheckPlace(&place, reporter));
  call->centers = options.centers;
  call->center_stride = place.row_stride;
  return kOk;
}

Status ReadWeights(Request* request, uint32_t queries, Reporter& reporter) {
  const fovea_attention_options& options = request->options;
  if ((options.weight_keys == nullptr) != (options.weight_counts == nullptr) ||
      (options.weight_keys != nullptr && options.weights == nullptr)) {
    return reporter.Fail(FOVEA_E_NULL, "sparse weights need weights, weight_keys and weight_counts");
  }
  if (options.weights == nullptr) return kOk;
  const CheckedSize bytes = CheckedSize(queries) * request->spec.heads * options.weight_stride * sizeof(float);
  if (!bytes.ok()) return reporter.Fail(FOVEA_E_OPTION, "weights leave the address space", SIZE_MAX, queries);
  WeightSink& sink = request->weights;
  sink.row_count = queries;
  sink.heads = request->spec.heads;
  sink.values = options.weights;
  sink.stride = sink.staged_entries = options.weight_stride;
  sink.keys = options.weight_keys;
  sink.counts = options.weight_counts;
  sink.staged_rows = kMostStagedRows;
  request->call.weights = &sink;
  return kOk;
}

// What all workers of a run see.
struct Job {
  const Request* request;
  Kernels kernels;
  uint8_t* scratch;
  size_t worker_bytes;
  Tiles tiles;  // of rows; where the pattern is clustered numbers of those below
  HeadTiles heads;
  uint32_t queries;
};

void RunTiles(void* context, uint32_t worker) {
  Job& job = *static_cast<Job*>(context);
  const AttentionCall& whole = job.request->call;
  Arena arena(job.scratch + worker * job.worker_bytes, job.worker_bytes);
  const WorkerScratch scratch = PlaceWorker(*job.request, &arena);
  AttentionCall call = whole;
  call.scratch = scratch.engine;
  WeightSink weights = job.request->weights;
  weights.staged_values = scratch.weights;
  weights.staged_keys = scratch.weight_keys;
  if (whole.weights != nullptr) call.weights = &weights;
  uint32_t begin, end;
  while (job.tiles.Take(&begin, &end)) {
    call.row_begin = begin, call.row_end = end;
    if (job.request->spec.pattern.rounds > 0) {
      call.row_begin = job.heads.RowBegin(begin, job.queries), call.row_end = job.heads.RowEnd(begin, job.queries);
      call.head_begin = job.heads.Head(begin), call.head_end = call.head_begin + 1;
    }
    call.q.data = static_cast<const uint8_t*>(whole.q.data) + call.row_begin * call.q.row_stride;
    call.out.data = static_cast<uint8_t*>(whole.out.data) + call.row_begin * call.out.row_stride;
    RunAttention(job.kernels, call);
  }
}

Status Run(const fovea_attention_options* given, const fovea_attention_rows* q, const fovea_attention_rows* k,
           const fovea_attention_rows* v, const fovea_attention_out* out, void* scratch, uint64_t scratch_size,
           Reporter& reporter) {
  Request request;
  FOVEA_TRY(ReadRequest(given, &request, reporter));
  const AttentionSpec& spec = request.spec;
  AttentionCall& call = request.call;
  call.spec = &spec;
  FOVEA_TRY(ReadRows(q, 0, spec.heads, spec.d_k, &call.q, nullptr, reporter));
  FOVEA_TRY(ReadRows(k, 1, spec.kv_heads, spec.d_k, &call.k, &call.k_scales, reporter));
  FOVEA_TRY(ReadRows(v, 2, spec.kv_heads, spec.d_v, &call.v, &call.v_scales, reporter));
  FOVEA_TRY(ReadOut(out, spec, &call.out, reporter));
  if (k->type != v->type) return reporter.Fail(FOVEA_E_OPTION, "keys and values differ in type", k->type, v->type);
  if (k->rows != v->rows) return reporter.Fail(FOVEA_E_ROWS, "keys and values differ in rows", k->rows, v->rows);
  call.key_type = KeyType(k->type);
  request.rows = {q->rows, k->rows, request.pattern.listed_count};
  FOVEA_TRY(ReadAllSegments(&request, reporter));
  FOVEA_TRY(ReadKeyBias(request, &call.key_bias, reporter));
  const uint32_t cluster_columns = spec.heads * spec.pattern.rounds;
  call.tile_rows = request.options.tile_rows;
  call.clusters = {request.pattern.order, request.pattern.rank, request.pattern.cluster_stride};
  if (call.clusters.stride == 0) call.clusters.stride = cluster_columns;
  if (!(CheckedSize(call.clusters.stride) * request.rows.keys * sizeof(int32_t)).ok()) {
    return reporter.Fail(FOVEA_E_OPTION, "orders leave the address space", SIZE_MAX, call.clusters.stride);
  }
  if (spec.pattern.rounds > 0 && spec.pairing != Pairing::kPaired) {
    return reporter.Fail(FOVEA_E_OPTION, "clustered queries and keys must be the same segments");
  }
  const uint32_t queries = spec.pairing == Pairing::kParent ? call.key_segments.count
                                                            : call.query_segments.offsets[call.query_segments.count];
  FOVEA_TRY(ReadCenters(request.options, queries, &call, reporter));
  FOVEA_TRY(ReadWeights(&request, queries, reporter));
  FOVEA_TRY(CheckAttentionCall(call, request.rows, reporter));
  if (out->rows < queries) return reporter.Fail(FOVEA_E_ROWS, "out has too few rows", queries, out->rows);

  uint64_t needed = 0;
  FOVEA_TRY(ScratchBytes(request, &needed, reporter));
  if (scratch_size < needed) return reporter.Fail(FOVEA_E_TOO_SMALL, "scratch is too small", needed, scratch_size);
  if (scratch == nullptr) return reporter.Fail(FOVEA_E_NULL, "scratch is NULL", needed, 0);
  FOVEA_TRY(CheckAligned(scratch, reporter));
  if (queries == 0) return kOk;
  const uint32_t workers = request.options.workers;
  Job job = {&request,
             GetKernels(),
             static_cast<uint8_t*>(scratch),
             static_cast<size_t>(WorkerBytes(request)),
             {},
             HeadTiles(spec.heads, workers),
             queries};
  if (spec.pattern.rounds > 0) {
    job.tiles.Reset(job.heads.count(), workers, 1, 1);
  } else {
    job.tiles.Reset(queries, workers, request.options.tile_rows);
  }
  RunWorkers(request.options.runner, request.options.runner_context, workers, RunTiles, &job);
  return kOk;
}

}  // namespace
}  // namespace fovea

using namespace fovea;  // NOLINT: this file is the border

extern "C" {

fovea_status fovea_attention_scratch(const fovea_attention_options* options, uint64_t* bytes, fovea_error* error) {
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
  Request request;
  const auto read = [&]() -> Status {
    FOVEA_TRY(ReadRequest(options, &request, reporter));
    FOVEA_TRY(CheckRows(queries, reporter));
    return CheckRows(keys, reporter);
  };
  const Status status = read();
  if (!status.ok()) return status.code;
  *pairs = VisiblePairs(request.spec, {queries, keys, request.pattern.listed, request.pattern.listed_count, 0});
  return FOVEA_OK;
}

fovea_status fovea_attention_run(const fovea_attention_options* options, const fovea_attention_rows* q,
                                 const fovea_attention_rows* k, const fovea_attention_rows* v,
                                 const fovea_attention_out* out, void* scratch, uint64_t scratch_size,
                                 fovea_error* error) {
  Reporter reporter(error);
  return Run(options, q, k, v, out, scratch, scratch_size, reporter).code;
}

}  // extern "C"
