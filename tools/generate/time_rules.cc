#include "tools/generate/time_rules.h"

#include <math.h>

#include <algorithm>

namespace fovea::tools {
namespace {

bool IsSet(const uint32_t* bits, uint32_t token) { return (bits[token / 32] >> (token % 32) & 1) != 0; }

void Clear(uint32_t* bits, int64_t begin, int64_t end, uint32_t tokens) {
  end = std::min<int64_t>(end, tokens);
  for (int64_t t = std::max<int64_t>(begin, 0); t < end; ++t) bits[t / 32] &= ~(1u << (t % 32));
}

double Highest(const float* scores, const uint32_t* bits, uint32_t begin, uint32_t end) {
  double highest = -HUGE_VAL;
  for (uint32_t t = begin; t < end; ++t) {
    if (IsSet(bits, t) && scores[t] > highest) highest = scores[t];
  }
  return highest;
}

}  // namespace

double LogSum(const float* scores, const uint32_t* bits, uint32_t begin, uint32_t end) {
  const double highest = Highest(scores, bits, begin, end);
  if (!isfinite(highest)) return highest;
  double sum = 0;
  for (uint32_t t = begin; t < end; ++t) {
    if (IsSet(bits, t) && !isnan(scores[t])) sum += exp(scores[t] - highest);
  }
  return highest + log(sum);
}

void ApplyTimeRules(const TimeTokens& times, const int32_t* made, size_t count, const float* scores, uint32_t tokens,
                    uint32_t* bits) {
  const auto clear = [&](int64_t begin, int64_t end) { Clear(bits, begin, end, tokens); };
  if (times.none >= 0) clear(times.none, int64_t{times.none} + 1);
  const bool after_time = count >= 1 && times.IsTime(made[count - 1]);
  const bool after_pair = after_time && (count < 2 || times.IsTime(made[count - 2]));
  if (after_pair) clear(times.first, tokens);
  if (after_time && !after_pair) clear(0, times.stop);
  for (size_t i = count; i > 0; --i) {
    if (!times.IsTime(made[i - 1])) continue;
    // The second timestamp of a pair can be equal to the first.
    clear(times.first, int64_t{made[i - 1]} + (after_time && !after_pair ? 0 : 1));
    break;
  }
  if (count == 0) {
    clear(0, times.first);
    if (times.latest_first) clear(int64_t{times.first} + *times.latest_first + 1, tokens);
  }
  const auto first = std::min(static_cast<uint32_t>(times.first), tokens);
  if (LogSum(scores, bits, first, tokens) > Highest(scores, bits, 0, first)) clear(0, times.first);
}

}  // namespace fovea::tools
