// Key blocks that a table names for each query block: random blocks of BigBird, or any block-sparse layout. The tile is
// within one query block.
#include <math.h>

#include <algorithm>

#include "runtime/attention/pattern.h"

namespace fovea {

bool LayoutRange(const Pattern& pattern, const QueryTile& tile, uint32_t* cursor, KeyRange* range) {
  if (pattern.layout == nullptr || tile.sees_all) return false;
  const uint32_t skipped = pattern.global_first / pattern.block, block = tile.first / pattern.block;
  if (block < skipped || block - skipped >= pattern.layout_rows) return false;
  const size_t head = pattern.layout_heads > 1 ? tile.head : 0;
  const int32_t* row = pattern.layout + (head * pattern.layout_rows + block - skipped) * pattern.layout_columns;
  while (*cursor < pattern.layout_columns) {
    const uint32_t at = (*cursor)++;
    const int32_t* end = row + pattern.layout_columns;
    if (row[at] < 0 || std::find(row, row + at, row[at]) != row + at) continue;
    const uint64_t first = uint64_t(row[at]) * pattern.block;
    if (first >= tile.keys) continue;
    const auto times = static_cast<float>(std::count(row + at, end, row[at]));
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(pattern.block, tile.keys - first));
    *range = {static_cast<uint32_t>(first), count, 1, 1, -kNoBound, kNoBound, times == 1.0f ? 0.0f : logf(times)};
    return true;
  }
  return false;
}

// Keys that a layout shows again count again, even if the window has all of them.
uint64_t LayoutMost(const Pattern& pattern, const SegmentSize& segment) {
  if (pattern.layout == nullptr) return 0;
  return std::min<uint64_t>(uint64_t{pattern.layout_columns} * pattern.block, segment.keys);
}

}  // namespace fovea
