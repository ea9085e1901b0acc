// Beam search as Hugging Face's generation defines it: texts in the making, and what has been found.
#ifndef FOVEA_RUNTIME_GENERATE_BEAMS_H_
#define FOVEA_RUNTIME_GENERATE_BEAMS_H_

#include <math.h>

#include "fovea/generate.h"
#include "runtime/base/arena.h"
#include "runtime/base/status.h"

namespace fovea {

inline constexpr uint32_t kMaxBeams = 256;

Status CheckBeams(const fovea_beams& beams, const fovea_sampling& sampling, uint32_t max_tokens, Reporter& reporter);

// The search of all texts, in the memory of one generator. It knows sums of log-probabilities and tokens; scores are
// offered to it, and it says which text in the making goes on as which.
class Beams {
 public:
  // A text in the making with one more token.
  struct Next {
    float sum;      // -infinity: there is none
    uint32_t from;  // number of the beam among its text's
    int32_t token;
  };
  struct Found {
    float score, sum;
    Next last;
    uint32_t count;  // tokens
  };

  // Null when counting.
  void Place(const fovea_beams& beams, uint32_t max_texts, uint32_t max_tokens, Arena& arena);
  const fovea_beams& options() const { return options_; }

  // Each text has one beam, without a token.
  void Begin(uint32_t texts);

  // A step of a text: Clear, Offer for each beam with a sum, Take.
  void Clear() { best_count_ = going_count_ = 0; }
  // Whether a token with this sum, or a better one, would go on.
  bool CouldTake(float sum) const { return sum > Least(going_, going_count_); }
  // One more token of a beam. `is_stop(token)`: it cannot go on. Of equal sums the first one offered is better.
  template <typename IsStop>
  void Offer(const Next& next, const IsStop& is_stop) {
    if (!CouldTake(next.sum)) return;
    Insert(best_, &best_count_, next);
    if (!is_stop(next.token)) Insert(going_, &going_count_, next);
  }
  // Which of them are found, and which go on. Returns whether the text's search has ended. `step`: from 0; `is_last`:
  // none goes on.
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
  // The tokens that end with this one, the last of `count`, in memory for one text.
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
  Next* running_ = nullptr;  // [texts, width] the best first
  Found* found_ = nullptr;   // [texts, width] the best first
  uint32_t* found_counts_ = nullptr;
  Step* steps_ = nullptr;      // [max_tokens, texts, width] what each beam took, and from which
  uint32_t* order_ = nullptr;  // [texts, width] for the caller: which row each goes on with
  int32_t* traced_ = nullptr;  // [max_tokens]
  Next* best_ = nullptr;       // [width] of all that is offered,
  Next* going_ = nullptr;      // [width] of what can go on
  uint32_t best_count_ = 0, going_count_ = 0;
};

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GENERATE_BEAMS_H_
