// Clustered attention (Reformer, arXiv 2001.04451): in each round the keys are sorted by bucket, and a query sees its
// own chunk of the sorted keys and the neighbours. The rounds stand one behind the other: before the first chunk of a
// round comes the last one of the round before it, and before the very first the very last. All rounds go into one
// softmax, a key as often as it is seen. The rows of the tile are taken in the order of the round, so that those of one
// chunk share its packed keys.
#include <algorithm>
#include <limits>

#include "runtime/attention/engine.h"

namespace fovea {

void AttentionEngine::RunClustered(const Piece& piece, const QueryTile& queries) {
  for (uint32_t first = 0; first < queries.count;) {
    uint32_t count = 0;
    for (taps_.Clear(); count < queries.count - first && !taps_.Full(); ++count) {
      SetUpRow(piece, queries.first + first + count, head_, count);
    }
    ClearRows(&tile_, count);
    if (tile_.products != Products::kF32) attention_.narrow(tile_);
    for (uint32_t round = 0; round < spec_.pattern.rounds; ++round) RunRound(piece, first, round);
    Finish(piece);
    first += count;
  }
}

// The rows of the tile are the piece's from its row `first_row` on.
void AttentionEngine::RunRound(const Piece& piece, uint32_t first_row, uint32_t round) {
  const Clusters& clusters = call_.clusters;
  const size_t column = size_t{head_} * spec_.pattern.rounds + round;
  const uint32_t rows = tile_.row_count;
  const uint32_t first_position = piece.first + first_row;
  const int32_t* ranks = nullptr;
  if (clusters.rank != nullptr) ranks = clusters.rank + (size_t{piece.row} + first_row) * clusters.stride + column;
  const auto rank = [&](uint32_t place) {
    return ranks == nullptr ? first_position + place : static_cast<uint32_t>(ranks[place * clusters.stride]);
  };
  uint32_t* places = scratch_.places;
  for (uint32_t i = 0; i < rows; ++i) places[i] = i;
  std::sort(places, places + rows, [&](uint32_t a, uint32_t b) { return rank(a) < rank(b); });

  AttentionTile& part = scratch_.part;
  for (uint32_t i = 0; i < rows; ++i) {
    part.rows[i] = tile_.rows[places[i]];
    part.rows[i].max = -std::numeric_limits<float>::infinity();
  }
  ClearRows(&part, rows);
  for (uint32_t first = 0, end; first < rows; first = end) {
    const uint32_t chunk = rank(places[first]) / spec_.pattern.chunk;
    for (end = first + 1; end < rows && rank(places[end]) / spec_.pattern.chunk == chunk; ++end) {
    }
    RunChunk(piece, round, chunk, first, end - first);
  }
  for (uint32_t i = 0; i < rows; ++i) {
    tile_.rows[places[i]].weight_count = part.rows[i].weight_count;
    attention_.merge(part, i, tile_, places[i]);
  }
}

// Rows [first_row, first_row + rows) of the round lie in one chunk.
void AttentionEngine::RunChunk(const Piece& piece, uint32_t round, uint32_t chunk, uint32_t first_row, uint32_t rows) {
  const Pattern& pattern = spec_.pattern;
  AttentionTile tile = scratch_.part;
  tile.rows += first_row;
  tile.sums += size_t{first_row} * kAttentionLanes;
  tile.sum_of_values += first_row * RoundUp(spec_.d_v, kAttentionLanes);
  tile.row_count = rows;
  tile.repeats = true;
  tile.causal = pattern.causal;
  tile.key_bias = tile_.key_bias;
  tile.key_bias_stride = tile_.key_bias_stride;
  tile.coordinates = tile_.coordinates;
  tile.index = scratch_.index;
  const uint64_t chunks = DivideUp(piece.keys, pattern.chunk), all = chunks * pattern.rounds;
  const uint64_t first_seen = round * chunks + chunk + all - pattern.chunks_before % all;
  for (uint32_t i = 0; i <= pattern.chunks_before + pattern.chunks_after; ++i) {
    const uint64_t place = (first_seen + i) % all;
    const size_t column = size_t{head_} * pattern.rounds + static_cast<size_t>(place / chunks);
    const auto seen = static_cast<uint32_t>(place % chunks);
    const uint32_t end = static_cast<uint32_t>(std::min<uint64_t>((uint64_t{seen} + 1) * pattern.chunk, piece.keys));
    for (uint32_t key = seen * pattern.chunk; key < end; key += tile.block) {
      const uint32_t keys = std::min(tile.block, end - key);
      for (uint32_t k = 0; k < keys; ++k) scratch_.index[k] = key + k;
      if (call_.clusters.order != nullptr) {
        const int32_t* order = call_.clusters.order + size_t{piece.key_row} * call_.clusters.stride + column;
        for (uint32_t k = 0; k < keys; ++k) {
          scratch_.index[k] = static_cast<uint32_t>(order[(size_t{key} + k) * call_.clusters.stride]) - piece.key_row;
        }
      }
      for (uint32_t r = 0; r < rows; ++r) tile.rows[r].begin = 0, tile.rows[r].end = keys;
      attention_.pack(tile, source_, 0, keys);
      attention_.attend(tile);
    }
  }
}

}  // namespace fovea
