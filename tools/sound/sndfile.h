// Reads audio files of other kinds than WAVE by libsndfile: FLAC, MP3, Ogg (Vorbis, Opus), AIFF, AU, CAF, Wave64.
#ifndef FOVEA_TOOLS_SOUND_SNDFILE_H_
#define FOVEA_TOOLS_SOUND_SNDFILE_H_

#include <stdint.h>

#include <memory>
#include <string>

#include "tools/sound/sample_source.h"

namespace fovea::tools {

// Empty if such files can be read here; else the reason. The library is loaded at run time, so that the command also
// runs where it is not installed.
std::string WhyNoSndfile();

// The bytes must outlive the source. Fails with the library's message. `forget` may be null.
std::unique_ptr<SampleSource> OpenBySndfile(const uint8_t* data, uint64_t size, const ForgetBytes& forget);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SOUND_SNDFILE_H_
