// Parts of a long sound that overlap.
#ifndef FOVEA_TOOLS_GENERATE_SOUND_CHUNKS_H_
#define FOVEA_TOOLS_GENERATE_SOUND_CHUNKS_H_

#include <stdint.h>

#include <utility>
#include <vector>

#include "tools/sound/sound.h"

namespace fovea::tools {

// Chunks of a long sound overlap by strides, in which the frames of only one of both count: so what is said there has
// been heard with what comes before and after it.
struct ChunkLengths {
  uint64_t chunk = 0;  // samples; 0: the whole sound
  uint64_t left = 0, right = 0;
};
// Rounded to whole frames of so many samples. Fails where strides leave nothing of a chunk.
ChunkLengths ChunksOfSeconds(double chunk, double left, double right, uint32_t rate, uint64_t frame);
// Strides as options have them: one for both sides, or left and right; none: a sixth of a chunk.
ChunkLengths ChunksOfSeconds(double chunk, const std::vector<double>& strides, uint32_t rate, uint64_t frame);

struct SoundChunk {
  uint64_t begin = 0, length = 0;  // samples
  uint64_t left = 0, right = 0;    // of them: strides
  // Of as many frames as a chunk has, those that count.
  std::pair<uint32_t, uint32_t> Frames(uint64_t frame, uint32_t frames) const;
};
std::vector<SoundChunk> ChunksOf(uint64_t samples, const ChunkLengths& lengths);

// So many samples of a sound.
Sound PartOf(const Sound& sound, uint64_t begin, uint64_t length);

// The chunks of a sound. A rest of less than 10 ms is left out.
std::vector<Sound> CutSound(const Sound& sound, const ChunkLengths& lengths);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_SOUND_CHUNKS_H_
