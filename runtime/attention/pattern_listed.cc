// Rows chosen while running and seen by every query: the global tokens of Longformer. Neighbours make one range.
#include <algorithm>

#include "runtime/attention/pattern.h"

namespace fovea {

bool ListedRange(const Pattern& pattern, const QueryTile& tile, uint32_t* cursor, KeyRange* range) {
  if (!pattern.listed || tile.sees_all) return false;
  // Edges are seen by all anyway.
  const uint64_t end = std::min<uint64_t>(pattern.LastEdge(tile.keys), tile.keys);
  while (*cursor < tile.listed_count) {
    const uint32_t first = tile.listed[*cursor] - tile.key_row;
    ++*cursor;
    if (first < pattern.first || first >= end) continue;
    uint32_t count = 1;
    while (*cursor < tile.listed_count && tile.listed[*cursor] - tile.key_row == first + count && first + count < end) {
      ++count;
      ++*cursor;
    }
    *range = {first, count, 1, 1, -kNoBound, kNoBound, 0.0f};
    return true;
  }
  return false;
}

}  // namespace fovea
