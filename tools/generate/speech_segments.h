// Splits a text with timestamps into segments, and determines the next window.
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
  std::vector<int32_t> tokens;  // including timestamps
};

struct CutText {
  std::vector<SpeechSegment> segments;
  uint64_t next = 0;        // sample at which the next window begins
  bool ends_early = false;  // ends with a single timestamp: silence from there to the end of the window
};

// `tokens`: those generated for a window, without the end-of-text token. `step`: samples from one timestamp to the
// next. A pair of timestamps ends a segment; text after the last pair is transcribed again in the next window, unless a
// single timestamp ends it. A text without pairs is one segment, and the next window follows this one.
CutText CutAtTimes(const std::vector<int32_t>& tokens, const TimeTokens& times, uint64_t step,
                   const SpeechWindow& window);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_SPEECH_SEGMENTS_H_
