// Runs attention for a tile of query rows: the tile is cut into pieces of one segment each, a piece into chunks of rows
// (a row is one query of one head), and a chunk walks over the key ranges of its pattern block by block. The blocks lie
// on a grid that is fixed in the segment, so the order in which a query takes in its keys does not depend on the tile.
#include <string.h>

#include <algorithm>
#include <limits>

#include "runtime/attention/attention.h"
#include "runtime/attention/pattern.h"
#include "runtime/base/arena.h"
#include "runtime/kernels/attention.h"

namespace fovea {
namespace {

// Rows that share one packed block. More spread the cost of packing, fewer keep their state in cache.
constexpr uint32_t kChunkRows = 256;

// Keys per block: long blocks spread the cost of a softmax step, packed keys and values should stay in cache (64 KiB).
uint32_t BlockKeys(const AttentionSpec& spec) {
  const uint64_t keys = 16384 / (uint64_t{spec.d_k} + spec.d_v) / kAttentionKeyStep * kAttentionKeyStep;
  return static_cast<uint32_t>(std::min<uint64_t>(std::max<uint64_t>(keys, kAttentionKeyStep), kAttentionMaxBlock));
}

// Takes the scratch of a chunk of up to `rows` rows.
AttentionTile PlaceTile(const AttentionSpec& spec, uint32_t rows, Arena* arena) {
  const uint64_t width = RoundUp(spec.d_v, kAttentionLanes);
  AttentionTile tile = {};
  tile.d_k = spec.d_k;
  tile.d_v = spec.d_v;
  tile.block = BlockKeys(spec);
  tile.scale = spec.scale;
  tile.reach = spec.distance_reach;
  const auto floats = [arena](CheckedSize count) {
    return static_cast<float*>(arena->TakeBytes(count * CheckedSize(sizeof(float))));
  };
  tile.packed_keys = floats(uint64_t{tile.block} * spec.d_k);
  tile.packed_values = floats(tile.block * width);
  tile.scores = floats(kAttentionScoreFloats);
  tile.sums = floats(uint64_t{rows} * kAttentionLanes);
  tile.sum_of_values = floats(rows * width);
  tile.rows = static_cast<AttentionRow*>(arena->TakeBytes(uint64_t{rows} * sizeof(AttentionRow)));
  return tile;
}

uint32_t ChunkCapacity(const AttentionSpec& spec, uint32_t tile_rows) {
  const uint64_t group = spec.heads / spec.kv_heads;
  return static_cast<uint32_t>(std::min<uint64_t>(kChunkRows, group * tile_rows));
}

// Queries [first, first + count) of one segment against that segment's keys.
struct Piece {
  QueryTile queries;
  uint32_t row;      // of the first query, in the query space
  uint32_t key_row;  // of the segment's first key, in the key space
};

class Engine {
 public:
  Engine(const AttentionKernels& kernels, const AttentionCall& call)
      : kernels_(kernels), call_(call), spec_(*call.spec), group_(spec_.heads / spec_.kv_heads) {
    const uint32_t capacity = ChunkCapacity(spec_, call.row_end - call.row_begin);
    Arena arena(call.scratch, SIZE_MAX - reinterpret_cast<uintptr_t>(call.scratch));
    tile_ = PlaceTile(spec_, capacity, &arena);
    capacity_ = capacity;
    pattern_ = FindPattern(spec_.pattern.kind);
  }

  void Run(const Piece& piece) {
    const uint64_t rows = uint64_t{piece.queries.count} * group_;
    for (uint32_t head = 0; head < spec_.kv_heads; ++head) {
      for (uint64_t first = 0; first < rows; first += capacity_) {
        RunChunk(piece, head, first, static_cast<uint32_t>(std::min<uint64_t>(capacity_, rows - first)));
      }
    }
  }

 private:
  // Rows [first, first + count) of the piece for one key/value head; row r is query r / group of head r % group.
  void RunChunk(const Piece& piece, uint32_t kv_head, uint64_t first, uint32_t count) {
    const uint32_t first_query = static_cast<uint32_t>(first / group_);
    uint32_t query = first_query, head = static_cast<uint32_t>(first % group_);
    for (uint32_t i = 0; i < count; ++i) {
      SetUpRow(piece, query, kv_head * group_ + head, &tile_.rows[i]);
      if (++head == group_) ++query, head = 0;
    }
    tile_.row_count = count;
    memset(tile_.sums, 0, sizeof(float) * count * kAttentionLanes);
    memset(tile_.sum_of_values, 0, sizeof(float) * count * RoundUp(spec_.d_v, kAttentionLanes));

    QueryTile queries = piece.queries;
    queries.first += first_query;
    queries.count = query - first_query + (head > 0);
    KeyRange range;
    for (uint32_t index = 0; pattern_(spec_.pattern, queries, index, &range); ++index) {
      RunRange(piece, kv_head, range);
    }
    kernels_.finish(tile_, piece.queries.keys);
  }

