// Which token follows: the scores of one text -> the best token, or one that is drawn.
#ifndef FOVEA_RUNTIME_GENERATE_SAMPLING_H_
#define FOVEA_RUNTIME_GENERATE_SAMPLING_H_

#include "fovea/generate.h"
#include "runtime/base/arena.h"
#include "runtime/base/status.h"
#include "runtime/kernels/kernels.h"

namespace fovea {

inline constexpr uint32_t kMaxTopLogprobs = 256;

// Numbers of fovea_sampling that are out of range.
Status CheckSampling(const fovea_sampling& sampling, Reporter& reporter);

// A bit for each token.
inline uint32_t TokenWords(uint32_t tokens) { return tokens / 32 + (tokens % 32 != 0 ? 1 : 0); }
inline bool HasBit(const uint32_t* words, uint32_t token) { return (words[token / 32] >> (token % 32) & 1) != 0; }
inline void SetBit(uint32_t* words, uint32_t token) { words[token / 32] |= 1u << (token % 32); }

// Chooses tokens of one text after the other, in memory for one.
class Sampler {
 public:
  // Memory for `tokens` scores; null when counting. `works`: they are worked on even where the highest would do.
  void Place(const fovea_sampling& sampling, const Kernels& kernels, uint32_t tokens, Arena& arena, bool works = false);

  // What is known of a text. Bits that are null: none is seen, all are allowed.
  struct Text {
    const float* scores;
    const uint32_t *seen, *allowed;
    uint64_t sequence;
    uint32_t step;
  };
  uint32_t Choose(const Text& text) const;

  // Log-probabilities of all tokens, then penalties; those that are hidden or none are -infinity. Until the next call.
  const float* LogProbabilities(const Text& text) const;

  // The log-probability of a token by the scores as they are; and the top_logprobs likeliest tokens with theirs.
  float LogProbability(const float* scores, uint32_t token, int32_t* top_tokens, float* top) const;

  const fovea_sampling& options() const { return options_; }
  bool penalizes() const { return kHasSampling && (penalty() != 1 || options_.presence_penalty != 0); }
  // The caller says which tokens may follow.
  bool restricts() const { return options_.allow != nullptr || options_.allow_scored != nullptr; }
  bool logprobs() const { return kHasSampling && (options_.logprobs != 0 || options_.top_logprobs != 0); }

 private:
  // The highest score wins.
  bool draws() const { return kHasSampling && options_.temperature != 0; }
  bool plain() const { return !draws() && !penalizes(); }
  bool filters() const {
    return options_.top_k != 0 || options_.min_p > 0 || (options_.top_p != 0 && options_.top_p != 1);
  }
  float penalty() const { return options_.repetition_penalty == 0 ? 1.0f : options_.repetition_penalty; }
  void Prepare(const Text& text) const;
  // The highest score, and the logarithm of the sum of e^(score - highest); the highest is kHidden if there is none.
  float LogSum(const float* scores, float* highest) const;
  uint32_t BestOf(const float* scores) const;
  uint32_t FirstBit(const uint32_t* words) const;
  // By the weights in work_; `number` is 0 to 1.
  uint32_t DrawOfAll(double number) const;
  uint32_t DrawOfLikely(double number) const;

  fovea_sampling options_{};
  const Kernels* kernels_ = nullptr;
  uint32_t tokens_ = 0;
  float* work_ = nullptr;      // [tokens]
  uint32_t* order_ = nullptr;  // [tokens], where filters or top log-probabilities need one
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GENERATE_SAMPLING_H_
