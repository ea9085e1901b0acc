#include "tools/generate/sound_chunks.h"

#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

uint64_t WholeFrames(double seconds, uint32_t rate, uint64_t frame) {
  const double frames = seconds * rate / static_cast<double>(frame);
  return static_cast<uint64_t>(nearbyint(frames)) * frame;
}

}  // namespace

ChunkLengths ChunksOfSeconds(double chunk, double left, double right, uint32_t rate, uint64_t frame) {
  if (chunk == 0) return {};
  const ChunkLengths lengths = {WholeFrames(chunk, rate, frame), WholeFrames(left, rate, frame),
                                WholeFrames(right, rate, frame)};
  if (lengths.left + lengths.right >= lengths.chunk) {
    Fail("strides of {} and {} s leave nothing of chunks of {} s; give a shorter --stride or a longer --chunk", left,
         right, chunk);
  }
  return lengths;
}

ChunkLengths ChunksOfSeconds(double chunk, const std::vector<double>& strides, uint32_t rate, uint64_t frame) {
  const double left = strides.empty() ? chunk / 6 : strides.front();
  return ChunksOfSeconds(chunk, left, strides.empty() ? left : strides.back(), rate, frame);
}

std::pair<uint32_t, uint32_t> SoundChunk::Frames(uint64_t frame, uint32_t frames) const {
  if (left == 0 && right == 0) return {0, frames};
  // A chunk can have one frame less than its samples cover.
  const auto whole = static_cast<double>(length), count = nearbyint(whole / static_cast<double>(frame));
  const auto of = [&](uint64_t stride) { return nearbyint(static_cast<double>(stride) / whole * count); };
  const auto first = static_cast<uint32_t>(std::min(of(left), static_cast<double>(frames)));
  const auto end = static_cast<uint32_t>(std::min(std::max(count - of(right), 0.0), static_cast<double>(frames)));
  return {first, std::max(first, end)};
}

std::vector<SoundChunk> ChunksOf(uint64_t samples, const ChunkLengths& lengths) {
  if (lengths.chunk == 0 || samples <= lengths.chunk) return {{0, samples, 0, 0}};
  std::vector<SoundChunk> chunks;
  for (uint64_t begin = 0;; begin += lengths.chunk - lengths.left - lengths.right) {
    const bool last = begin + lengths.chunk >= samples;
    const uint64_t left = begin == 0 ? 0 : lengths.left, length = last ? samples - begin : lengths.chunk;
    if (length > left) chunks.push_back({begin, length, left, last ? 0 : lengths.right});
    if (last) return chunks;
  }
}

Sound PartOf(const Sound& sound, uint64_t begin, uint64_t length) {
  const auto first = sound.samples.begin() + static_cast<ptrdiff_t>(begin);
  return {sound.rate, {first, first + static_cast<ptrdiff_t>(length)}};
}

std::vector<Sound> CutSound(const Sound& sound, const ChunkLengths& lengths) {
  std::vector<Sound> parts;
  for (const SoundChunk& chunk : ChunksOf(sound.samples.size(), lengths)) {
    if (!parts.empty() && (chunk.length - chunk.left) * 100 < sound.rate) break;
    parts.push_back(PartOf(sound, chunk.begin, chunk.length));
  }
  if (!parts.empty()) parts.front().notes = sound.notes;
  return parts;
}

}  // namespace fovea::tools
