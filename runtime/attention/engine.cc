// Runs attention for a tile of query rows: the tile is cut into pieces of one segment each, a piece into chunks of rows
// (a row is one query of one head), and a chunk walks over the key ranges of its pattern block by block. The blocks lie
// on a grid that is fixed in the segment, so the order in which a query takes in its keys does not depend on the tile.
#include "runtime/attention/engine.h"

#include <math.h>
#include <string.h>

#include <algorithm>
#include <limits>

namespace fovea {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();
// Rows that share one packed block. More spread the cost of packing, fewer keep their state in cache.
constexpr uint32_t kChunkRows = 256;
// The same where each row has a table of buckets beside it.
constexpr uint32_t kRelativeRows = 64;
// Entries of all best-key lists together.
constexpr uint32_t kBestEntries = 1u << 16;

// Keys per block: long blocks spread the cost of a softmax step, packed keys and values should stay in cache (64 KiB).
uint32_t BlockKeys(const AttentionSpec& spec) {
  if (spec.relative.bucket_count > 0) return kAttentionKeyStep;
  const uint64_t keys = 16384 / (uint64_t{spec.d_k} + spec.d_v) / kAttentionKeyStep * kAttentionKeyStep;
  return static_cast<uint32_t>(std::min<uint64_t>(std::max<uint64_t>(keys, kAttentionKeyStep), kAttentionMaxBlock));
}

// Different heads in one chunk must see the same keys.
bool SplitsHeads(const AttentionSpec& spec) {
  return spec.pattern.DiffersByHead() || spec.pattern.rounds > 0 || spec.relative.bucket_count > 0;
}

uint32_t ChunkCapacity(const AttentionSpec& spec, uint32_t tile_rows) {
  const uint64_t heads = SplitsHeads(spec) ? 1 : spec.heads / spec.kv_heads;
  uint64_t most = spec.relative.bucket_count > 0 ? kRelativeRows : kChunkRows;
  if (spec.pattern.top_k > 0) {
    most = std::min<uint64_t>(most, std::max<uint64_t>(kBestEntries / (2 * uint64_t{spec.pattern.top_k}), 1));
  }
  if (spec.pattern.rounds == 1) most = std::min<uint64_t>(most, spec.pattern.chunk);
  if (spec.pattern.rounds > 1) most = UINT32_MAX;  // every row of the tile: what it has when a round ends
  return static_cast<uint32_t>(std::min<uint64_t>(most, heads * tile_rows));
}

float* TakeFloats(Arena* arena, CheckedSize count) {
  return static_cast<float*>(arena->TakeBytes(count * CheckedSize(sizeof(float))));
}

void PlaceRows(uint32_t rows, Arena* arena, AttentionTile* tile) {
  tile->sums = TakeFloats(arena, uint64_t{rows} * kAttentionLanes);
  tile->sum_of_values = TakeFloats(arena, uint64_t{rows} * RoundUp(tile->d_v, kAttentionLanes));
  tile->rows = static_cast<AttentionRow*>(arena->TakeBytes(uint64_t{rows} * sizeof(AttentionRow)));
}

// Exponent of 2 for a key at distance 1 from the centre: exp(-d^2 / (2 (D / 2)^2)) = 2^(fade d^2).
float FadeOf(const AttentionSpec& spec) {
  if (!spec.gaussian) return 0.0f;
  const double reach = spec.pattern.left;
  return static_cast<float>(-2.0 * 1.4426950408889634 / (reach * reach));
}

// The keys of the window around a centre, of a segment of `keys`.
struct KeySpan {
  int64_t begin, end;
};
KeySpan SpanAround(const Pattern& pattern, float center, uint32_t keys) {
  const double low = ceil(double{center} - pattern.left), high = floor(double{center} + pattern.right);
  if (!(high >= 0.0 && low < keys)) return {0, 0};  // NaN too
  return {static_cast<int64_t>(std::max(low, 0.0)),
          static_cast<int64_t>(std::min(high + 1.0, static_cast<double>(keys)))};
}

int64_t CeilDivide(int64_t a, int64_t b) {
  if (b == 1) return a;
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

}  // namespace

void ClearRows(AttentionTile* tile, uint32_t rows) {
  tile->row_count = rows;
  memset(tile->sums, 0, sizeof(float) * rows * kAttentionLanes);
  memset(tile->sum_of_values, 0, sizeof(float) * rows * RoundUp(tile->d_v, kAttentionLanes));
}

void PlaceAttentionScratch(const AttentionSpec& spec, uint32_t tile_rows, Arena* arena, AttentionScratch* scratch) {
  *scratch = {};
  scratch->capacity = ChunkCapacity(spec, tile_rows);
  AttentionTile& tile = scratch->tile;
  tile.d_k = spec.d_k;
  tile.d_v = spec.d_v;
  tile.block = BlockKeys(spec);
  tile.score = spec.score;
  tile.scale = spec.scale;
  tile.cap = spec.cap;
  tile.reach = spec.distance_reach;
  tile.buckets = spec.relative.buckets;
  tile.bucket_count = spec.relative.bucket_count;
  tile.self_score = spec.self_score;
  tile.has_self_score = spec.has_self_score;
  tile.fade = FadeOf(spec);
  tile.packed_keys = TakeFloats(arena, uint64_t{tile.block} * spec.d_k);
  tile.packed_values = TakeFloats(arena, tile.block * RoundUp(spec.d_v, kAttentionLanes));
  tile.widened = TakeFloats(arena, uint64_t{kAttentionLanes} * std::max(spec.d_k, spec.d_v));
  tile.scores = TakeFloats(arena, kAttentionScoreFloats);
  if (spec.products != Products::kF32) {
    tile.query_words = TakeFloats(arena, CheckedSize(scratch->capacity) * CheckedSize(MostWords(spec.d_k)));
    tile.key_words = TakeFloats(arena, uint64_t{kAttentionLanes} * MostWords(spec.d_k));
    tile.key_factors = TakeFloats(arena, tile.block);
  }
  PlaceRows(scratch->capacity, arena, &tile);
  if (spec.relative.bucket_count > 0) {
    const uint64_t rows = std::max(scratch->capacity, tile.block), buckets = spec.relative.bucket_count;
    scratch->relative = TakeFloats(arena, CheckedSize(scratch->capacity) * CheckedSize(buckets));
    scratch->key_relative = TakeFloats(arena, CheckedSize(tile.block) * CheckedSize(buckets));
    scratch->copied = TakeFloats(arena, rows * spec.d_k);
  }
  if (spec.pattern.top_k > 0) {
    const CheckedSize entries = CheckedSize(2) * (CheckedSize(spec.pattern.top_k) + CheckedSize(kAttentionLanes));
    scratch->best = static_cast<BestKeys*>(arena->TakeBytes(uint64_t{scratch->capacity} * sizeof(BestKeys)));
    for (uint32_t i = 0; i < scratch->capacity; ++i) {
      BestKeys best = {};
      best.keep = spec.pattern.top_k;
      best.capacity = static_cast<uint32_t>(entries.value());
      best.scores = TakeFloats(arena, entries);
      best.keys = static_cast<uint32_t*>(arena->TakeBytes(entries * CheckedSize(sizeof(uint32_t))));
      if (scratch->best != nullptr && !arena->counting() && arena->ok()) scratch->best[i] = best;
    }
  }
  if (spec.pattern.rounds > 0) {
    scratch->group = std::min({scratch->capacity, kChunkRows, spec.pattern.chunk});
    scratch->part.d_v = spec.d_v;
    if (spec.pattern.rounds > 1) PlaceRows(scratch->group, arena, &scratch->part);
    scratch->positions = static_cast<uint32_t*>(arena->TakeBytes(uint64_t{scratch->group} * sizeof(uint32_t)));
    scratch->index = static_cast<uint32_t*>(arena->TakeBytes(uint64_t{tile.block} * sizeof(uint32_t)));
  }
}

AttentionEngine::AttentionEngine(const Kernels& kernels, const AttentionCall& call)
    : kernels_(kernels),
      attention_(kernels.attention),
      call_(call),
      spec_(*call.spec),
      group_(spec_.heads / spec_.kv_heads),
      taps_(call.weights),
      tile_(scratch_.tile) {
  Arena arena(call.scratch, SIZE_MAX - reinterpret_cast<uintptr_t>(call.scratch));
  const uint32_t rows = call.row_end - call.row_begin;
  PlaceAttentionScratch(spec_, call.tile_rows == 0 ? rows : std::min(rows, call.tile_rows), &arena, &scratch_);
  if (spec_.weighting != Activation::kNone) {
    tile_.weigh = kernels.activation.apply[static_cast<uint32_t>(spec_.weighting)];
  }
  if (attention_.has[static_cast<uint32_t>(spec_.products)]) tile_.products = spec_.products;
  tile_.cast = &kernels.cast;
  tile_.repeats = spec_.pattern.blocks != nullptr || spec_.pattern.rounds > 0;
}

void AttentionEngine::Run(const Piece& piece) {
  const bool bias_by_head = call_.key_bias.data != nullptr && call_.key_bias.head_stride != 0;
  const uint32_t step = SplitsHeads(spec_) || bias_by_head ? 1 : group_;
  const uint32_t end = call_.head_end == 0 ? spec_.heads : call_.head_end;
  for (uint32_t head = call_.head_begin; head < end; head += step) RunHeads(piece, head, step);
}

// Heads [first_head, first_head + heads) share a key/value head and a pattern.
void AttentionEngine::RunHeads(const Piece& piece, uint32_t first_head, uint32_t heads) {
  const Pattern& pattern = spec_.pattern;
  const uint32_t kv_head = first_head / group_;
  head_ = first_head;
  const auto first_of = [&](const HeadRows& rows) {
    return static_cast<const uint8_t*>(rows.data) + piece.key_row * rows.row_stride + kv_head * rows.head_stride;
  };
  source_ = {first_of(call_.k), first_of(call_.v), call_.k.row_stride, call_.v.row_stride, nullptr, nullptr, 0, 0,
             call_.key_type};
  if (call_.key_type == KeyType::kI8) {
    source_.k_scales = reinterpret_cast<const float*>(first_of(call_.k_scales));
    source_.v_scales = reinterpret_cast<const float*>(first_of(call_.v_scales));
    source_.k_scale_stride = call_.k_scales.row_stride / sizeof(float);
    source_.v_scale_stride = call_.v_scales.row_stride / sizeof(float);
  }
  tile_.key_bias = nullptr;
  if (call_.key_bias.data != nullptr) {
    tile_.key_bias = reinterpret_cast<const float*>(static_cast<const uint8_t*>(call_.key_bias.data) +
                                                    piece.key_row * call_.key_bias.row_stride +
                                                    first_head * call_.key_bias.head_stride);
    tile_.key_bias_stride = call_.key_bias.row_stride / sizeof(float);
  }
  tile_.coordinates = nullptr;
  if (spec_.coordinates != nullptr) {
    tile_.coordinates = spec_.coordinates + size_t{piece.segment % spec_.coordinate_sets} * spec_.coordinate_positions;
  }

  QueryTile queries = {piece.first, piece.count, 1, piece.keys, first_head, false, nullptr, 0, piece.key_row};
  if (pattern.listed) {
    const uint32_t begin = call_.listed_segments.offsets[piece.segment];
    queries.listed = call_.listed + begin;
    queries.listed_count = call_.listed_segments.offsets[piece.segment + 1] - begin;
  }
  if (pattern.rounds > 0 && piece.keys > pattern.chunk) {
    RunClustered(piece);
    return;
  }
  const uint32_t end = piece.first + piece.count;
  const auto run = [&](uint32_t from, uint32_t to, uint32_t step, bool sees_all) {
    if (from >= to) return;
    queries.first = from;
    queries.count = (to - from + step - 1) / step;
    queries.step = step;
    queries.sees_all = sees_all;
    RunQueries(piece, queries, first_head, heads);
  };
  if (piece.keys <= pattern.full_up_to || pattern.rounds > 0) {
    run(piece.first, end, 1, true);
    return;
  }
  // Rows on the edges see all; the others go by residue where the window is dilated, by block where blocks differ.
  const uint32_t front = std::min(std::max(pattern.first, piece.first), end);
  const uint32_t back = std::max(front, static_cast<uint32_t>(std::min<uint64_t>(pattern.LastEdge(piece.keys), end)));
  run(piece.first, front, 1, true);
  const uint32_t dilation = pattern.WindowOf(first_head).dilation;
  if (pattern.blocks != nullptr) {
    for (uint32_t from = front; from < back;) {
      const uint32_t to =
          static_cast<uint32_t>(std::min<uint64_t>((uint64_t{from} / pattern.block + 1) * pattern.block, back));
      run(from, to, 1, false);
      from = to;
    }
  } else {
    for (uint32_t from = front; from < back && from - front < dilation; ++from) run(from, back, dilation, false);
  }
  run(back, end, 1, true);
}

void AttentionEngine::RunQueries(const Piece& piece, const QueryTile& queries, uint32_t first_head, uint32_t heads) {
  const uint64_t rows = uint64_t{queries.count} * heads;
  for (uint64_t first = 0; first < rows;) {
    const auto most = static_cast<uint32_t>(std::min<uint64_t>(scratch_.capacity, rows - first));
    const auto first_query = static_cast<uint32_t>(first / heads);
    uint32_t count;
    do {
      uint32_t query = first_query, head = static_cast<uint32_t>(first % heads);
      for (taps_.Clear(), count = 0; count < most && !taps_.Full(); ++count) {
        SetUpRow(piece, queries.first + query * queries.step, first_head + head, count);
        if (++head == heads) ++query, head = 0;
      }
      Begin(count);
      if (spec_.relative.keys != nullptr) SetUpRelative(first_head, piece.keys);
      QueryTile chunk = queries;
      chunk.first += first_query * queries.step;
      chunk.count = query - first_query + (head > 0);
      RunKeys(chunk);
    } while (MustRepeat());
    first += count;
    Finish(piece);
  }
}

// A value that is not finite makes the sums of all rows of its block NaN, even those that do not see it: 0 times it is
// NaN. Then the chunk is run again with such values left out. Sums that are a number need no second run, as nothing
// is what they would have been added.
bool AttentionEngine::MustRepeat() {
  tile_.careful = !tile_.careful && spec_.pattern.top_k == 0 && attention_.spoilt(tile_);
  return tile_.careful;
}

void AttentionEngine::SetUpRow(const Piece& piece, uint32_t position, uint32_t head, uint32_t index) {
  AttentionRow* row = &tile_.rows[index];
  const uint32_t space_row = piece.row + position - piece.first;
  const size_t local = space_row - call_.row_begin;
  *row = {};
  row->q = reinterpret_cast<const float*>(static_cast<const uint8_t*>(call_.q.data) + local * call_.q.row_stride +
                                          head * call_.q.head_stride);
  row->out = reinterpret_cast<float*>(static_cast<uint8_t*>(call_.out.data) + local * call_.out.row_stride +
                                      head * call_.out.head_stride);
  if (spec_.additive != nullptr) row->additive = spec_.additive + size_t{head} * spec_.d_k;
  if (spec_.distance_bias != nullptr) {
    row->bias = spec_.distance_bias + head * (2 * size_t{spec_.distance_reach} + 1) + spec_.distance_reach;
  }
  taps_.SetUp(space_row, head, index, piece.keys, tile_.weigh == nullptr ? kHidden : 0.0f, row);
  if (scratch_.best != nullptr) {
    row->best = &scratch_.best[index];
    row->best->count = 0;
    row->best->least = kHidden;
  }
  row->position = static_cast<int32_t>(position);
  if (spec_.centers != Centers::kNone) {
    memcpy(&row->center, reinterpret_cast<const uint8_t*>(call_.centers) + space_row * call_.center_stride,
           sizeof(float));
    if (spec_.centers == Centers::kFractions) row->center *= static_cast<float>(piece.keys);
  }
  row->apart = position < spec_.apart;
  row->coordinate = row->position;
  if (tile_.coordinates != nullptr) {
    row->coordinate = tile_.coordinates[position];
  } else if (spec_.query_stride > 1 && position > spec_.apart) {
    const uint64_t at = spec_.apart + uint64_t{position - spec_.apart} * spec_.query_stride;
    row->coordinate = static_cast<int32_t>(std::min<uint64_t>(at, INT32_MAX));
  }
  row->max = kHidden;
}

// The first `rows` rows of the tile are set up.
void AttentionEngine::Begin(uint32_t rows) {
  ClearRows(&tile_, rows);
  if (tile_.products != Products::kF32) attention_.narrow(tile_);
}

// y[i][j] = row i of `copied` . row j of the head's table, for rows [begin, end) of the table.
void AttentionEngine::MultiplyBuckets(uint32_t rows, const void* tables, DType type, uint32_t head, uint32_t begin,
                                      uint32_t end, float* y) const {
  const uint32_t buckets = spec_.relative.bucket_count;
  const auto* table = static_cast<const uint8_t*>(tables) + head * RowBytes(type, uint64_t{buckets} * spec_.d_k);
  const auto multiply = type == DType::kF16 ? kernels_.gemm.f16 : kernels_.gemm.f32;
  GemmTile gemm = {};
  gemm.rows = rows;
  gemm.k = spec_.d_k;
  gemm.x = scratch_.copied;
  gemm.y_stride = buckets;
  for (uint32_t first = begin; first < end; first += kGemmTileColumns) {
    gemm.columns = std::min<size_t>(kGemmTileColumns, end - first);
    gemm.weights = table + RowBytes(type, uint64_t{first} * spec_.d_k);
    gemm.y = y + first;
    multiply(gemm);
  }
}

// The buckets that the tile's rows need for keys at positions [first, last]: most pairs of rows and keys are near each
// other or all far. Whole groups of columns, so that products have the same bits in every range.
void AttentionEngine::BucketRange(int64_t first, int64_t last, uint32_t* begin, uint32_t* end) const {
  constexpr uint32_t kColumns = 16;
  const uint32_t buckets = spec_.relative.bucket_count;
  *begin = 0, *end = last < first ? 0 : buckets;
  if (last < first || spec_.coordinates != nullptr) return;
  int64_t low = tile_.rows[0].coordinate, high = low;
  for (uint32_t i = 1; i < tile_.row_count; ++i) {
    low = std::min<int64_t>(low, tile_.rows[i].coordinate);
    high = std::max<int64_t>(high, tile_.rows[i].coordinate);
  }
  const int64_t reach = spec_.distance_reach;
  const auto column = [&](int64_t distance) { return std::max(-reach, std::min(distance, reach)) + reach; };
  const auto range = std::minmax_element(tile_.buckets + column(first - high), tile_.buckets + column(last - low) + 1);
  *begin = static_cast<uint32_t>(*range.first) / kColumns * kColumns;
  *end = std::min((static_cast<uint32_t>(*range.second) / kColumns + 1) * kColumns, buckets);
}

void AttentionEngine::SetUpRelative(uint32_t head, uint32_t keys) {
  const uint32_t buckets = spec_.relative.bucket_count;
  for (uint32_t i = 0; i < tile_.row_count; ++i) {
    for (uint32_t j = 0; j < spec_.d_k; ++j) {
      scratch_.copied[size_t{i} * spec_.d_k + j] = spec_.scale * tile_.rows[i].q[j];
    }
    tile_.rows[i].relative = scratch_.relative + size_t{i} * buckets;
  }
  uint32_t begin, end;
  BucketRange(0, int64_t{keys} - 1, &begin, &end);
  MultiplyBuckets(tile_.row_count, spec_.relative.keys, spec_.relative.keys_type, head, begin, end, scratch_.relative);
}

void AttentionEngine::RunKeys(const QueryTile& queries) {
  if (spec_.centers != Centers::kNone) return RunCentered(queries.keys);
  KeyRanges ranges(spec_.pattern, queries);
  for (KeyRange range; ranges.Next(&range);) RunRange(range);
}

// From the first key that any row of the tile sees to the last; blocks in between that none sees are passed over.
void AttentionEngine::RunCentered(uint32_t keys) {
  int64_t begin = keys, end = 0;
  for (uint32_t i = 0; i < tile_.row_count; ++i) {
    const KeySpan span = SpanAround(spec_.pattern, tile_.rows[i].center, keys);
    if (span.begin >= span.end) continue;
    begin = std::min(begin, span.begin);
    end = std::max(end, span.end);
  }
  if (begin >= end) return;
  RunRange({static_cast<uint32_t>(begin), static_cast<uint32_t>(end - begin), 1, 1, -kNoBound, kNoBound, 0.0f});
}

// The grid: key first + i * stride of the range is cell first / stride + i, and a block is `block` cells.
void AttentionEngine::RunRange(const KeyRange& range) {
  const uint32_t phase = range.first % range.stride;
  const uint64_t begin = range.first / range.stride, end = begin + range.count;
  tile_.step = range.stride;
  tile_.index = nullptr;
  tile_.block_bias = range.bias;
  for (uint64_t block = begin / tile_.block * tile_.block; block < end; block += tile_.block) {
    tile_.first = static_cast<uint32_t>(phase + block * range.stride);
    const auto from = static_cast<uint32_t>(std::max(block, begin) - block);
    const auto to = static_cast<uint32_t>(std::min(block + tile_.block, end) - block);
    // Keys that are apart are taken in by themselves.
    const uint64_t cells = spec_.apart > tile_.first ? DivideUp(spec_.apart - tile_.first, range.stride) : 0;
    const auto middle = static_cast<uint32_t>(std::max<uint64_t>(from, std::min<uint64_t>(cells, to)));
    tile_.apart = true;
    if (from < middle && SetVisible(range, from, middle)) TakeBlock(from, middle);
    tile_.apart = false;
    if (middle < to && SetVisible(range, middle, to)) TakeBlock(middle, to);
  }
}

// Sets which of the block's keys [from, to) each row sees; false when none sees any.
bool AttentionEngine::SetVisible(const KeyRange& range, uint32_t from, uint32_t to) const {
  const int64_t stride = range.stride;
  const bool causal = spec_.pattern.causal;
  bool any = false;
  if (spec_.centers != Centers::kNone) {
    for (uint32_t i = 0; i < tile_.row_count; ++i) {
      AttentionRow* row = &tile_.rows[i];
      // All of the range's keys exist, so the segment's length does not matter here.
      const KeySpan span = SpanAround(spec_.pattern, row->center, UINT32_MAX);
      row->begin = static_cast<uint32_t>(std::min<int64_t>(std::max<int64_t>(span.begin - tile_.first, from), to));
      row->end = static_cast<uint32_t>(std::min<int64_t>(std::max<int64_t>(span.end - tile_.first, 0), to));
      any |= row->begin < row->end;
    }
    return any;
  }
  if (range.low == -kNoBound && range.high == kNoBound && !causal) {
    for (uint32_t i = 0; i < tile_.row_count; ++i) tile_.rows[i].begin = from, tile_.rows[i].end = to;
    return true;
  }
  for (uint32_t i = 0; i < tile_.row_count; ++i) {
    AttentionRow* row = &tile_.rows[i];
    int64_t begin = from, end = to;
    const int64_t position = int64_t{row->position} - tile_.first;  // of the query from the block's first key
    const int64_t anchor = position - row->position % static_cast<int64_t>(range.unit);
    if (range.low != -kNoBound) begin = std::max(begin, CeilDivide(anchor + range.low, stride));
    if (range.high != kNoBound) end = std::min(end, CeilDivide(anchor + range.high + 1, stride));
    if (causal) end = std::min(end, CeilDivide(position + 1, stride));
    row->begin = static_cast<uint32_t>(std::min<int64_t>(begin, to));
    row->end = static_cast<uint32_t>(std::max<int64_t>(end, 0));
    any |= row->begin < row->end;
  }
  return any;
}

// The rows of the tile take in keys [from, to) of the present block.
void AttentionEngine::TakeBlock(uint32_t from, uint32_t to) {
  attention_.pack(tile_, source_, from, to);
  if (spec_.relative.queries != nullptr && !tile_.apart) {
    const uint32_t buckets = spec_.relative.bucket_count;
    attention_.unpack(tile_, source_, from, to, spec_.scale, scratch_.copied);
    uint32_t begin, end;
    BucketRange(tile_.Position(from), tile_.Position(to - 1), &begin, &end);
    MultiplyBuckets(to - from, spec_.relative.queries, spec_.relative.queries_type, head_, begin, end,
                    scratch_.key_relative + size_t{from} * buckets);
    tile_.key_relative = scratch_.key_relative;
  }
  (spec_.pattern.top_k > 0 ? attention_.choose : attention_.attend)(tile_);
}

void AttentionEngine::Finish(const Piece& piece) {
  if (spec_.pattern.top_k > 0) attention_.finish_best(tile_, source_);
  attention_.finish(tile_, piece.keys);
  taps_.Deliver(tile_, piece.keys, piece.key_row);
}

uint64_t AttentionScratchBytes(const AttentionSpec& spec, uint32_t tile_rows) {
  Arena arena;
  AttentionScratch scratch;
  PlaceAttentionScratch(spec, tile_rows, &arena, &scratch);
  return arena.needed();
}

void RunAttention(const Kernels& kernels, const AttentionCall& call) {
  if (call.row_begin >= call.row_end) return;
  AttentionEngine engine(kernels, call);
  const uint32_t* key_offsets = call.key_segments.offsets;
  const auto run = [&](uint32_t segment, uint32_t row, uint32_t position, uint32_t count, uint32_t queries) {
    const uint32_t keys = key_offsets[segment + 1] - key_offsets[segment];
    engine.Run({position, count, row, keys, key_offsets[segment], segment, queries});
  };
  if (call.spec->pairing == Pairing::kParent) {
    for (uint32_t row = call.row_begin; row < call.row_end; ++row) run(row, row, 0, 1, 1);
    return;
  }
  const uint32_t* offsets = call.query_segments.offsets;
  // The last segment that starts at or before the first row; empty ones before it have no rows.
  uint32_t segment = static_cast<uint32_t>(
      std::upper_bound(offsets, offsets + call.query_segments.count + 1, call.row_begin) - offsets - 1);
  for (uint32_t row = call.row_begin; row < call.row_end; ++segment) {
    const uint32_t end = std::min(offsets[segment + 1], call.row_end);
    if (row < end) run(segment, row, row - offsets[segment], end - row, offsets[segment + 1] - offsets[segment]);
    row = end;
  }
}

}  // namespace fovea
