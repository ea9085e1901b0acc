// Sliding window: one-sided or two-sided, dilated, or in whole blocks; all keys are the unbounded window.
#include <algorithm>

#include "runtime/attention/pattern.h"

namespace fovea {
namespace {

// Centered and clustered patterns compute their windows themselves.
bool HasWindow(const Pattern& pattern) {
  return pattern.has_window && pattern.centers == Centers::kNone && pattern.rounds == 0;
}

}  // namespace

bool WindowRange(const Pattern& pattern, const QueryTile& tile, uint32_t* cursor, KeyRange* range) {
  if ((*cursor)++ > 0 || (!HasWindow(pattern) && !tile.sees_all)) return false;
  const Window window = tile.sees_all ? Window{kUnbounded, kUnbounded, 1} : pattern.WindowOf(tile.head);
  const uint32_t unit = pattern.block;
  const int64_t low = window.left == kUnbounded ? -kNoBound : -int64_t{window.left};
  const int64_t high = window.right == kUnbounded ? kNoBound : int64_t{window.right} + unit - 1;
  const int64_t begin = std::max<int64_t>(int64_t{tile.first / unit * unit} + low, 0);
  const int64_t end = std::min<int64_t>(int64_t{tile.last() / unit * unit} + high + 1, tile.keys);
  const int64_t step = window.dilation;
  // Most windows are not dilated, and divisions are slow compared to the rest of a single query's work.
  const int64_t first = step == 1 ? begin : begin + ((tile.first % step - begin) % step + step) % step;
  if (first >= end) return false;
  const auto count = static_cast<uint32_t>(step == 1 ? end - first : (end - first + step - 1) / step);
  *range = {static_cast<uint32_t>(first), count, window.dilation, unit, low, high, 0.0f};
  return true;
}

uint64_t WindowMost(const Pattern& pattern, const SegmentSize& segment) {
  uint64_t most = 0;
  if (!HasWindow(pattern)) return 0;
  for (uint32_t head = 0; head < (pattern.head_windows != nullptr ? segment.heads : 1); ++head) {
    const Window window = pattern.WindowOf(head);
    const bool all = window.left == kUnbounded || window.right == kUnbounded;
    const uint64_t sides = uint64_t{window.left} + window.right + pattern.block;
    most = std::max<uint64_t>(most, all ? segment.keys : sides / window.dilation + 1);
  }
  return std::min<uint64_t>(most, segment.keys);
}

}  // namespace fovea
