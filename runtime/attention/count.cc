// Counts the keys of the ranges that the engine would process.
#include "runtime/attention/count.h"

#include <algorithm>

namespace fovea {
namespace {

// How many of the `count` numbers first, first + stride, ... are in [low, high].
uint64_t CountWithin(const KeyRange& range, int64_t low, int64_t high) {
  const int64_t first = range.first, stride = range.stride;
  const int64_t begin = low <= first ? 0 : (low - first + stride - 1) / stride;
  const int64_t end = high < first ? 0 : std::min<int64_t>(range.count, (high - first) / stride + 1);
  return static_cast<uint64_t>(std::max<int64_t>(end - begin, 0));
}

uint64_t KeysOfQuery(const Pattern& pattern, const SegmentRows& rows, uint32_t head, uint32_t position) {
  const bool all = rows.keys <= std::max(pattern.full_up_to, pattern.rounds > 0 ? pattern.chunk : 0) ||
                   pattern.IsGlobal(position, rows.keys);
  const uint32_t known = rows.global_keys == nullptr ? 0 : rows.global_key_count;
  const QueryTile query = {position, 1, 1, rows.keys, head, all, rows.global_keys, known, rows.key_row, {0, 0}};
  const int64_t last = pattern.causal ? std::min(position, rows.keys) : rows.keys;
  uint64_t count = 0;
  KeyRanges ranges(pattern, query);
  for (KeyRange range; ranges.Next(&range);) {
    const int64_t anchor = position - position % range.unit;
    const int64_t low = range.low == -kNoBound ? 0 : anchor + range.low;
    const int64_t high = range.high == kNoBound ? rows.keys : anchor + range.high;
    count += CountWithin(range, low, std::min(high, last));
  }
  if (!pattern.global_keys || rows.global_keys != nullptr || all) return count;
  // A key counts once, except where a layout names it again.
  const uint64_t most = std::min<uint64_t>(rows.keys, static_cast<uint64_t>(last) + 1);
  const uint64_t more = count + rows.global_key_count;
  return pattern.layout != nullptr ? more : std::max(count, std::min(more, most));
}

// Pairs of one head, summed over the offsets `apart` between chunks of a round. All chunks but the last one with keys
// are full, so a few sizes determine the count. Offsets wrap around at the end of a round.
uint64_t PairsOfChunks(const Pattern& pattern, uint32_t keys) {
  const uint64_t chunks = pattern.ChunksOfRound(keys), filled = DivideUp(keys, pattern.chunk);
  const uint64_t full = pattern.chunk, last = keys - (filled - 1) * full;
  const auto with_last = [&](uint64_t count) { return count == 0 ? 0 : (count - 1) * full * full + full * last; };
  uint64_t pairs = 0;
  for (uint64_t i = 0; i <= uint64_t{pattern.chunks_before} + pattern.chunks_after; ++i) {
    const uint64_t apart = pattern.SeenChunk(0, i, chunks * pattern.rounds) % chunks, back = chunks - apart;
    if (apart == 0) {
      pairs += (filled - 1) * full * full + last * last;
    } else {
      pairs += with_last(filled > apart ? filled - apart : 0) + with_last(filled > back ? filled - back : 0);
    }
  }
  return pairs * pattern.rounds;
}

}  // namespace

uint64_t VisiblePairs(const AttentionSpec& spec, const SegmentRows& rows) {
  const Pattern& pattern = spec.pattern;
  if (pattern.centers != Centers::kNone) {
    const uint64_t window = uint64_t{pattern.left} + pattern.right + 1;
    return std::min<uint64_t>(window, rows.keys) * rows.queries * spec.heads;
  }
  if (pattern.rounds > 0 && rows.keys > pattern.chunk) return PairsOfChunks(pattern, rows.keys) * spec.heads;
  const uint32_t kinds = pattern.DiffersByHead() ? spec.heads : 1;
  uint64_t pairs = 0;
  for (uint32_t head = 0; head < kinds; ++head) {
    for (uint32_t position = 0; position < rows.queries; ++position) {
      pairs += KeysOfQuery(pattern, rows, head, rows.start + position);
    }
  }
  pairs *= spec.heads / kinds;
  if (spec.summaries.group == 0) return pairs;
  return pairs + uint64_t{rows.keys / spec.summaries.group} * rows.queries * spec.heads;
}

}  // namespace fovea
