// Encodes windows of long sounds with features of the whole sound, as in the original Whisper: one spectrogram of the
// file and of silence after it, whose maximum sets the floor of all windows.
#ifndef FOVEA_TOOLS_GENERATE_MEL_WINDOWS_H_
#define FOVEA_TOOLS_GENERATE_MEL_WINDOWS_H_

#include <stdint.h>

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "tools/generate/long_speech.h"
#include "tools/model/session.h"

namespace fovea::tools {

class MelWindows {
 public:
  // Whether the model has its encoder as two programs: "log_mel" up to the log spectrum of a clip, and "encode_log_mel"
  // for the rest. Older blobs have one program.
  static bool Fits(const Model& model);

  // `clip`: samples per window.
  MelWindows(const Model& model, uint64_t clip, uint32_t workers);

  // Runs the encoder on windows; returns the session. Each sound is scanned once for its maximum, and at most a window
  // of its spectrogram is kept in memory.
  Session Encode(const std::vector<SoundWindow>& windows);

  // `scanned` receives the seconds of a sound that were searched for the maximum.
  void OnScan(std::function<void(size_t sound, double seconds)> scanned) { scanned_ = std::move(scanned); }

  // Rows of a sound's spectrogram; beyond its end, rows of silence.
  std::vector<float> Rows(SoundReader* sound, uint64_t first, uint64_t count) const;

 private:
  float Loudest(const SoundWindow& window) const;

  const Model& model_;
  const uint64_t clip_;
  const uint32_t workers_;
  const uint32_t logs_, rest_;   // program indices
  uint64_t rows_ = 0, hop_ = 0;  // rows of a clip; samples per row
  uint64_t edge_ = 0;            // rows at each end of a clip that depend on its boundary
  double range_ = 0;             // values are clamped to the maximum minus this
  std::function<void(size_t, double)> scanned_;
  std::map<size_t, float> loudest_;  // maximum, by index of the sound
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_MEL_WINDOWS_H_
