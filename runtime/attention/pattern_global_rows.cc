// The first and the last rows of a segment, which every query sees: sinks, class tokens, first and last block. Queries
// at these rows see all keys, which is an unbounded window.
#include <algorithm>

#include "runtime/attention/pattern.h"

namespace fovea {

bool GlobalRowsRange(const Pattern& pattern, const QueryTile& tile, uint32_t* cursor, KeyRange* range) {
  const uint32_t first = std::min(pattern.global_first, tile.keys);
  const uint32_t last =
      std::max(first, static_cast<uint32_t>(std::min<uint64_t>(pattern.GlobalEnd(tile.keys), tile.keys)));
  while (!tile.sees_all && *cursor < 2) {
    const bool front = (*cursor)++ == 0;
    const uint32_t begin = front ? 0 : last, end = front ? first : tile.keys;
    if (begin >= end) continue;
    *range = {begin, end - begin, 1, 1, -kNoBound, kNoBound, 0.0f};
    return true;
  }
  return false;
}

uint64_t GlobalRowsMost(const Pattern& pattern, const SegmentSize& segment) {
  const uint64_t rows = uint64_t{pattern.global_first} + pattern.global_last;
  return rows > 0 && segment.global_row ? segment.keys : std::min<uint64_t>(rows, segment.keys);
}

}  // namespace fovea
