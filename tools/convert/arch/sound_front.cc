#include "tools/convert/arch/sound_front.h"

#include "tools/base/fail.h"
#include "tools/convert/arch/sound_features.h"

namespace fovea::tools {

namespace {

// The features of the directory's processor. A model can be used without it: one that cannot be read is warned about.
std::optional<SoundFeatures> FeaturesFor(const std::string& input, const Checkpoint& checkpoint,
                                         Description& description) {
  const auto metadata = description.metadata;
  const auto index = description.metadata_index;
  try {
    std::optional<SoundFeatures> features = ReadSoundFeatures(checkpoint, description);
    if (!features && !checkpoint.directory.empty()) {
      description.findings.push_back(
          {Topic::kFiles, fmt::format("neither preprocessor_config.json nor processor_config.json prepares audio: the "
                                      "blob reads {} and no audio files",
                                      input)});
    }
    return features;
  } catch (const Failure& failure) {
    description.metadata = metadata;
    description.metadata_index = index;
    description.warnings.push_back(fmt::format("the blob reads {} and no audio files: {}", input, failure.what()));
    return std::nullopt;
  }
}

}  // namespace

Front FromSamples(Front front, const Checkpoint& checkpoint, Description& description) {
  const std::optional<SoundFeatures> features = FeaturesFor(front.input.name, checkpoint, description);
  if (!features) return front;
  const Input made = front.input;
  if (features->spaces.back().name != made.space || features->width != made.width) {
    Fail("preprocessor_config.json: makes {} of width {}, but the model reads {} of width {}",
         features->spaces.back().name, features->width, made.space, made.width);
  }
  const uint32_t read = front.spaces[1].each, given = features->spaces.back().each;
  if (read != 0 && read != given) {
    Fail("preprocessor_config.json: clips have {} rows, but the model reads {}", given, read);
  }
  Front from;
  from.spaces = features->spaces;
  from.spaces.insert(from.spaces.end(), front.spaces.begin() + 2, front.spaces.end());  // after clips and their rows
  from.input = features->samples;
  from.rows = [=](ProgramBuilder& builder, const std::string&, const std::string& out) {
    return front.rows(builder, features->rows(builder, made.name), out);
  };
  return from;
}

}  // namespace fovea::tools
