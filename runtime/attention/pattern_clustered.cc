// Clustered attention (Reformer, arXiv 2001.04451): in each round the keys are sorted by bucket, and a query sees its
// chunk of the sorted keys and the neighbouring chunks. The chunks of all rounds form one circle: the chunk before the
// first one of a round is the last one of the round before, and the chunk before the first of all is the last of all.
// Chunks without keys, which fill a round up to a multiple of `chunk_multiple`, keep their places in that circle. All
// rounds share one softmax, in which a key counts as often as it is seen. A round processes its chunks in order, so
// that the rows of a chunk share its packed keys regardless of their distance: with all rows of a segment in a tile,
// each chunk is packed once for every chunk that sees it. With several rounds the state of each row is kept in the tile
// between rounds; with one, rows are final after their chunk, and the tile holds at most the rows of one chunk.
#include <algorithm>
#include <limits>

#include "runtime/attention/engine.h"

namespace fovea {

// Keys of a chunk may be anywhere in the segment: they are not ranges, and RunClustered handles them.
bool ClusteredRange(const Pattern&, const QueryTile&, uint32_t*, KeyRange*) { return false; }

uint64_t ClusteredMost(const Pattern& pattern, const SegmentSize& segment) {
  const uint64_t chunks = uint64_t{pattern.chunks_before} + pattern.chunks_after + 1;
  return chunks * pattern.rounds * std::min(pattern.chunk, segment.keys);
}

void AttentionEngine::RunClustered(const Piece& piece) {
  const uint32_t rounds = spec_.pattern.rounds;
  if (rounds == 1) return RunRound(piece, piece.first, piece.count, 0);
  for (uint32_t first = 0; first < piece.count;) {
    uint32_t count = 0;
    const uint32_t most = std::min(layout_.capacity, piece.count - first);
    do {
      for (taps_.Clear(), count = 0; count < most && !taps_.Full(); ++count) {
        SetUpRow(piece, piece.first + first + count, head_, count);
      }
      Begin(piece, count);
      for (uint32_t round = 0; round < rounds; ++round) RunRound(piece, piece.first + first, count, round);
    } while (MustRepeat());
    Finish(piece);
    first += count;
  }
}

// Position of the key at this place of the round. Queries and keys are the same rows.
uint32_t AttentionEngine::KeyAt(const Piece& piece, uint32_t round, uint32_t place) const {
  const Clusters& clusters = call_.clusters;
  if (clusters.order == nullptr) return place;
  const size_t column = size_t{head_} * spec_.pattern.rounds + round;
  const size_t row = size_t{piece.key_row} + place;
  return static_cast<uint32_t>(clusters.order[row * clusters.stride + column]) - piece.key_row;
}

// Runs the rows at positions [first, first + count) in groups of rows of one chunk, chunk by chunk.
void AttentionEngine::RunRound(const Piece& piece, uint32_t first, uint32_t count, uint32_t round) {
  const bool sorted = call_.clusters.order != nullptr;
  auto* positions = Scratch<uint32_t>(ScratchPart::kPositions);
  const uint32_t end = sorted ? piece.keys : first + count;
  for (uint32_t place = sorted ? 0 : first; place < end;) {
    const uint32_t chunk = place / spec_.pattern.chunk;
    const uint64_t chunk_end = std::min<uint64_t>((uint64_t{chunk} + 1) * spec_.pattern.chunk, end);
    uint32_t rows = 0;
    for (; place < chunk_end && rows < layout_.group; ++place) {
      const uint32_t position = KeyAt(piece, round, place);
      if (position - first < count) positions[rows++] = position;
    }
    if (rows == 0) continue;
    if (spec_.pattern.rounds == 1) {
      RunOnly(piece, chunk, rows);
    } else {
      RunPart(piece, first, round, chunk, rows);
    }
  }
}

// Runs a group if there is only one round.
void AttentionEngine::RunOnly(const Piece& piece, uint32_t chunk, uint32_t rows) {
  const auto* positions = Scratch<uint32_t>(ScratchPart::kPositions);
  for (uint32_t first = 0; first < rows;) {
    uint32_t count = 0;
    do {
      for (taps_.Clear(), count = 0; first + count < rows && !taps_.Full(); ++count) {
        SetUpRow(piece, positions[first + count], head_, count);
      }
      Begin(piece, count);
      RunChunk(piece, 0, chunk, tile_);
    } while (MustRepeat());
    Finish(piece);
    first += count;
  }
}

// Runs a group in one of several rounds; the tile's rows begin at position `first`.
void AttentionEngine::RunPart(const Piece& piece, uint32_t first, uint32_t round, uint32_t chunk, uint32_t rows) {
  AttentionTile part = tile_;
  part.rows = Scratch<AttentionRow>(ScratchPart::kPartRows);
  part.sums = Scratch<float>(ScratchPart::kPartSums);
  part.sum_of_values = Scratch<float>(ScratchPart::kPartSumOfValues);
  const auto* positions = Scratch<uint32_t>(ScratchPart::kPositions);
  const size_t width = RoundUp(tile_.d_v, kAttentionLanes);
  for (uint32_t i = 0; i < rows; ++i) {
    const size_t row = positions[i] - first;
    part.rows[i] = tile_.rows[row];
    part.rows[i].max = -std::numeric_limits<float>::infinity();
    // Needed after the chunk, in an order that hardware prefetchers cannot predict.
    __builtin_prefetch(tile_.sums + row * kAttentionLanes, 1);
    for (size_t j = 0; j < width; j += kAttentionLanes) __builtin_prefetch(tile_.sum_of_values + row * width + j, 1);
  }
  ClearRows(&part, rows);
  RunChunk(piece, round, chunk, part);
  for (uint32_t i = 0; i < rows; ++i) {
    const uint32_t row = positions[i] - first;
    tile_.rows[row].weight_count = part.rows[i].weight_count;
    attention_.merge(part, i, tile_, row);
  }
}

// All rows of `tile` are in this chunk of the round; adds the keys that the chunk sees to their sums.
void AttentionEngine::RunChunk(const Piece& piece, uint32_t round, uint32_t chunk, AttentionTile tile) {
  const Pattern& pattern = spec_.pattern;
  tile.terms.causal = pattern.causal;
  tile.terms.any = has_terms_ || pattern.causal;
  auto* index = Scratch<uint32_t>(ScratchPart::kIndex);
  tile.index = index;
  const uint64_t chunks = pattern.ChunksOfRound(piece.keys), all = chunks * pattern.rounds;
  for (uint32_t i = 0; i <= pattern.chunks_before + pattern.chunks_after; ++i) {
    const uint64_t seen = pattern.SeenChunk(round * chunks + chunk, i, all), begin = seen % chunks * pattern.chunk;
    if (begin >= piece.keys) continue;
    const auto end = static_cast<uint32_t>(std::min<uint64_t>(begin + pattern.chunk, piece.keys));
    for (auto place = static_cast<uint32_t>(begin); place < end; place += tile.block) {
      const uint32_t keys = std::min(tile.block, end - place);
      for (uint32_t k = 0; k < keys; ++k) {
        index[k] = KeyAt(piece, static_cast<uint32_t>(seen / chunks), place + k);
      }
      for (uint32_t r = 0; r < tile.row_count; ++r) tile.rows[r].begin = 0, tile.rows[r].end = keys;
      StartBlock(0, keys, &tile);
      attention_.attend(tile);
    }
  }
}

}  // namespace fovea
