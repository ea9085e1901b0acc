// Passes over the scores of all tokens, written in lanes so that compilers vectorise them.
#ifndef FOVEA_RUNTIME_GENERATE_SCORES_H_
#define FOVEA_RUNTIME_GENERATE_SCORES_H_

#include <math.h>
#include <stddef.h>

namespace fovea {

constexpr size_t kScoreLanes = 8;

// to[i] = change(from[i]); both may be one array.
template <typename Change>
inline void ChangeScores(const float* from, size_t count, float* to, const Change& change) {
  for (; count >= kScoreLanes; from += kScoreLanes, to += kScoreLanes, count -= kScoreLanes) {
    float changed[kScoreLanes];
    for (size_t k = 0; k < kScoreLanes; ++k) changed[k] = change(from[k]);
    for (size_t k = 0; k < kScoreLanes; ++k) to[k] = changed[k];
  }
  for (size_t k = 0; k < count; ++k) to[k] = change(from[k]);
}

// The highest score, skipping NaN; -infinity if there is none.
inline float HighestOf(const float* scores, size_t count) {
  const auto higher = [](float a, float b) { return a > b ? a : b; };  // b if a is NaN
  float highest[kScoreLanes];
  for (float& lane : highest) lane = -INFINITY;
  for (; count >= kScoreLanes; scores += kScoreLanes, count -= kScoreLanes) {
    for (size_t k = 0; k < kScoreLanes; ++k) highest[k] = higher(scores[k], highest[k]);
  }
  for (size_t k = 0; k < count; ++k) highest[k] = higher(scores[k], highest[k]);
  for (size_t k = 1; k < kScoreLanes; ++k) highest[0] = higher(highest[k], highest[0]);
  return highest[0];
}

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GENERATE_SCORES_H_
