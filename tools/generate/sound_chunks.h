// Splits a long sound into overlapping chunks.
#ifndef FOVEA_TOOLS_GENERATE_SOUND_CHUNKS_H_
#define FOVEA_TOOLS_GENERATE_SOUND_CHUNKS_H_

#include <stdint.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "tools/sound/sound.h"
#include "tools/sound/sound_reader.h"

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

// The chunks of a sound in order; it is read as far as they need.
class ChunkSequence {
 public:
  explicit ChunkSequence(const ChunkLengths& lengths) : lengths_(lengths) {}
  // `count_up_to(most)`: the number of samples, or `most` if it is less. Nothing at the end.
  std::optional<SoundChunk> Next(const std::function<uint64_t(uint64_t most)>& count_up_to);

 private:
  const ChunkLengths lengths_;
  uint64_t begin_ = 0;
  bool ended_ = false;
};

// Splits a sound into chunks. A rest of less than 10 ms is dropped.
std::vector<Sound> CutSound(SoundReader* sound, const ChunkLengths& lengths);
// Whether a chunk is such a rest.
bool IsShortRest(const SoundChunk& chunk, uint32_t rate);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_SOUND_CHUNKS_H_
