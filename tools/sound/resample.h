// Changes the sampling rate of a sound.
#ifndef FOVEA_TOOLS_SOUND_RESAMPLE_H_
#define FOVEA_TOOLS_SOUND_RESAMPLE_H_

#include <stdint.h>

#include <vector>

#include "tools/sound/sound.h"

namespace fovea::tools {

// Low-pass filter at the lower of both rates: windowed sinc with 32 zero crossings on each side. A sound can be given
// in blocks of any size; only the samples that the filter still needs are kept.
class Resampler {
 public:
  // Fails if a rate is out of range.
  Resampler(uint32_t from, uint32_t to);

  // Appends the samples that the given ones complete.
  void Add(const std::vector<float>& samples, std::vector<float>* made);
  // Appends the last samples, as if silence followed.
  void End(std::vector<float>* made);

 private:
  // Appends samples while the filter has all of its input.
  void Make(uint64_t most, std::vector<float>* made);
  const std::vector<float>& TableOf(uint64_t phase);

  uint64_t up_ = 1, down_ = 1;  // output sample i is at input position i * down / up
  double cutoff_ = 1;
  uint64_t half_ = 0, taps_ = 0;            // inputs on each side, and in all
  std::vector<std::vector<float>> tables_;  // a filter for each fractional position, made when needed
  std::vector<float> kept_;                 // the last inputs, with silence before the first one
  uint64_t first_ = 0;                      // position of kept_[0], counted from the beginning of that silence
  uint64_t given_ = 0, made_ = 0;           // samples so far
};

Sound Resample(const Sound& sound, uint32_t rate);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SOUND_RESAMPLE_H_
