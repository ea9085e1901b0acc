// Rows that are chosen during the run and that every query sees: global tokens of Longformer. Neighbours form a range.
#include <algorithm>

#include "runtime/attention/pattern.h"

namespace fovea {

bool GlobalKeysRange(const Pattern& pattern, const QueryTile& tile, uint32_t* cursor, KeyRange* range) {
  if (!pattern.global_keys || tile.sees_all) return false;
  // All queries already see global rows.
  const uint64_t end = std::min<uint64_t>(pattern.GlobalEnd(tile.keys), tile.keys);
  while (*cursor < tile.global_key_count) {
    const uint32_t first = tile.global_keys[*cursor] - tile.key_row;
    ++*cursor;
    if (first < pattern.global_first || first >= end) continue;
    uint32_t count = 1;
    while (*cursor < tile.global_key_count && tile.global_keys[*cursor] - tile.key_row == first + count &&
           first + count < end) {
      ++count;
      ++*cursor;
    }
    *range = {first, count, 1, 1, -kNoBound, kNoBound, 0.0f};
    return true;
  }
  return false;
}

uint64_t GlobalKeysMost(const Pattern& pattern, const SegmentSize& segment) {
  return pattern.global_keys ? segment.global_keys : 0;
}

}  // namespace fovea
