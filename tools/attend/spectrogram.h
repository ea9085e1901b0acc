// Spectrogram of a sound, for display.
#ifndef FOVEA_TOOLS_ATTEND_SPECTROGRAM_H_
#define FOVEA_TOOLS_ATTEND_SPECTROGRAM_H_

#include "tools/attend/record.h"
#include "tools/sound/sound.h"

namespace fovea::tools {

// Sets `spectrogram` and `bands`: decibels below the loudest level, over 80 dB; bands are equally spaced on the mel
// scale up to half the rate.
void AddSpectrogram(const Sound& sound, RecordSound* shown);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_ATTEND_SPECTROGRAM_H_
