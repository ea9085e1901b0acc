// Tokens that stand for times, as Whisper writes them: a segment lies between two of them.
#ifndef FOVEA_TOOLS_GENERATE_TIME_RULES_H_
#define FOVEA_TOOLS_GENERATE_TIME_RULES_H_

#include <stddef.h>
#include <stdint.h>

#include <optional>

namespace fovea::tools {

struct TimeTokens {
  int32_t first = 0;  // stands for the beginning of the window, each one after it for a step more
  int32_t stop = 0;   // ends a text; tokens of words are those before it
  int32_t none = -1;  // what tells the model to write no times
  std::optional<uint32_t> latest_first = {};  // the most steps of the time that a text begins with

  bool IsTime(int32_t token) const { return token >= first; }
  bool IsText(int32_t token) const { return token < stop; }
};

// Clears the bits of `tokens` tokens that may not follow the `count` tokens that are made, as Whisper's authors decode:
// - a text begins with a time, at most latest_first;
// - times come in pairs, the end of a segment and the beginning of the next; a text may end after one;
// - no time is before the last one, and the one that ends a segment is after it;
// - if times together are likelier than the likeliest other token, a time follows.
void ApplyTimeRules(const TimeTokens& times, const int32_t* made, size_t count, const float* scores, uint32_t tokens,
                    uint32_t* bits);

// The logarithm of the sum of e^score over tokens from `begin` on, before `end`, whose bits are set; -infinity if there
// are none.
double LogSum(const float* scores, const uint32_t* bits, uint32_t begin, uint32_t end);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_TIME_RULES_H_
