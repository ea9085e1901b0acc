// A text with times, cut into segments; and where to listen next.
#ifndef FOVEA_TOOLS_GENERATE_SPEECH_SEGMENTS_H_
#define FOVEA_TOOLS_GENERATE_SPEECH_SEGMENTS_H_

#include <stdint.h>

#include <vector>

#include "tools/generate/time_rules.h"

namespace fovea::tools {

// In samples of a sound.
struct SpeechWindow {
  uint64_t begin = 0, length = 0;
};

struct SpeechSegment {
  uint64_t begin = 0, end = 0;  // samples
  std::vector<int32_t> tokens;  // with its times
};

struct CutText {
  std::vector<SpeechSegment> segments;
  uint64_t next = 0;        // the sample to listen from
  bool ends_early = false;  // with a time by itself: nothing is said between it and the end of the window
};

// Of the tokens that were written of a window, without one that ends texts. `step`: samples from one time to the next.
// Where pairs of times stand, each ends a segment; what follows the last pair is heard again in the next window, unless
// a time by itself ends it. A text without pairs is one segment, and the next window follows this one.
CutText CutAtTimes(const std::vector<int32_t>& tokens, const TimeTokens& times, uint64_t step,
                   const SpeechWindow& window);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_SPEECH_SEGMENTS_H_
