// Whisper's rules for times as the original applies them to logits, in double.
#ifndef FOVEA_TESTS_SUPPORT_PLAIN_TIME_RULES_H_
#define FOVEA_TESTS_SUPPORT_PLAIN_TIME_RULES_H_

#include <stdint.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace fovea::test {

struct PlainTimes {
  int32_t first, stop, none;
  std::optional<uint32_t> latest_first;
};

inline void Hide(std::vector<double>* logits, int32_t begin, int32_t end) {
  for (int32_t t = begin; t < end; ++t) (*logits)[static_cast<size_t>(t)] = -HUGE_VAL;
}

// ApplyTimestampRules of openai/whisper, decoding.py.
inline void ApplyPlainTimeRules(const PlainTimes& p, const std::vector<int32_t>& sampled, std::vector<double>* logits) {
  const auto all = static_cast<int32_t>(logits->size());
  Hide(logits, p.none, p.none + 1);
  const bool last_was_timestamp = !sampled.empty() && sampled.back() >= p.first;
  const bool penultimate_was_timestamp = sampled.size() < 2 || sampled[sampled.size() - 2] >= p.first;
  if (last_was_timestamp) {
    if (penultimate_was_timestamp) {
      Hide(logits, p.first, all);
    } else {
      Hide(logits, 0, p.stop);
    }
  }
  std::vector<int32_t> timestamps;
  for (const int32_t t : sampled) {
    if (t >= p.first) timestamps.push_back(t);
  }
  if (!timestamps.empty()) {
    const bool may_repeat = last_was_timestamp && !penultimate_was_timestamp;
    Hide(logits, p.first, may_repeat ? timestamps.back() : timestamps.back() + 1);
  }
  if (sampled.empty()) {
    Hide(logits, 0, p.first);
    if (p.latest_first) Hide(logits, p.first + static_cast<int32_t>(*p.latest_first) + 1, all);
  }
  double sum = 0, times = 0, text = 0;
  for (size_t t = 0; t < logits->size(); ++t) sum += std::exp((*logits)[t]);
  for (size_t t = 0; t < logits->size(); ++t) {
    const double share = std::exp((*logits)[t]) / sum;
    if (t < static_cast<size_t>(p.first)) {
      text = std::max(text, share);
    } else {
      times += share;
    }
  }
  if (times > text) Hide(logits, 0, p.first);
}

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_PLAIN_TIME_RULES_H_
