// Beam search as Hugging Face's generation defines it: live beams (unfinished sequences) and finished hypotheses.
#ifndef FOVEA_RUNTIME_GENERATE_BEAMS_H_
#define FOVEA_RUNTIME_GENERATE_BEAMS_H_

#include <math.h>

#include "fovea/generate.h"
#include "runtime/base/arena.h"
#include "runtime/base/status.h"

namespace fovea {

inline constexpr uint32_t kMaxBeams = 256;

Status CheckBeams(const fovea_beams& beams, const fovea_sampling& sampling, uint32_t max_tokens, Reporter& reporter);

// Searches for all texts, in the memory of one generator. It handles only tokens and sums of log-probabilities: the
// caller offers candidates, and the search decides which live beams continue with which tokens.
class Beams {
 public:
  // A live beam extended by one token.
  struct Next {
    float sum;      // log-probability; -infinity: unused
    uint32_t from;  // the beam it extends, among its text's beams
    int32_t token;
  };
  struct Found {
    float score, sum;
    Next last;
    uint32_t count;  // number of tokens
  };

  // Null when counting.
  void Place(const fovea_beams& beams, uint32_t max_texts, uint32_t max_tokens, Arena& arena);
  const fovea_beams& options() const { return options_; }

  // Gives each text one beam without tokens.
  void Begin(uint32_t texts);

  // A step of a text consists of Clear, then Offer for each candidate of each beam, then Take.
  void Clear() { best_count_ = going_count_ = 0; }
  // Whether a candidate with this sum, or a better one, would continue.
  bool CouldTake(float sum) const { return sum > Least(going_, going_count_); }
  // Offers a beam extended by one token. `is_stop(token)`: it ends there. Of equal sums the first one offered is
  // better.
  template <typename IsStop>
  void Offer(const Next& next, const IsStop& is_stop) {
    if (!CouldTake(next.sum)) return;
    Insert(best_, &best_count_, next);
    if (!is_stop(next.token)) Insert(going_, &going_count_, next);
  }
  // Moves finished candidates to the hypotheses and lets the best remaining candidates continue. Returns whether the
  // text's search has ended. `step`: from 0; `is_last`: no beam continues.
  template <typename IsStop>
  bool Take(uint32_t text, uint32_t step, bool is_last, const IsStop& is_stop) {
    for (uint32_t i = 0; i < best_count_; ++i) {
      if (is_last || is_stop(best_[i].token)) Keep(text, step, best_[i]);
    }
    return is_last || GoOn(text, step);
  }

  const Next& running(uint32_t row) const { return running_[row]; }
  bool IsAlive(uint32_t row) const { return running_[row].sum > -HUGE_VALF; }
  const Found* FindFound(uint32_t text, uint32_t rank) const;
  uint32_t found_count(uint32_t text) const { return found_counts_[text]; }
  // The `count` tokens of the beam that ends with this one, in memory for one text.
  const int32_t* Trace(uint32_t text, uint32_t count, const Next& last) const;
  float ScoreOf(float sum, uint32_t count) const;
  uint32_t* order() const { return order_; }

 private:
  struct Step {
    uint32_t from;
    int32_t token;
  };
  float Least(const Next* list, uint32_t count) const {
    return count < options_.width ? -HUGE_VALF : list[count - 1].sum;
  }
  void Insert(Next* list, uint32_t* count, const Next& next) const;
  void Keep(uint32_t text, uint32_t step, const Next& next);
  bool GoOn(uint32_t text, uint32_t step);
  bool CannotImprove(uint32_t text, uint32_t count) const;

  fovea_beams options_{};
  uint32_t max_rows_ = 0, max_tokens_ = 0;
  Next* running_ = nullptr;  // [texts, width] live beams, best first
  Found* found_ = nullptr;   // [texts, width] finished hypotheses, best first
  uint32_t* found_counts_ = nullptr;
  Step* steps_ = nullptr;      // [max_tokens, texts, width] each beam's token and the beam it extends
  uint32_t* order_ = nullptr;  // [texts, width] for the caller: the row that each row continues
  int32_t* traced_ = nullptr;  // [max_tokens]
  Next* best_ = nullptr;       // [width] the best candidates,
  Next* going_ = nullptr;      // [width] and the best that can continue
  uint32_t best_count_ = 0, going_count_ = 0;
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GENERATE_BEAMS_H_
