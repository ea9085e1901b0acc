#include "runtime/generate/sampling.h"

#include <float.h>
#include <math.h>

#include <algorithm>
#include <limits>

#include "runtime/generate/philox.h"
#include "runtime/generate/scores.h"

namespace fovea {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

// Hides NaN, and clamps infinity to the largest finite number.
constexpr auto kNumber = [](float score) {
  const float number = score > kHidden ? score : kHidden;
  return number < FLT_MAX ? number : FLT_MAX;
};

// A heap order of tokens: the most likely first, of equals the lowest.
struct LessLikely {
  const float* weights;
  bool operator()(uint32_t a, uint32_t b) const { return weights[a] != weights[b] ? weights[a] < weights[b] : a > b; }
};

}  // namespace

Status CheckSampling(const fovea_sampling& s, Reporter& reporter) {
  if (!isfinite(s.temperature) || s.temperature < 0) {
    return reporter.Fail(FOVEA_E_OPTION, "temperature must be finite and at least 0");
  }
  if (!(s.top_p >= 0 && s.top_p <= 1) || !(s.min_p >= 0 && s.min_p <= 1)) {
    return reporter.Fail(FOVEA_E_OPTION, "top_p and min_p must be from 0 to 1");
  }
  if (!isfinite(s.repetition_penalty) || s.repetition_penalty < 0) {
    return reporter.Fail(FOVEA_E_OPTION, "repetition_penalty must be finite and at least 0");
  }
  if (!isfinite(s.presence_penalty)) return reporter.Fail(FOVEA_E_OPTION, "presence_penalty must be finite");
  if (s.top_logprobs > kMaxTopLogprobs) {
    return reporter.Fail(FOVEA_E_OPTION, "too many top log-probabilities", kMaxTopLogprobs, s.top_logprobs);
  }
  const bool penalizes = (s.repetition_penalty != 0 && s.repetition_penalty != 1) || s.presence_penalty != 0;
  if (!kHasSampling && (s.temperature != 0 || penalizes || s.logprobs != 0 || s.top_logprobs != 0)) {
    return reporter.Fail(FOVEA_E_BUILD, "this build's profile lacks sampling");
  }
  return kOk;
}

void Sampler::Place(const fovea_sampling& sampling, const Kernels& kernels, uint32_t tokens, Arena& arena, bool works) {
  options_ = sampling;
  kernels_ = &kernels;
  tokens_ = tokens;
  if (works || !plain() || restricts() || logprobs()) work_ = arena.Take<float>(tokens);
  if (filters() || options_.top_logprobs != 0) order_ = arena.Take<uint32_t>(tokens);
}

// Scores with penalties; tokens that are not allowed, and NaN, are hidden.
void Sampler::Prepare(const Text& text) const {
  for (uint32_t i = 0; i < tokens_; ++i) {
    float score = text.scores[i];
    if (text.seen != nullptr && HasBit(text.seen, i)) {
      score = (score < 0 ? score * penalty() : score / penalty()) - options_.presence_penalty;
    }
    const bool hidden = (text.allowed != nullptr && !HasBit(text.allowed, i)) || score != score;
    work_[i] = hidden ? kHidden : score;
  }
}

uint32_t Sampler::Choose(const Text& text) const {
  if (plain() && text.allowed == nullptr) return BestOf(text.scores);
  Prepare(text);
  const uint32_t best = BestOf(work_);
  const float highest = work_[best];
  if (highest == kHidden) return text.allowed == nullptr ? 0 : FirstBit(text.allowed);
  if (!draws() || highest == INFINITY) return best;
  // The highest score is subtracted first, so that nothing overflows.
  const float temperature = options_.temperature;
  ChangeScores(work_, tokens_, work_, [=](float score) { return (score - highest) / temperature; });
  kernels_->softmax.softmax(work_, 1, tokens_, work_);
  const double number = Philox(options_.seed, text.sequence, text.step).Uniform();
  return filters() ? DrawOfLikely(number) : DrawOfAll(number);
}

// The token with the highest score, of equals the first; NaN is skipped.
uint32_t Sampler::BestOf(const float* scores) const {
  const float highest = HighestOf(scores, tokens_);
  return highest == kHidden ? 0 : static_cast<uint32_t>(std::find(scores, scores + tokens_, highest) - scores);
}

