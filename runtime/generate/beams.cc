#include "runtime/generate/beams.h"

#include <algorithm>

namespace fovea {

Status CheckBeams(const fovea_beams& beams, const fovea_sampling& sampling, uint32_t max_tokens, Reporter& reporter) {
  if (beams.width == 0 || beams.width > kMaxBeams) {
    return reporter.Fail(FOVEA_E_OPTION, "beams.width must be from 1 to 256", kMaxBeams, beams.width);
  }
  if (beams.stop > FOVEA_BEAMS_STOP_NEVER) {
    return reporter.Fail(FOVEA_E_OPTION, "beams.stop is unknown", FOVEA_BEAMS_STOP_NEVER, beams.stop);
  }
  if (!isfinite(beams.length_penalty)) return reporter.Fail(FOVEA_E_OPTION, "length_penalty must be finite");
  if (max_tokens == 0) return reporter.Fail(FOVEA_E_OPTION, "beam search needs max_tokens");
  if (sampling.temperature != 0 || sampling.top_k != 0 || sampling.top_p != 0 || sampling.min_p != 0) {
    return reporter.Fail(FOVEA_E_OPTION, "beam search cannot sample: temperature, top_k, top_p and min_p must be 0");
  }
  if (sampling.logprobs != 0 || sampling.top_logprobs != 0) {
    return reporter.Fail(FOVEA_E_OPTION, "beam search cannot report log-probabilities of tokens");
  }
  return kOk;
}

void Beams::Place(const fovea_beams& beams, uint32_t max_texts, uint32_t max_tokens, Arena& arena) {
  options_ = beams;
  max_rows_ = max_texts * beams.width;
  max_tokens_ = max_tokens;
  running_ = arena.Take<Next>(max_rows_);
  found_ = arena.Take<Found>(max_rows_);
  found_counts_ = arena.Take<uint32_t>(max_texts);
  steps_ = arena.Take<Step>(uint64_t{max_rows_} * max_tokens);
  order_ = arena.Take<uint32_t>(max_rows_);
  traced_ = arena.Take<int32_t>(max_tokens);
  best_ = arena.Take<Next>(beams.width);
  going_ = arena.Take<Next>(beams.width);
}

void Beams::Begin(uint32_t texts) {
  for (uint32_t i = 0; i < texts; ++i) {
    found_counts_[i] = 0;
    std::fill_n(running_ + size_t{i} * options_.width, options_.width, Next{-HUGE_VALF, 0, 0});
    running_[size_t{i} * options_.width].sum = 0;
  }
}

float Beams::ScoreOf(float sum, uint32_t count) const {
  return sum / static_cast<float>(pow(count, options_.length_penalty));
}

// Keeps the list sorted; of equal sums the one inserted first precedes.
void Beams::Insert(Next* list, uint32_t* count, const Next& next) const {
  if (!(next.sum > Least(list, *count))) return;
  if (*count < options_.width) ++*count;
  uint32_t at = *count - 1;
  for (; at > 0 && next.sum > list[at - 1].sum; --at) list[at] = list[at - 1];
  list[at] = next;
}

void Beams::Keep(uint32_t text, uint32_t step, const Next& next) {
  Found* const list = found_ + size_t{text} * options_.width;
  uint32_t& count = found_counts_[text];
  const float score = ScoreOf(next.sum, step + 1);
  if (count == options_.width && !(score > list[count - 1].score)) return;
  if (count < options_.width) ++count;
  uint32_t at = count - 1;
  for (; at > 0 && score > list[at - 1].score; --at) list[at] = list[at - 1];
  list[at] = {score, next.sum, next, step + 1};
}

bool Beams::GoOn(uint32_t text, uint32_t step) {
  const uint32_t width = options_.width;
  const size_t first = size_t{text} * width;
  Step* const steps = steps_ + size_t{step} * max_rows_ + first;
  for (uint32_t i = 0; i < width; ++i) {
    // If fewer beams continue, the remaining rows continue the best beam's text with a sum of -infinity.
    running_[first + i] = i < going_count_ ? going_[i] : Next{-HUGE_VALF, 0, 0};
    if (i >= going_count_ && going_count_ != 0) running_[first + i].from = going_[0].from;
    steps[i] = {running_[first + i].from, running_[first + i].token};
  }
  return going_count_ == 0 || CannotImprove(text, step + 1);
}

bool Beams::CannotImprove(uint32_t text, uint32_t count) const {
  if (found_counts_[text] < options_.width) return false;
  if (options_.stop == FOVEA_BEAMS_STOP_FIRST) return true;
  const bool longest = options_.stop == FOVEA_BEAMS_STOP_NEVER && options_.length_penalty > 0;
  const size_t first = size_t{text} * options_.width;
  return !(ScoreOf(running_[first].sum, longest ? max_tokens_ : count) > found_[first + options_.width - 1].score);
}

const Beams::Found* Beams::FindFound(uint32_t text, uint32_t rank) const {
  return rank < found_counts_[text] ? found_ + size_t{text} * options_.width + rank : nullptr;
}

const int32_t* Beams::Trace(uint32_t text, uint32_t count, const Next& last) const {
  Next at = last;
  for (uint32_t i = count; i-- > 0;) {
    traced_[i] = at.token;
    if (i == 0) break;
    const Step& step = steps_[size_t{i - 1} * max_rows_ + size_t{text} * options_.width + at.from];
    at = {0, step.from, step.token};
  }
  return traced_;
}

}  // namespace fovea
