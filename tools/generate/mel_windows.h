// Windows of long sounds with features of the whole sound, as Whisper's authors make them: one spectrogram of the file
// and silence after it, whose loudest place sets the floor of all its windows.
#ifndef FOVEA_TOOLS_GENERATE_MEL_WINDOWS_H_
#define FOVEA_TOOLS_GENERATE_MEL_WINDOWS_H_

#include <stdint.h>

#include <map>
#include <vector>

#include "tools/common/session.h"
#include "tools/generate/long_speech.h"

namespace fovea::tools {

class MelWindows {
 public:
  // Whether the model has its encoder in two programs: "log_mel" up to the logarithms of a clip's spectrum, and
  // "encode_log_mel" from there on. Older blobs have not.
  static bool Fits(const Model& model);

  // `clip`: samples of a window.
  MelWindows(const Model& model, uint64_t clip, uint32_t workers);

  // A session of the encoder that has run over the windows. Each sound is looked through once for its loudest place,
  // and no more of its spectrogram than a window is kept.
  Session Encode(const std::vector<SoundWindow>& windows);

  // Rows of a sound's spectrogram, beyond its end those of silence.
  std::vector<float> Rows(const Sound& sound, uint64_t first, uint64_t count) const;

 private:
  float Loudest(const Sound& sound) const;

  const Model& model_;
  const uint64_t clip_;
  const uint32_t workers_;
  const uint32_t logs_, rest_;       // programs
  uint64_t rows_ = 0, hop_ = 0;      // of a clip; samples from one row to the next
  uint64_t edge_ = 0;                // rows at each end of a clip that depend on the clip's end being there
  double range_ = 0;                 // a row's numbers are no further below the loudest one
  std::map<size_t, float> loudest_;  // by number of a sound
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_MEL_WINDOWS_H_
