// Changes the sampling rate of a sound.
#ifndef FOVEA_TOOLS_SOUND_RESAMPLE_H_
#define FOVEA_TOOLS_SOUND_RESAMPLE_H_

#include "tools/sound/sound.h"

namespace fovea::tools {

// Low-pass filter at the lower of both rates: windowed sinc with 32 zero crossings on each side.
Sound Resample(const Sound& sound, uint32_t rate);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SOUND_RESAMPLE_H_
