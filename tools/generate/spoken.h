// Transcribed segments and words with their times.
#ifndef FOVEA_TOOLS_GENERATE_SPOKEN_H_
#define FOVEA_TOOLS_GENERATE_SPOKEN_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace fovea::tools {

struct TimedWord {
  std::string text;  // with the space before it
  std::vector<int32_t> tokens;
  double begin = 0, end = 0;  // seconds
  double probability = 0;     // mean over tokens; 0: unknown
};

struct SpokenSegment {
  double begin = 0, end = 0;  // seconds
  std::string text;
  std::vector<int32_t> tokens;  // including timestamps
  std::vector<TimedWord> words = {};
  // Results for the segment's window.
  float temperature = 0;
  double log_probability = 0, compression_ratio = 0, no_speech = 0;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_SPOKEN_H_
