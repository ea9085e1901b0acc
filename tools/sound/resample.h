// The same sound at another rate.
#ifndef FOVEA_TOOLS_SOUND_RESAMPLE_H_
#define FOVEA_TOOLS_SOUND_RESAMPLE_H_

#include "tools/sound/sound.h"

namespace fovea::tools {

// A low pass at the lower one of both rates, by a windowed sinc of 32 crossings to each side.
Sound Resample(const Sound& sound, uint32_t rate);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SOUND_RESAMPLE_H_
