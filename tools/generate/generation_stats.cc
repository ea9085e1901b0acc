#include "tools/generate/generation_stats.h"

#include <fmt/format.h>

#include "tools/base/clock.h"

namespace fovea::tools {
namespace {

double Seconds(uint64_t begin, uint64_t end) { return 1e-9 * static_cast<double>(end - begin); }

std::string Rate(uint64_t tokens, double seconds) {
  return seconds <= 0 ? fmt::format("{:.3f} s", seconds)
                      : fmt::format("{:.3f} s ({:.1f} tokens/s)", seconds, static_cast<double>(tokens) / seconds);
}

}  // namespace

void GenerationStats::Begin(uint64_t prompt_tokens) {
  prompt_tokens_ += prompt_tokens;
  first_ = 0;
  begin_ = NanosecondClock();
}

void GenerationStats::FirstToken() {
  if (first_ == 0) first_ = NanosecondClock();
}

void GenerationStats::End(uint64_t tokens) {
  const uint64_t now = NanosecondClock();
  if (first_ == 0) split_ = false;
  prefill_ += Seconds(begin_, first_ == 0 ? now : first_);
  if (first_ != 0) decode_ += Seconds(first_, now);
  tokens_ += tokens;
}

std::string GenerationStats::Text() const {
  if (!split_) {
    return fmt::format("stats: {} prompt tokens and {} generated ones in {}\n", prompt_tokens_, tokens_,
                       Rate(prompt_tokens_ + tokens_, prefill_ + decode_));
  }
  return fmt::format("stats: {} prompt tokens in {}; {} generated in {}\n", prompt_tokens_,
                     Rate(prompt_tokens_, prefill_), tokens_, Rate(tokens_, decode_));
}

}  // namespace fovea::tools
