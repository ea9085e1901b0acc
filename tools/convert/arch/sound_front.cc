#include "tools/convert/arch/sound_front.h"

#include "tools/base/fail.h"
#include "tools/convert/arch/sound_features.h"

namespace fovea::tools {

Front FromSamples(Front front, const Checkpoint& checkpoint, Description& description) {
  const std::optional<SoundFeatures> features = ReadSoundFeatures(checkpoint, description);
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
