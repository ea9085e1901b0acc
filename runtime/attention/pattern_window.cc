// Sliding window, one-sided or two-sided: the query at position p sees keys [p - left, p + right]. Causal attention is
// the window with an unbounded left and right = 0.
#include <algorithm>

#include "runtime/attention/pattern.h"

namespace fovea {

bool WindowRange(const Pattern& pattern, const QueryTile& tile, uint32_t index, KeyRange* range) {
  if (index > 0) return false;
  const uint64_t last = uint64_t{tile.first} + tile.count - 1;
  const uint32_t begin = pattern.left < tile.first ? tile.first - pattern.left : 0;
  const uint64_t end =
      pattern.right == kUnbounded ? tile.keys : std::min<uint64_t>(last + pattern.right + 1, tile.keys);
  if (begin >= end) return false;
  *range = {begin, static_cast<uint32_t>(end - begin), 1, pattern.left, pattern.right};
  return true;
}

}  // namespace fovea
