// Splits a long sound into overlapping chunks.
#ifndef FOVEA_TOOLS_GENERATE_SOUND_CHUNKS_H_
#define FOVEA_TOOLS_GENERATE_SOUND_CHUNKS_H_

#include <stdint.h>

#include <utility>
#include <vector>

#include "tools/sound/sound.h"

namespace fovea::tools {

// Neighbouring chunks overlap by strides; each frame there counts in only one of them, so that every frame that counts
// has context on both sides.
struct ChunkLengths {
  uint64_t chunk = 0;  // samples; 0: the whole sound
  uint64_t left = 0, right = 0;
};
// Rounded to whole frames of `frame` samples. Fails if nothing is left of a chunk between its strides.
ChunkLengths ChunksOfSeconds(double chunk, double left, double right, uint32_t rate, uint64_t frame);
// `strides`: one for both sides, or left and right; empty: a sixth of a chunk.
ChunkLengths ChunksOfSeconds(double chunk, const std::vector<double>& strides, uint32_t rate, uint64_t frame);

struct SoundChunk {
  uint64_t begin = 0, length = 0;  // samples
  uint64_t left = 0, right = 0;    // strides, in samples; included in length
  // The range of frames that counts, of a chunk of `frames` frames.
  std::pair<uint32_t, uint32_t> Frames(uint64_t frame, uint32_t frames) const;
};
std::vector<SoundChunk> ChunksOf(uint64_t samples, const ChunkLengths& lengths);

// `length` samples of a sound from `begin` on.
Sound PartOf(const Sound& sound, uint64_t begin, uint64_t length);

// Splits a sound into chunks. A rest of less than 10 ms is dropped.
std::vector<Sound> CutSound(const Sound& sound, const ChunkLengths& lengths);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_SOUND_CHUNKS_H_
