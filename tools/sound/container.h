// Kinds of audio files, by their first bytes.
#ifndef FOVEA_TOOLS_SOUND_CONTAINER_H_
#define FOVEA_TOOLS_SOUND_CONTAINER_H_

#include <stdint.h>

namespace fovea::tools {

struct Container {
  enum class Reader { kWav, kLibrary, kNone };
  const char* name;  // null: unknown
  Reader reader;     // kLibrary: libsndfile (sndfile.h)
};
Container ContainerOf(const uint8_t* data, uint64_t size);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_SOUND_CONTAINER_H_
