#include "tools/generate/overlap.h"

#include <stddef.h>

#include <algorithm>

namespace fovea::tools {
namespace {

// Where the left text ends and the right text begins to count.
struct Seam {
  size_t left, right;
};

// Slides the right text over the left one, from its end to its beginning: `reach` is the distance from the beginning of
// the right text to the end of the left one. For equal shares the longer reach wins.
Seam SeamOf(const std::vector<int32_t>& left, const std::vector<int32_t>& right) {
  constexpr double kForReach = 1e-4;
  Seam best = {left.size(), 0};
  double highest = 0;
  for (size_t reach = 1; reach < left.size() + right.size(); ++reach) {
    const size_t from = left.size() - std::min(reach, left.size()), skipped = reach - std::min(reach, left.size());
    const size_t shared = std::min(left.size() - from, right.size() - std::min(skipped, right.size()));
    size_t same = 0;
    for (size_t i = 0; i < shared; ++i) same += left[from + i] == right[skipped + i] ? 1 : 0;
    const double share =
        static_cast<double>(same) / static_cast<double>(reach) + static_cast<double>(reach) * kForReach;
    if (same < 2 || share <= highest) continue;
    highest = share;
    best = {(from + from + shared) / 2, (skipped + skipped + shared) / 2};
  }
  return best;
}

}  // namespace

std::vector<int32_t> JoinOverlapping(const std::vector<std::vector<int32_t>>& parts) {
  std::vector<int32_t> joined, last;
  for (const std::vector<int32_t>& part : parts) {
    const Seam seam = SeamOf(last, part);
    joined.insert(joined.end(), last.begin(), last.begin() + static_cast<ptrdiff_t>(seam.left));
    last.assign(part.begin() + static_cast<ptrdiff_t>(seam.right), part.end());
  }
  joined.insert(joined.end(), last.begin(), last.end());
  return joined;
}

}  // namespace fovea::tools
