// Reads RIFF WAVE files, also RF64 and BW64.
#ifndef FOVEA_TOOLS_SOUND_WAV_H_
#define FOVEA_TOOLS_SOUND_WAV_H_

#include <stdint.h>

#include <memory>

#include "tools/sound/sample_source.h"
#include "tools/sound/sound.h"

namespace fovea::tools {

// Reads PCM of up to 32 bits, floats of 32 or 64, A-law and mu-law. A size that the writer did not know (pipes) or had
// not yet written (interrupted recorders) means all bytes that follow; of a truncated file the existing samples are
// read; notes report both. Fails with the fault. `forget` may be null.
std::unique_ptr<SampleSource> OpenWav(const uint8_t* data, uint64_t size, const ForgetBytes& forget);
// All of it.
Sound ParseWav(const uint8_t* data, uint64_t size);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SOUND_WAV_H_