uint32_t Sampler::FirstBit(const uint32_t* words) const {
  for (uint32_t i = 0; i < tokens_; ++i) {
    if (HasBit(words, i)) return i;
  }
  return 0;
}

// Samples by scanning tokens in order.
uint32_t Sampler::DrawOfAll(double number) const {
  double total = 0;
  for (uint32_t i = 0; i < tokens_; ++i) total += work_[i];
  double left = number * total;
  uint32_t last = 0;
  for (uint32_t i = 0; i < tokens_ && left >= 0; ++i) {
    if (work_[i] == 0) continue;
    last = i;
    left -= work_[i];
  }
  return last;
}

// Samples in the order of weights; only the tokens that are looked at are sorted. top_k also keeps ties with its last
// token; then top_p applies to the sum of the kept weights, then min_p.
uint32_t Sampler::DrawOfLikely(double number) const {
  const LessLikely less{work_};
  uint32_t count = 0, sorted = 0;
  double all = 0;
  for (uint32_t i = 0; i < tokens_; ++i) {
    if (work_[i] > 0) order_[count++] = i, all += work_[i];
  }
  std::make_heap(order_, order_ + count, less);
  const auto likely = [&](uint32_t i) {  // 0: the most likely
    for (; sorted <= i; ++sorted) std::pop_heap(order_, order_ + count - sorted, less);
    return order_[count - 1 - i];
  };
  uint32_t most = count;
  if (options_.top_k != 0 && options_.top_k < count) {
    const float last = work_[likely(options_.top_k - 1)];
    all = 0;
    for (most = 0; most < count && work_[likely(most)] >= last; ++most) all += work_[likely(most)];
  }
  const double wanted = options_.top_p == 0 || options_.top_p == 1 ? HUGE_VAL : options_.top_p * all;
  const float least = options_.min_p * work_[likely(0)];
  double total = 0;
  uint32_t kept = 0;
  while (kept < most && total < wanted && work_[likely(kept)] >= least) total += work_[likely(kept++)];

  double left = number * total;
  uint32_t i = 0;
  for (; i + 1 < kept; ++i) {
    left -= work_[likely(i)];
    if (left < 0) break;
  }
  return likely(i);
}

float Sampler::LogSum(const float* scores, float* highest) const {
  ChangeScores(scores, tokens_, work_, kNumber);
  *highest = HighestOf(work_, tokens_);
  if (*highest == kHidden) return 0;
  kernels_->softmax.softmax(work_, 1, tokens_, work_);
  // The weight of the most likely token is 1 / sum.
  return -logf(HighestOf(work_, tokens_));
}

const float* Sampler::LogProbabilities(const Text& text) const {
  float highest = 0;
  const float log_sum = LogSum(text.scores, &highest);
  const float from = highest == kHidden ? 0 : highest;  // avoids -infinity minus -infinity
  ChangeScores(text.scores, tokens_, work_, [=](float score) { return kNumber(score) - from - log_sum; });
  if (text.seen != nullptr || text.allowed != nullptr) Prepare({work_, text.seen, text.allowed, 0, 0});
  return work_;
}

float Sampler::LogProbability(const float* scores, uint32_t token, int32_t* top_tokens, float* top) const {
  const uint32_t wanted = std::min(options_.top_logprobs, tokens_);
  for (uint32_t i = 0; i < wanted; ++i) top_tokens[i] = -1, top[i] = kHidden;
  float highest = 0;
  const float log_sum = LogSum(scores, &highest);
  if (highest == kHidden) return kHidden;
  if (wanted != 0) {  // compares scores, because weights far below the highest are all 0
    for (uint32_t i = 0; i < tokens_; ++i) work_[i] = kNumber(scores[i]), order_[i] = i;
    std::partial_sort(order_, order_ + wanted, order_ + tokens_,
                      [&](uint32_t a, uint32_t b) { return work_[a] != work_[b] ? work_[a] > work_[b] : a < b; });
    for (uint32_t i = 0; i < wanted && work_[order_[i]] != kHidden; ++i) {
      top_tokens[i] = static_cast<int32_t>(order_[i]);
      top[i] = work_[order_[i]] - highest - log_sum;
    }
  }
  return kNumber(scores[token]) - highest - log_sum;
}

}  // namespace fovea
