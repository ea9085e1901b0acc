// Programs that read audio samples.
#include "tools/media/sound_inputs.h"

#include <stdlib.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/sound/sound_reader.h"

namespace fovea::tools {

std::optional<SoundInput> FindSoundInput(const Model& model, uint32_t program) {
  for (const uint32_t value : InputsOf(model, program)) {
    const fovea_value_info info = model.Value(program, value);
    const char* rate = model.Metadata(fmt::format("sampling_rate.{}", info.name));
    if (rate == nullptr || info.type != FOVEA_TYPE_F32 || info.width != 1) continue;
    SoundInput input = {value, static_cast<uint32_t>(strtoul(rate, nullptr, 10))};
    const std::string key = fmt::format("clip_length.{}", info.name);
    if (const char* clip = model.Metadata(key)) {
      input.clip = static_cast<uint64_t>(WholeNumberIn(clip, "metadata " + key, {1, UINT32_MAX}));
    }
    return input;
  }
  return std::nullopt;
}

Sound ReadSound(const std::string& path, uint32_t rate) {
  SoundReader reader(path, rate);
  Sound sound = reader.Part(0, UINT64_MAX);
  sound.notes = reader.notes();
  return sound;
}

Sound ReadClip(const std::string& path, const SoundInput& input, double* seconds) {
  SoundReader reader(path, input.rate);
  Sound sound = reader.Part(0, input.clip == 0 ? UINT64_MAX : input.clip);
  // The rest is counted without being kept.
  const double all = reader.Seconds(), read = static_cast<double>(input.clip) / input.rate;
  if (seconds != nullptr) *seconds = all;
  sound.notes = reader.notes();
  if (input.clip == 0 || reader.Count() == input.clip) return sound;
  if (reader.Count() > input.clip) {
    sound.notes.push_back(
        fmt::format("the first {:.3f} of {:.3f} s are read, as long as the model's clips are; the "
                    "rest is left out",
                    read, all));
  } else {
    sound.notes.push_back(
        fmt::format("{:.3f} s are followed by silence, as the model's clips have {:.3f} s", all, read));
  }
  return sound;
}

size_t ClipCount(const Batch& batch) {
  size_t clips = 0;
  for (const auto& [space, segments] : batch.spaces) clips = std::max(clips, segments.lengths.size());
  return clips;
}

Batch BatchFromSounds(const Model& model, const SoundInput& input, uint32_t program, const std::vector<Sound>& sounds) {
  Batch batch;
  std::vector<uint32_t> lengths;
  std::vector<float>& numbers = batch.numbers[input.value];
  for (const Sound& sound : sounds) {
    if (sound.samples.size() > UINT32_MAX / 2) Fail("{:.0f} s exceed the limit on samples of a clip", sound.seconds());
    lengths.push_back(static_cast<uint32_t>(sound.samples.size()));
    numbers.insert(numbers.end(), sound.samples.begin(), sound.samples.end());
  }
  AddSegments(model, model.Value(program, input.value).space, MakeSegments(lengths), &batch);
  return batch;
}

}  // namespace fovea::tools
