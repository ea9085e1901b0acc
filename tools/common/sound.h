// Programs that take samples of sound: metadata "sampling_rate.<input>" says so of an input, and at which rate.
#ifndef FOVEA_TOOLS_COMMON_SOUND_H_
#define FOVEA_TOOLS_COMMON_SOUND_H_

#include <stdint.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/common/batch.h"
#include "tools/sound/sound.h"

namespace fovea::tools {

struct SoundInput {
  uint32_t value;
  uint32_t rate;
  uint64_t clip = 0;  // samples that are read of a sound, by metadata "clip_length.<input>"; 0: all there are
};
// Of a program; nothing where it takes none.
std::optional<SoundInput> FindSoundInput(const Model& model, uint32_t program);

// A sound file as the input takes it: another rate is resampled.
Sound ReadSound(const std::string& path, uint32_t rate);

// The same for a program that hears a sound once: where it reads clips of one length, a note tells how much of a longer
// sound is left out, or of a shorter one is silence.
Sound ReadClip(const std::string& path, const SoundInput& input);

// Of a batch of what an encoder of speech reads.
size_t ClipCount(const Batch& batch);

Batch BatchFromSounds(const Model& model, const SoundInput& input, uint32_t program, const std::vector<Sound>& sounds);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_SOUND_H_
