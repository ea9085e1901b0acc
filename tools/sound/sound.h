// A sound: one channel of samples in [-1, 1].
#ifndef FOVEA_TOOLS_SOUND_SOUND_H_
#define FOVEA_TOOLS_SOUND_SOUND_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace fovea::tools {

struct Sound {
  uint32_t rate = 0;  // samples per second
  std::vector<float> samples;
  std::vector<std::string> notes = {};  // assumptions about its file and missing parts, for the user
  double seconds() const { return static_cast<double>(samples.size()) / rate; }
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SOUND_SOUND_H_
