// Sound files: RIFF WAVE, read as one channel of samples from -1 to 1.
#ifndef FOVEA_TOOLS_SOUND_WAV_H_
#define FOVEA_TOOLS_SOUND_WAV_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace fovea::tools {

struct Sound {
  uint32_t rate = 0;  // samples in a second
  std::vector<float> samples;
  double seconds() const { return static_cast<double>(samples.size()) / rate; }
};

// PCM of 8, 16, 24 or 32 bits, or floats of 32 or 64; several channels become their mean. Fails with the file and what
// is wrong.
Sound ReadWav(const std::string& path);
Sound ParseWav(const uint8_t* data, uint64_t size);

// The same sound at another rate: a low pass at the lower one of both, by a windowed sinc of 32 crossings to each side.
Sound Resample(const Sound& sound, uint32_t rate);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SOUND_WAV_H_