  void SetUpRow(const Piece& piece, uint32_t query, uint32_t head, AttentionRow* row) const {
    const size_t local = piece.row - call_.row_begin + query;
    row->q = call_.q + (local * spec_.heads + head) * spec_.d_k;
    row->out = call_.out + (local * spec_.heads + head) * spec_.d_v;
    row->bias = nullptr;
    if (spec_.distance_bias != nullptr) {
      row->bias = spec_.distance_bias + head * (2 * size_t{spec_.distance_reach} + 1) + spec_.distance_reach;
    }
    row->weights = nullptr;
    if (call_.weights != nullptr) {
      row->weights = call_.weights + (size_t{piece.row + query} * spec_.heads + head) * call_.weights_stride;
      std::fill_n(row->weights, piece.queries.keys, -std::numeric_limits<float>::infinity());
    }
    row->position = static_cast<int32_t>(piece.queries.first + query);
    row->max = -std::numeric_limits<float>::infinity();
  }

  // The grid: key first + i * stride of the range is cell first / stride + i, and a block is `block` cells.
  void RunRange(const Piece& piece, uint32_t kv_head, const KeyRange& range) {
    const uint32_t phase = range.first % range.stride;
    const uint64_t begin = range.first / range.stride, end = begin + range.count;
    const size_t k_width = size_t{spec_.kv_heads} * spec_.d_k, v_width = size_t{spec_.kv_heads} * spec_.d_v;
    tile_.step = range.stride;
    for (uint64_t block = begin / tile_.block * tile_.block; block < end; block += tile_.block) {
      tile_.first = static_cast<uint32_t>(phase + block * range.stride);
      const uint32_t from = static_cast<uint32_t>(std::max(block, begin) - block);
      const uint32_t to = static_cast<uint32_t>(std::min(block + tile_.block, end) - block);
      if (!SetVisible(range, from, to)) continue;
      const size_t key = size_t{piece.key_row} + tile_.first;
      kernels_.pack(tile_, call_.k + key * k_width + size_t{kv_head} * spec_.d_k, k_width * range.stride,
                    call_.v + key * v_width + size_t{kv_head} * spec_.d_v, v_width * range.stride, from, to);
      kernels_.attend(tile_);
    }
  }

  // Sets which of the block's keys [from, to) each row sees; false when none sees any.
  bool SetVisible(const KeyRange& range, uint32_t from, uint32_t to) const {
    const int64_t stride = range.stride;
    bool any = false;
    if (range.left == kUnbounded && range.right == kUnbounded) {
      for (uint32_t i = 0; i < tile_.row_count; ++i) tile_.rows[i].begin = from, tile_.rows[i].end = to;
      return true;
    }
    for (uint32_t i = 0; i < tile_.row_count; ++i) {
      AttentionRow* row = &tile_.rows[i];
      int64_t begin = from, end = to;
      const int64_t offset = int64_t{row->position} - tile_.first;  // of the query from the block's first key
      if (range.left != kUnbounded) begin = std::max(begin, CeilDivide(offset - range.left, stride));
      if (range.right != kUnbounded) end = std::min(end, CeilDivide(offset + range.right + 1, stride));
      row->begin = static_cast<uint32_t>(begin);
      row->end = static_cast<uint32_t>(std::max<int64_t>(end, 0));
      any |= row->begin < row->end;
    }
    return any;
  }

  static int64_t CeilDivide(int64_t a, int64_t b) {
    if (b == 1) return a;
    return a >= 0 ? (a + b - 1) / b : -(-a / b);
  }

  const AttentionKernels& kernels_;
  const AttentionCall& call_;
  const AttentionSpec& spec_;
  const uint32_t group_;
  uint32_t capacity_;
  PatternRange pattern_;
  AttentionTile tile_;
};

}  // namespace

#define FOVEA_PATTERN(name) bool name##Range(const Pattern&, const QueryTile&, uint32_t, KeyRange*);
#include "runtime/attention/pattern_list.inc"
#undef FOVEA_PATTERN

PatternRange FindPattern(PatternKind kind) {
  switch (kind) {
#define FOVEA_PATTERN(name)  \
  case PatternKind::k##name: \
    return name##Range;
#include "runtime/attention/pattern_list.inc"
#undef FOVEA_PATTERN
  }
  return nullptr;
}

uint64_t AttentionScratchBytes(const AttentionSpec& spec, uint32_t tile_rows) {
  Arena arena;
  PlaceTile(spec, ChunkCapacity(spec, tile_rows), &arena);
  return arena.needed();
}

void RunAttention(const AttentionKernels& kernels, const AttentionCall& call) {
  if (call.row_begin >= call.row_end) return;
  Engine engine(kernels, call);
  const uint32_t* key_offsets = call.key_segments.offsets;
  const auto run = [&](uint32_t segment, uint32_t row, uint32_t position, uint32_t count) {
    const uint32_t keys = key_offsets[segment + 1] - key_offsets[segment];
    engine.Run({{position, count, keys}, row, key_offsets[segment]});
  };
  if (call.spec->pairing == Pairing::kParent) {
    for (uint32_t row = call.row_begin; row < call.row_end; ++row) run(row, row, 0, 1);
    return;
  }
  const uint32_t* offsets = call.query_segments.offsets;
  // The last segment that starts at or before the first row; empty ones before it have no rows.
  uint32_t segment = static_cast<uint32_t>(
      std::upper_bound(offsets, offsets + call.query_segments.count + 1, call.row_begin) - offsets - 1);
  for (uint32_t row = call.row_begin; row < call.row_end; ++segment) {
    const uint32_t end = std::min(offsets[segment + 1], call.row_end);
    if (row < end) run(segment, row, row - offsets[segment], end - row);
    row = end;
  }
}

}  // namespace fovea
