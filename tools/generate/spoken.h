// What was said, and when.
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
  double probability = 0;     // of a token, the mean; 0: nobody knows
};

struct SpokenSegment {
  double begin = 0, end = 0;  // seconds
  std::string text;
  std::vector<int32_t> tokens;  // with times
  std::vector<TimedWord> words = {};
  // Of the window that it is from.
  float temperature = 0;
  double log_probability = 0, compression_ratio = 0, no_speech = 0;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_SPOKEN_H_
