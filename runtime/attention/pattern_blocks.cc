// Key blocks named in a table for each query block: random blocks of BigBird, or any block-sparse layout. The tile lies
// within one query block.
#include <math.h>

#include <algorithm>

#include "runtime/attention/pattern.h"

namespace fovea {

bool BlocksRange(const Pattern& pattern, const QueryTile& tile, uint32_t* cursor, KeyRange* range) {
  if (pattern.blocks == nullptr || tile.sees_all) return false;
  const uint32_t skipped = pattern.first / pattern.block, block = tile.first / pattern.block;
  if (block < skipped || block - skipped >= pattern.block_rows) return false;
  const size_t head = pattern.blocks_heads > 1 ? tile.head : 0;
  const int32_t* row = pattern.blocks + (head * pattern.block_rows + block - skipped) * pattern.block_columns;
  while (*cursor < pattern.block_columns) {
    const uint32_t at = (*cursor)++;
    const int32_t* end = row + pattern.block_columns;
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

}  // namespace fovea
