// Programs that read audio samples: inputs with metadata "sampling_rate.<input>".
#ifndef FOVEA_TOOLS_MEDIA_SOUND_INPUTS_H_
#define FOVEA_TOOLS_MEDIA_SOUND_INPUTS_H_

#include <stdint.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/model/batch.h"
#include "tools/sound/sound.h"

namespace fovea::tools {

struct SoundInput {
  uint32_t value;
  uint32_t rate;
  uint64_t clip = 0;  // samples that are read of a sound (metadata "clip_length.<input>"); 0: all
};
// The sound input of a program; nothing if it has none.
std::optional<SoundInput> FindSoundInput(const Model& model, uint32_t program);

// Reads a sound file and resamples it to the input's rate.
Sound ReadSound(const std::string& path, uint32_t rate);

// Same for a program that reads one clip: if clips have a fixed length, only that is kept in memory, and a note states
// how much of a longer sound is dropped, or how much silence a shorter one is padded with. `seconds`: of the whole.
Sound ReadClip(const std::string& path, const SoundInput& input, double* seconds = nullptr);

// A window of sounds ends at this many, or at this many samples: a minute at 16 kHz.
inline constexpr size_t kSoundsOfWindow = 64, kSamplesOfWindow = 1000000;

// Number of clips in a batch of inputs of a speech encoder.
size_t ClipCount(const Batch& batch);

Batch BatchFromSounds(const Model& model, const SoundInput& input, uint32_t program, const std::vector<Sound>& sounds);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_MEDIA_SOUND_INPUTS_H_
