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

std::optional<SoundChunk> ChunkSequence::Next(const std::function<uint64_t(uint64_t most)>& count_up_to) {
  if (ended_) return std::nullopt;
  const uint64_t begin = begin_, end = lengths_.chunk == 0 ? UINT64_MAX - 2 : begin + lengths_.chunk;
  const uint64_t all = count_up_to(end + 1);
  ended_ = all <= end;
  begin_ += lengths_.chunk - lengths_.left - lengths_.right;
  const uint64_t left = begin == 0 ? 0 : lengths_.left, length = ended_ ? all - begin : lengths_.chunk;
  if (begin > 0 && length <= left) return std::nullopt;
  return SoundChunk{begin, length, left, ended_ ? 0 : lengths_.right};
}

bool IsShortRest(const SoundChunk& chunk, uint32_t rate) {
  return chunk.begin > 0 && (chunk.length - chunk.left) * 100 < rate;
}

std::vector<Sound> CutSound(SoundReader* sound, const ChunkLengths& lengths) {
  std::vector<Sound> parts;
  ChunkSequence chunks(lengths);
  while (const auto chunk = chunks.Next([&](uint64_t most) { return sound->CountUpTo(most); })) {
    if (IsShortRest(*chunk, sound->rate())) break;
    parts.push_back(sound->Part(chunk->begin, chunk->length));
  }
  if (!parts.empty()) parts.front().notes = sound->notes();
  return parts;
}

}  // namespace fovea::tools
