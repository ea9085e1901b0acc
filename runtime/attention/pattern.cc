// The members of a pattern put together.
#include "runtime/attention/pattern.h"

#include <algorithm>

namespace fovea {
namespace {

struct Member {
  PatternMember next;
  bool overlaps;
};
constexpr Member kMembers[] = {
#define FOVEA_PATTERN(name, overlaps) {name##Range, overlaps},
#include "runtime/attention/pattern_list.inc"
#undef FOVEA_PATTERN
};
constexpr uint32_t kMemberCount = sizeof(kMembers) / sizeof(kMembers[0]);

uint64_t KeysOfWindow(const Window& window, uint32_t block, uint32_t keys) {
  if (window.left == kUnbounded || window.right == kUnbounded) return keys;
  return (uint64_t{window.left} + window.right + block) / window.dilation + 1;
}

}  // namespace

uint64_t MostVisibleKeys(const Pattern& pattern, uint32_t heads, uint32_t keys, uint32_t listed, bool on_edge) {
  if (pattern.rounds > 0) {
    const uint64_t chunks = uint64_t{pattern.chunks_before} + pattern.chunks_after + 1;
    return chunks * pattern.rounds * std::min(pattern.chunk, keys);
  }
  uint64_t most = 0;
  if (pattern.has_window) {
    for (uint32_t head = 0; head < (pattern.head_windows != nullptr ? heads : 1); ++head) {
      most = std::max(most, KeysOfWindow(pattern.WindowOf(head), pattern.block, keys));
    }
  }
  most += uint64_t{pattern.first} + pattern.last + (pattern.listed ? listed : 0);
  if (on_edge && pattern.first + uint64_t{pattern.last} > 0) most = keys;
  most = std::min<uint64_t>(std::max<uint64_t>(most, pattern.full_up_to), keys);
  if (pattern.blocks != nullptr) most += std::min<uint64_t>(uint64_t{pattern.block_columns} * pattern.block, keys);
  return pattern.top_k > 0 ? std::min<uint64_t>(most, pattern.top_k) : most;
}

KeyRanges::KeyRanges(const Pattern& pattern, const QueryTile& tile)
    : pattern_(pattern), tile_(tile), window_(pattern.WindowOf(tile.head)) {}

bool KeyRanges::Next(KeyRange* range) {
  for (;;) {
    if (NextCut(range)) return true;
    if (member_ == kMemberCount) return false;
    const Member& member = kMembers[member_];
    if (!member.next(pattern_, tile_, &cursor_, &whole_)) {
      ++member_;
      cursor_ = 0;
      continue;
    }
    if (!member.overlaps || !pattern_.has_window) {
      *range = whole_;
      return true;
    }
    next_cut_ = 0;
    cuts_ = 2 + window_.dilation - 1;  // before and after the window, and each class of keys that dilation leaves out
  }
}

// What the window leaves of whole_.
bool KeyRanges::NextCut(KeyRange* range) {
  const uint32_t step = window_.dilation;
  while (next_cut_ < cuts_) {
    const uint32_t cut = next_cut_++;
    // The keys of one residue: that of the queries, beyond the window on either side; or another one.
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
