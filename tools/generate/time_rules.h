// Rules for Whisper's timestamp tokens, which enclose segments.
#ifndef FOVEA_TOOLS_GENERATE_TIME_RULES_H_
#define FOVEA_TOOLS_GENERATE_TIME_RULES_H_

#include <stddef.h>
#include <stdint.h>

#include <optional>

namespace fovea::tools {

struct TimeTokens {
  int32_t first = 0;                          // timestamp 0.00; each following id is one step later
  int32_t stop = 0;                           // end of text; text tokens have lower ids
  int32_t none = -1;                          // no-timestamps token
  std::optional<uint32_t> latest_first = {};  // latest first timestamp, in steps

  bool IsTime(int32_t token) const { return token >= first; }
  bool IsText(int32_t token) const { return token < stop; }
};

// Masks the `tokens` tokens after the `count` generated ones, as Whisper's authors decode:
// - a text begins with a timestamp, at most latest_first;
// - timestamps come in pairs, the end of a segment and the beginning of the next; a text can end after a single one;
// - timestamps do not decrease, and the end of a segment is after its beginning;
// - if timestamps together are likelier than the likeliest other token, a timestamp follows.
void ApplyTimeRules(const TimeTokens& times, const int32_t* made, size_t count, const float* scores, uint32_t tokens,
                    uint32_t* bits);

// Log of the sum of e^score over tokens in [begin, end) whose bits are set; -infinity if there are none.
double LogSum(const float* scores, const uint32_t* bits, uint32_t begin, uint32_t end);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_TIME_RULES_H_
