// Runs attention for a tile of query rows: the tile is cut into pieces of one segment each, a piece into chunks of rows
// (a row is one query of one head), and a chunk loops over the key ranges of its pattern block by block. Blocks are on
// a grid that is fixed in the segment, so the order in which a query processes its keys does not depend on the tile.
#include "runtime/attention/engine.h"

#include <string.h>

#include <algorithm>
#include <limits>

#include "runtime/kernels/kernels.h"

namespace fovea {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

// Exponent of 2 for a key at distance 1 from the centre: exp(-d^2 / (2 (D / 2)^2)) = 2^(fade d^2).
float FadeOf(const AttentionSpec& spec) {
  if (!spec.weighting.gaussian) return 0.0f;
  const double reach = spec.pattern.left;
  return static_cast<float>(-2.0 * 1.4426950408889634 / (reach * reach));
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

AttentionEngine::AttentionEngine(const Kernels& kernels, const AttentionCall& call, const AttentionLayout& layout)
    : attention_(kernels.attention),
      call_(call),
      spec_(*call.spec),
      layout_(layout),
      terms_{{kernels, call, *call.spec, layout}},
      group_(spec_.heads / spec_.kv_heads),
      taps_(call.weights, kernels.elementwise) {
  const ScorePart& score = spec_.score;
  tile_.d_k = spec_.d_k;
  tile_.d_v = spec_.d_v;
  tile_.block = layout.block;
  tile_.score = score.kind;
  tile_.scale = score.scale;
  tile_.cap = score.cap;
  tile_.fade = FadeOf(spec_);
  if (spec_.weighting.kind != Activation::kNone) {
    tile_.weigh = kernels.activation.apply[static_cast<uint32_t>(spec_.weighting.kind)];
  }
  if (kAttendsProducts) tile_.cast = &kernels.cast;
  tile_.repeats = spec_.pattern.layout != nullptr || spec_.pattern.rounds > 0;
  tile_.keeps_scores = call.weights != nullptr && call.weights->scores;
  tile_.packed_keys = Scratch<float>(ScratchPart::kPackedKeys);
  tile_.widened = Scratch<float>(ScratchPart::kWidened);
  tile_.scores = Scratch<float>(ScratchPart::kScores);
  tile_.key_factors = Scratch<float>(ScratchPart::kKeyFactors);
  tile_.sums = Scratch<float>(ScratchPart::kSums);
  tile_.sum_of_values = Scratch<float>(ScratchPart::kSumOfValues);
  tile_.rows = Scratch<AttentionRow>(ScratchPart::kRows);
  const auto asked = static_cast<uint32_t>(score.products);
  UseProducts(kRounded != Products::kF32 || !attention_.has[asked] ? Products::kF32 : score.products);
  terms_.ForEach([&](auto& term) {
    term.Start(&tile_);
    has_terms_ |= term.kIsScore;
  });
}

// The type of products over a segment of `keys` keys. It depends on nothing else of a call, so a query has the same
// bits in any tile, and with causal attention not even on that: a sequence grows.
Products AttentionEngine::ProductsFor(uint32_t keys) const {
  const Pattern& pattern = spec_.pattern;
  const bool rounds = spec_.score.products == Products::kF32 && spec_.score.may_round && call_.key_type == DType::kF32;
  const Products products = rounds ? kRounded : spec_.score.products;
  if (!attention_.has[static_cast<uint32_t>(products)]) return Products::kF32;
  if (!rounds && products != Products::kI16) return products;
  if (pattern.top_k > 0) return Products::kF32;
  if (products == Products::kI16 && (spec_.weighting.kind != Activation::kNone || spec_.weighting.gaussian)) {
    return Products::kF32;
  }
  const uint64_t window = uint64_t{pattern.left} + pattern.right + 1;
  return pattern.causal || std::min<uint64_t>(keys, window) >= kRoundedKeys ? products : Products::kF32;
}

void AttentionEngine::UseProducts(Products products) {
  capacity_ = layout_.capacity;
  tile_.products = products;
  tile_.packed_values = Scratch<float>(ScratchPart::kPackedValues);
  tile_.query_words = Scratch<float>(ScratchPart::kQueryWords);
  tile_.key_words = Scratch<float>(ScratchPart::kKeyWords);
  tile_.value_factors = nullptr;
  if (kRounded != Products::kF32 && products == kRounded && spec_.score.products == Products::kF32) {
    if (!UseSpareRoom()) UseProducts(Products::kF32);
  } else if (kBuildsI16 && products == Products::kI16) {
    tile_.value_factors = Scratch<float>(ScratchPart::kLevels);
  } else if (kRowsI8 && call_.key_type == DType::kI8 && products != Products::kBf16) {
    tile_.value_factors = Scratch<float>(ScratchPart::kValueFactors);
  }
  if (kBuildsArmI8) {
    const bool halves = attention_.half_values && tile_.products == Products::kI8 && tile_.value_factors == nullptr &&
                        spec_.weighting.kind == Activation::kNone && !spec_.weighting.gaussian &&
                        spec_.pattern.top_k == 0;
    tile_.halves = halves ? &source_ : nullptr;
  }
}

// Places what shorter products need in scratch that was laid out for f32: packed keys, with int16 also values, take a
// part of the room, and words of queries the rest, for which chunks may become shorter. Keys are f32, so `widened` is
// not used.
bool AttentionEngine::UseSpareRoom() {
  constexpr size_t kLeastRows = 48;  // fewer would pack keys too often
  const size_t block = tile_.block, longest = std::max(spec_.d_k, spec_.d_v), words = MostWords(spec_.d_k);
  if (kBuildsI16) {
    if (2 * block > kAttentionLanes * longest || kAttentionLanes * size_t{spec_.d_k} > kAttentionScoreFloats)
      return false;
    tile_.packed_values += block / 2 * RoundUp(spec_.d_v, kAttentionLanes);
    tile_.query_words = tile_.packed_keys + block * DivideUp(spec_.d_k, 2);
    tile_.key_words = tile_.scores;
    tile_.value_factors = tile_.widened;
  } else {
    if (words > spec_.d_k) return false;
    tile_.query_words = tile_.packed_keys + block * RoundUp(DivideUp(spec_.d_k, 4), 4);
    tile_.key_words = tile_.widened;
  }
  const size_t rows = static_cast<size_t>(tile_.packed_values - tile_.query_words) / words;
  capacity_ = static_cast<uint32_t>(std::min<size_t>(capacity_, rows));
  return rows >= kLeastRows;
}

void AttentionEngine::Run(const Piece& piece) {
  if (kRounded != Products::kF32) UseProducts(ProductsFor(piece.keys));
  const uint32_t step = SplitsHeads(spec_) || terms_.key_bias.DiffersByHead() ? 1 : group_;
  const uint32_t end = call_.head_end == 0 ? spec_.heads : call_.head_end;
  for (uint32_t head = call_.head_begin; head < end; head += step) RunHeads(piece, head, step);
}

// Heads [first_head, first_head + heads) must share a key/value head and a pattern.
void AttentionEngine::RunHeads(const Piece& piece, uint32_t first_head, uint32_t heads) {
  const Pattern& pattern = spec_.pattern;
  const uint32_t kv_head = first_head / group_;
  head_ = first_head;
  const KeyPages* pages = call_.key_pages;
  const uint32_t first_row = pages == nullptr ? piece.key_row : 0;  // pages have the rows of all segments
  const auto kept = [&](const HeadRows& rows) {
    return rows.Vector<const uint8_t>(piece.segment, 0, first_row, kv_head);
  };
  source_ = {kept(call_.k),
             kept(call_.v),
             call_.k.row_stride,
             call_.v.row_stride,
             nullptr,
             nullptr,
             0,
             0,
             call_.key_type,
             nullptr,
             0};
  if (pages != nullptr) source_.pages = pages->TableOf(piece.segment), source_.page_mask = pages->table_size - 1;
  if (kRowsI8 && call_.key_type == DType::kI8) {
    source_.k_scales = reinterpret_cast<const float*>(kept(call_.k_scales));
    source_.v_scales = reinterpret_cast<const float*>(kept(call_.v_scales));
    source_.k_scale_stride = call_.k_scales.row_stride / sizeof(float);
    source_.v_scale_stride = call_.v_scales.row_stride / sizeof(float);
  }
  terms_.ForEach([&](auto& term) { term.StartHead(piece, first_head, &tile_); });

  QueryTile queries = {piece.first, piece.count, 1, piece.keys, first_head, false, nullptr, 0, piece.key_row, {0, 0}};
  if (kAttendsGlobalKeys && pattern.global_keys) {
    const Segments& segments = call_.global_keys.segments;
    queries.global_keys = call_.global_keys.rows + segments.offsets[piece.segment];
    queries.global_key_count = segments.length(piece.segment);
  }
  if (kAttendsClustered && pattern.rounds > 0 && piece.keys > pattern.chunk) {
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
  // Global rows see all keys; other rows are grouped by residue if the window is dilated, by block if blocks differ.
  const uint32_t front = std::min(std::max(pattern.global_first, piece.first), end);
  const uint32_t back = std::max(front, static_cast<uint32_t>(std::min<uint64_t>(pattern.GlobalEnd(piece.keys), end)));
  run(piece.first, front, 1, true);
  const uint32_t dilation = pattern.WindowOf(first_head).dilation;
  if (kAttendsLayout && pattern.layout != nullptr) {
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
    const auto most = static_cast<uint32_t>(std::min<uint64_t>(capacity_, rows - first));
    const auto first_query = static_cast<uint32_t>(first / heads);
    uint32_t count;
    do {
      uint32_t query = first_query, head = static_cast<uint32_t>(first % heads);
      for (taps_.Clear(), count = 0; count < most && !taps_.Full(); ++count) {
        SetUpRow(piece, queries.first + query * queries.step, first_head + head, count);
        if (++head == heads) ++query, head = 0;
      }
      Begin(piece, count);
      QueryTile chunk = queries;
      chunk.first += first_query * queries.step;
      chunk.count = query - first_query + (head > 0);
      RunKeys(chunk);
      if (kAttendsSummaries && terms_.summaries.count() > 0)
        RunSummaries(first_head, static_cast<uint32_t>(first % heads), heads);
    } while (MustRepeat());
    first += count;
    Finish(piece);
  }
}

// A value that is not finite makes the sums of all rows of its block NaN, even of rows that do not see it: 0 times NaN
// or infinity is NaN. Then the chunk is run again without values of weight 0. Sums that are a number need no second
// run, because leaving out these values would not change them.
bool AttentionEngine::MustRepeat() {
  tile_.careful = !tile_.careful && spec_.pattern.top_k == 0 && attention_.spoilt(tile_);
  return tile_.careful;
}

void AttentionEngine::SetUpRow(const Piece& piece, uint32_t position, uint32_t head, uint32_t index) {
  AttentionRow* row = &tile_.rows[index];
  const uint32_t space_row = piece.row + position - piece.first;
  const size_t local = space_row - call_.row_begin;
  *row = {};
  const size_t place = position - piece.start;
  row->q = call_.q.Vector<const float>(piece.segment, place, local, head);
  row->out = call_.out.Vector<float>(piece.segment, place, local, head);
  row->position = static_cast<int32_t>(position);
  row->max = kHidden;
  if (kAttendsScoreAdditive && spec_.score.additive != nullptr)
    row->additive = spec_.score.additive + size_t{head} * spec_.d_k;
  if (kKeepsWeights) taps_.SetUp(space_row, head, index, piece.keys, tile_.StoresScores() ? kHidden : 0.0f, row);
  if (kAttendsTopK && spec_.pattern.top_k > 0) {
    const size_t first = size_t{index} * layout_.top_entries;
    row->top = Scratch<TopKeys>(ScratchPart::kTopKeys) + index;
    *row->top = {Scratch<float>(ScratchPart::kTopScores) + first,
                 Scratch<uint32_t>(ScratchPart::kTopPositions) + first,
                 0,
                 spec_.pattern.top_k,
                 layout_.top_entries,
                 kHidden};
  }
  if (spec_.pattern.centers != Centers::kNone) {
    row->center = call_.centers.Of(space_row);
    if (spec_.pattern.centers == Centers::kFractions) row->center *= static_cast<float>(piece.keys);
  }
  terms_.ForEach([&](auto& term) { term.StartRow({piece, position, space_row, head, index}, row); });
}

// Starts the first `rows` rows of the tile, which are set up.
void AttentionEngine::Begin(const Piece& piece, uint32_t rows) {
  ClearRows(&tile_, rows);
  const bool in_place = rows <= attention_.in_place_rows && spec_.score.kind == Score::kDot &&
                        tile_.products == Products::kF32 && spec_.pattern.rounds == 0 && !tile_.careful;
  tile_.source = in_place ? &source_ : nullptr;
  if (kAttendsProducts && tile_.products != Products::kF32) attention_.narrow(tile_);
  terms_.ForEach([&](auto& term) { term.StartChunk(head_, piece.keys, &tile_); });
}

void AttentionEngine::RunKeys(QueryTile queries) {
  if (kAttendsCentered && spec_.pattern.centers != Centers::kNone) {
    queries.seen = {queries.keys, 0};
    for (uint32_t i = 0; i < tile_.row_count; ++i) {
      const KeySpan span = SpanAround(spec_.pattern, tile_.rows[i].center, queries.keys);
      if (span.begin >= span.end) continue;
      queries.seen = {std::min(queries.seen.begin, span.begin), std::max(queries.seen.end, span.end)};
    }
  }
  KeyRanges ranges(spec_.pattern, queries);
  for (KeyRange range; ranges.Next(&range);) RunRange(range);
}

// All rows process the summary keys. Row i belongs to head first_head + (turn + i) % heads.
void AttentionEngine::RunSummaries(uint32_t first_head, uint32_t turn, uint32_t heads) {
  terms_.summaries.Enter(first_head, turn, heads, &source_, &tile_);
  RunRange({0, terms_.summaries.count(), 1, 1, -kNoBound, kNoBound, 0.0f});
  terms_.summaries.Leave(&source_, &tile_);
}

// Key first + i * stride of the range is cell first / stride + i of the grid, and a block is `block` cells.
void AttentionEngine::RunRange(const KeyRange& range) {
  const uint32_t phase = range.first % range.stride;
  const uint64_t begin = range.first / range.stride, end = begin + range.count;
  tile_.step = range.stride;
  tile_.index = nullptr;
  tile_.terms.count_bias = range.bias;
  tile_.terms.any = has_terms_ || range.bias != 0.0f;
  for (uint64_t block = begin / tile_.block * tile_.block; block < end; block += tile_.block) {
    tile_.first = static_cast<uint32_t>(phase + block * range.stride);
    const auto from = static_cast<uint32_t>(std::max(block, begin) - block);
    const auto to = static_cast<uint32_t>(std::min(block + tile_.block, end) - block);
    tile_.existing = static_cast<uint32_t>(end - block);
    // Keys that are apart (without distances) are processed separately.
    const uint64_t cells =
        spec_.positions.apart > tile_.first ? DivideUp(spec_.positions.apart - tile_.first, range.stride) : 0;
    const auto middle = static_cast<uint32_t>(std::max<uint64_t>(from, std::min<uint64_t>(cells, to)));
    tile_.terms.distances.apart = true;
    if (from < middle && SetVisible(range, from, middle)) TakeBlock(from, middle);
    tile_.terms.distances.apart = false;
    if (middle < to && SetVisible(range, middle, to)) TakeBlock(middle, to);
  }
}

// Sets which of the block's keys [from, to) each row sees; returns false if no row sees any.
bool AttentionEngine::SetVisible(const KeyRange& range, uint32_t from, uint32_t to) const {
  const int64_t stride = range.stride;
  const bool causal = spec_.pattern.causal;
  bool any = false;
  if (kAttendsCentered && spec_.pattern.centers != Centers::kNone) {
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
    const int64_t position = int64_t{row->position} - tile_.first;  // of the query, relative to the block's first key
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

// Packs keys [from, to) of the current block, and lets the terms prepare for them.
void AttentionEngine::StartBlock(uint32_t from, uint32_t to, AttentionTile* tile) {
  if (tile->source == nullptr) attention_.pack(*tile, source_, from, to);
  terms_.ForEach([&](auto& term) { term.StartBlock(head_, source_, from, to, tile); });
}

// Adds keys [from, to) of the current block to the sums of the tile's rows.
void AttentionEngine::TakeBlock(uint32_t from, uint32_t to) {
  StartBlock(from, to, &tile_);
  (kAttendsTopK && spec_.pattern.top_k > 0 ? attention_.choose : attention_.attend)(tile_);
}

void AttentionEngine::Finish(const Piece& piece) {
  if (kAttendsTopK && spec_.pattern.top_k > 0) attention_.finish_top_k(tile_, source_);
  attention_.finish(tile_, piece.keys);
  if (kKeepsWeights) taps_.Deliver(tile_, piece.keys, piece.key_row);
}

void RunAttention(const Kernels& kernels, const AttentionCall& call) {
  if (call.row_begin >= call.row_end) return;
  AttentionLayout own;
  if (call.layout == nullptr) {
    const uint32_t rows = call.row_end - call.row_begin;
    own = LayOutAttention(*call.spec, call.tile_rows == 0 ? rows : std::min(rows, call.tile_rows));
  }
  AttentionEngine engine(kernels, call, call.layout == nullptr ? own : *call.layout);
  const auto run = [&](uint32_t of_queries, uint32_t row, uint32_t place, uint32_t count, uint32_t queries) {
    const uint32_t segment = call.KeySegmentOf(of_queries);
    const uint32_t keys = call.key_segments.length(segment), start = call.StartOf(segment, queries, keys);
    engine.Run({start + place, count, row, start, keys, call.key_segments.offsets[segment], segment});
  };
  if (call.spec->pairing == Pairing::kParent) {
    for (uint32_t row = call.row_begin; row < call.row_end; ++row) run(row, row, 0, 1, 1);
    return;
  }
  const uint32_t* offsets = call.query_segments.offsets;
  uint32_t segment = call.query_segments.Of(call.row_begin);
  for (uint32_t row = call.row_begin; row < call.row_end; ++segment) {
    const uint32_t end = std::min(offsets[segment + 1], call.row_end);
    if (row < end) run(segment, row, row - offsets[segment], end - row, call.query_segments.length(segment));
    row = end;
  }
}

}  // namespace fovea
