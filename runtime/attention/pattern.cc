// Combines the members of a pattern.
#include "runtime/attention/pattern.h"

#include <algorithm>

namespace fovea {
namespace {

// Members that a build may leave out. All keys of a segment are an unbounded window, so windows always exist.
constexpr bool kFindsCentered = kAttendsCentered, kFindsClustered = kAttendsClustered, kFindsWindow = true,
               kFindsGlobalRows = kAttendsGlobalRows, kFindsGlobalKeys = kAttendsGlobalKeys,
               kFindsLayout = kAttendsLayout;

constexpr PatternMember kMembers[] = {
#define FOVEA_PATTERN(Name, count) \
  {kFinds##Name ? Name##Range : nullptr, kFinds##Name ? Name##Most : nullptr, KeyCount::count},
#include "runtime/attention/pattern_list.inc"
#undef FOVEA_PATTERN
};
constexpr uint32_t kMemberCount = sizeof(kMembers) / sizeof(kMembers[0]);

}  // namespace

uint64_t MostVisibleKeys(const Pattern& pattern, const SegmentSize& segment) {
  uint64_t once = 0, again = 0;
  for (const PatternMember& member : kMembers) {
    if (member.most == nullptr) continue;
    (member.count == KeyCount::kAgain ? again : once) += member.most(pattern, segment);
  }
  const uint64_t all = std::min<uint64_t>(std::max<uint64_t>(once, pattern.full_up_to), segment.keys) + again;
  return pattern.top_k > 0 ? std::min<uint64_t>(all, pattern.top_k) : all;
}

KeyRanges::KeyRanges(const Pattern& pattern, const QueryTile& tile)
    : pattern_(pattern), tile_(tile), window_(pattern.WindowOf(tile.head)) {}
bool KeyRanges::Next(KeyRange* range) {
  for (;;) {
    if (NextCut(range)) return true;
    if (member_ == kMemberCount) return false;
    const PatternMember& member = kMembers[member_];
    if (member.next == nullptr || !member.next(pattern_, tile_, &cursor_, &whole_)) {
      ++member_;
      cursor_ = 0;
      continue;
    }
    if (!(kFindsGlobalRows || kFindsGlobalKeys) || member.count != KeyCount::kUnlessInWindow || !pattern_.has_window) {
      *range = whole_;
      return true;
    }
    next_cut_ = 0;
    cuts_ = 2 + window_.dilation - 1;  // before and after the window, and each residue that dilation leaves out
  }
}

// The next part of whole_ that is outside the window.
bool KeyRanges::NextCut(KeyRange* range) {
  if constexpr (!(kFindsGlobalRows || kFindsGlobalKeys)) return false;
  const uint32_t step = window_.dilation;
  while (next_cut_ < cuts_) {
    const uint32_t cut = next_cut_++;
    // The keys of one residue: the queries' residue, outside the window on either side; or another residue.
    const uint32_t residue = (tile_.first + (cut < 2 ? 0 : cut - 1)) % step;
    const uint32_t skip = (residue + step - whole_.first % step) % step;
    if (skip >= whole_.count) continue;
    *range = whole_;
    range->first += skip;
    range->stride = step;
    range->count = (whole_.count - skip + step - 1) / step;
    if (cut >= 2) return true;
    range->unit = pattern_.block;
    if (cut == 0) {
      if (window_.left == kUnbounded) continue;
      range->high = -int64_t{window_.left} - 1;
    } else {
      if (window_.right == kUnbounded) continue;
      range->low = int64_t{window_.right} + pattern_.block;
    }
    return true;
  }
  return false;
}

}  // namespace fovea
