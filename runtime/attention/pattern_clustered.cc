// Clustered attention (Reformer, arXiv 2001.04451): in each round the keys are sorted by bucket, and a query sees its
// own chunk of the sorted keys and the neighbours. The rounds stand one after the other: before the first chunk of a
// round comes the last one of the round before it, and before the very first the very last. Chunks without keys, with
// which `chunk_multiple` ends a round, keep their places in that circle. All rounds go into one
// softmax, a key as often as it is seen. A round walks over its chunks in their order, so that the rows of a chunk
// share its packed keys however far apart they stand: with all rows of a segment in a tile, each chunk is packed once
// for every chunk that sees it. With several rounds what a row has after each of them is kept in the tile; with one,
// rows are final after their chunk, and the tile holds no more than a part of one.
#include <algorithm>
#include <limits>

#include "runtime/attention/engine.h"

namespace fovea {

// Keys of chunks stand anywhere: they are no ranges, and gone through below.
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
      Begin(count);
      for (uint32_t round = 0; round < rounds; ++round) RunRound(piece, piece.first + first, count, round);
    } while (MustRepeat());
    Finish(piece);
    first += count;
  }
}

// Position of the key at this place of the round. Queries are keys, too.
uint32_t AttentionEngine::KeyAt(const Piece& piece, uint32_t round, uint32_t place) const {
  const Clusters& clusters = call_.clusters;
  if (clusters.order == nullptr) return place;
  const size_t column = size_t{head_} * spec_.pattern.rounds + round;
  const size_t row = size_t{piece.key_row} + place;
  return static_cast<uint32_t>(clusters.order[row * clusters.stride + column]) - piece.key_row;
}

// Rows at positions [first, first + count): groups of them that are in one chunk, chunk by chunk.
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

// A group of the only round.
void AttentionEngine::RunOnly(const Piece& piece, uint32_t chunk, uint32_t rows) {
  const auto* positions = Scratch<uint32_t>(ScratchPart::kPositions);
  for (uint32_t first = 0; first < rows;) {
    uint32_t count = 0;
    do {
      for (taps_.Clear(), count = 0; first + count < rows && !taps_.Full(); ++count) {
        SetUpRow(piece, positions[first + count], head_, count);
      }
      Begin(count);
      RunChunk(piece, 0, chunk, tile_);
    } while (MustRepeat());
    Finish(piece);
    first += count;
  }
}

// A group of one of several rounds; the tile's rows begin with position `first`.
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
    // Wanted after the chunk, and in an order that no hardware sees coming.
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

// All rows of `tile` lie in this chunk of the round and take in what it sees.
void AttentionEngine::RunChunk(const Piece& piece, uint32_t round, uint32_t chunk, AttentionTile tile) {
  const Pattern& pattern = spec_.pattern;
  tile.causal = pattern.causal;
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
      attention_.pack(tile, source_, 0, keys);
      PlaceBlock(tile, 0, keys);
      attention_.attend(tile);
    }
  }
}

}  // namespace fovea
