#include "tools/generate/speech_segments.h"

#include <algorithm>

namespace fovea::tools {

CutText CutAtTimes(const std::vector<int32_t>& tokens, const TimeTokens& times, uint64_t step,
                   const SpeechWindow& window) {
  CutText cut;
  cut.next = window.begin + window.length;
  const size_t count = tokens.size();
  const auto is_time = [&](size_t i) { return times.IsTime(tokens[i]); };
  const auto at = [&](int32_t token) {
    return window.begin + (times.IsTime(token) ? static_cast<uint64_t>(token - times.first) * step : 0);
  };
  cut.ends_early = count >= 2 && is_time(count - 1) && !is_time(count - 2);
  std::vector<size_t> ends;  // end of each segment, in tokens
  for (size_t i = 1; i < count; ++i) {
    if (is_time(i - 1) && is_time(i)) ends.push_back(i);
  }
  if (ends.empty()) {
    uint64_t end = cut.next;
    const auto last = std::find_if(tokens.rbegin(), tokens.rend(), [&](int32_t token) { return times.IsTime(token); });
    if (last != tokens.rend() && *last != times.first) end = at(*last);
    cut.segments.push_back({window.begin, end, tokens});
    return cut;
  }
  if (cut.ends_early) ends.push_back(count);
  size_t begin = 0;
  for (const size_t end : ends) {
    const auto from = tokens.begin() + static_cast<ptrdiff_t>(begin);
    cut.segments.push_back(
        {at(tokens[begin]), at(tokens[end - 1]), {from, tokens.begin() + static_cast<ptrdiff_t>(end)}});
    begin = end;
  }
  // A pair at the very beginning would make no progress.
  if (!cut.ends_early && at(tokens[begin - 1]) > window.begin) cut.next = at(tokens[begin - 1]);
  return cut;
}

}  // namespace fovea::tools
