// A window around a number given for each query: local attention (Luong et al., arXiv 1508.04025). The range is from
// the first key that any row of the tile sees to the last; which of these keys a row sees follows from its center.
#include <math.h>

#include <algorithm>

#include "runtime/attention/pattern.h"

namespace fovea {

KeySpan SpanAround(const Pattern& pattern, float center, uint32_t keys) {
  const double low = ceil(double{center} - pattern.left), high = floor(double{center} + pattern.right);
  if (!(high >= 0.0 && low < keys)) return {0, 0};  // also for NaN
  return {static_cast<int64_t>(std::max(low, 0.0)),
          static_cast<int64_t>(std::min(high + 1.0, static_cast<double>(keys)))};
}

bool CenteredRange(const Pattern& pattern, const QueryTile& tile, uint32_t* cursor, KeyRange* range) {
  if (pattern.centers == Centers::kNone || (*cursor)++ > 0 || tile.seen.begin >= tile.seen.end) return false;
  const auto first = static_cast<uint32_t>(tile.seen.begin), end = static_cast<uint32_t>(tile.seen.end);
  *range = {first, end - first, 1, 1, -kNoBound, kNoBound, 0.0f};
  return true;
}

uint64_t CenteredMost(const Pattern& pattern, const SegmentSize& segment) {
  if (pattern.centers == Centers::kNone) return 0;
  return std::min<uint64_t>(uint64_t{pattern.left} + pattern.right + 1, segment.keys);
}

}  // namespace fovea
