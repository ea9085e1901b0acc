// Reads audio files: RIFF WAVE, also RF64 and BW64.
#ifndef FOVEA_TOOLS_SOUND_WAV_H_
#define FOVEA_TOOLS_SOUND_WAV_H_

#include <stdint.h>

#include <string>

#include "tools/sound/sound.h"

namespace fovea::tools {

// Reads PCM of up to 32 bits, floats of 32 or 64, A-law and mu-law; several channels are averaged. A size that the
// writer did not know (pipes) or had not yet written (interrupted recorders) means all bytes that follow; of a
// truncated file the existing samples are read; notes report both. Fails with the file and the fault; ReadWav also for
// a file without samples. "-" is standard input.
Sound ReadWav(const std::string& path);
Sound ParseWav(const uint8_t* data, uint64_t size);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SOUND_WAV_H_
