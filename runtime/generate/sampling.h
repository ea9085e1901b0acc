// Chooses the next token from the scores (logits) of one text: greedy or sampled.
#ifndef FOVEA_RUNTIME_GENERATE_SAMPLING_H_
#define FOVEA_RUNTIME_GENERATE_SAMPLING_H_

#include "fovea/generate.h"
#include "runtime/base/arena.h"
#include "runtime/base/status.h"
#include "runtime/kernels/kernels.h"

namespace fovea {

inline constexpr uint32_t kMaxTopLogprobs = 256;

// Checks the ranges of fovea_sampling.
Status CheckSampling(const fovea_sampling& sampling, Reporter& reporter);

// Words of a bit set with one bit per token.
inline uint32_t TokenWords(uint32_t tokens) { return tokens / 32 + (tokens % 32 != 0 ? 1 : 0); }
inline bool HasBit(const uint32_t* words, uint32_t token) { return (words[token / 32] >> (token % 32) & 1) != 0; }
inline void SetBit(uint32_t* words, uint32_t token) { words[token / 32] |= 1u << (token % 32); }

// Sets of tokens, as bits: [TokenWords] for each set.
struct TokenSets {
  uint32_t* seen = nullptr;         // [max rows] tokens of a row, if there are penalties
  uint32_t* seen_before = nullptr;  // [width] copy for one text
  uint32_t* allowed = nullptr;      // [max rows], if the caller restricts tokens
  bool suppresses = false;
  uint32_t* usual =
      nullptr;  // [2] tokens that are not suppressed, if any are: for a text's first token, for later ones
};

// Log-probabilities of the tokens chosen in the last step.
struct Logprobs {
  float* chosen = nullptr;        // [max texts]; null: not wanted
  int32_t* top_tokens = nullptr;  // [max texts, top_logprobs]
  float* top = nullptr;
};

// Chooses tokens of one text at a time, in scratch for one text.
class Sampler {
 public:
  // Takes memory for `tokens` scores; null when counting. `works`: copies scores even where the greedy choice would
  // not.
  void Place(const fovea_sampling& sampling, const Kernels& kernels, uint32_t tokens, Arena& arena, bool works = false);

  // The sampler's input for one text. If bits are null, no token is seen or all are allowed.
  struct Text {
    const float* scores;
    const uint32_t *seen, *allowed;
    uint64_t sequence;
    uint32_t step;
  };
  uint32_t Choose(const Text& text) const;

  // Log-probabilities of all tokens with penalties; hidden tokens and NaN become -infinity. Valid until the next call.
  const float* LogProbabilities(const Text& text) const;

  // Log-probability of a token by the unchanged scores; also the top_logprobs most likely tokens.
  float LogProbability(const float* scores, uint32_t token, int32_t* top_tokens, float* top) const;

  const fovea_sampling& options() const { return options_; }
  bool penalizes() const { return kHasSampling && (penalty() != 1 || options_.presence_penalty != 0); }
  // Whether the caller restricts the tokens that may follow.
  bool restricts() const { return options_.allow != nullptr || options_.allow_scored != nullptr; }
  bool logprobs() const { return kHasSampling && (options_.logprobs != 0 || options_.top_logprobs != 0); }

 private:
  // Whether tokens are sampled; else the choice is greedy.
  bool draws() const { return kHasSampling && options_.temperature != 0; }
  bool plain() const { return !draws() && !penalizes(); }
  bool filters() const {
    return options_.top_k != 0 || options_.min_p > 0 || (options_.top_p != 0 && options_.top_p != 1);
  }
  float penalty() const { return options_.repetition_penalty == 0 ? 1.0f : options_.repetition_penalty; }
  void Prepare(const Text& text) const;
  // The highest score, and the logarithm of the sum of e^(score - highest); the highest is kHidden if no token is left.
  float LogSum(const float* scores, float* highest) const;
  uint32_t BestOf(const float* scores) const;
  uint32_t FirstBit(const uint32_t* words) const;
  // Samples by the weights in work_; `number` is from 0 to 1.
  uint32_t DrawOfAll(double number) const;
  uint32_t DrawOfLikely(double number) const;

  fovea_sampling options_{};
  const Kernels* kernels_ = nullptr;
  uint32_t tokens_ = 0;
  float* work_ = nullptr;      // [tokens]
  uint32_t* order_ = nullptr;  // [tokens], if filters or top log-probabilities sort
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GENERATE_SAMPLING_H_
