// Sound files: RIFF WAVE, also RF64 and BW64.
#ifndef FOVEA_TOOLS_SOUND_WAV_H_
#define FOVEA_TOOLS_SOUND_WAV_H_

#include <stdint.h>

#include <string>

#include "tools/sound/sound.h"

namespace fovea::tools {

// PCM of up to 32 bits, floats of 32 or 64, A-law and mu-law; several channels become their mean. Sizes that the writer
// did not know (pipes) or had not written yet (recorders that were cut off) mean all that follows; of a file that ends
// early what is there is read: notes tell of both. Fails with the file and what is wrong; ReadWav also where
// there are no samples. "-" is standard input.
Sound ReadWav(const std::string& path);
Sound ParseWav(const uint8_t* data, uint64_t size);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SOUND_WAV_H_
