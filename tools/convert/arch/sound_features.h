// Features of audio, computed from samples as the feature extractors of published models do.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_SOUND_FEATURES_H_
#define FOVEA_TOOLS_CONVERT_ARCH_SOUND_FEATURES_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/convert/arch/program_builder.h"

namespace fovea::tools {

// The value that program "log_mel" makes, of Whisper's features.
constexpr char kLogMel[] = "sound.logs";

struct SoundFeatures {
  // "clips", below it "samples", and after them the space of the features: "frames", or none where a row is a sample.
  std::vector<Space> spaces;
  uint32_t width = 0;  // numbers in a row of the features
  Input samples;
  // Adds the operations that make the features `out` of the samples.
  std::function<std::string(ProgramBuilder&, const std::string& out)> rows;
};

// By preprocessor_config.json (FindProcessor); nothing where a directory has none. Adds the constants that are needed,
// and metadata.
// WhisperFeatureExtractor: the clip is cut or followed by silence to chunk_length seconds. Speech2TextFeatureExtractor:
// any length; features of a clip have mean 0 and variance 1. SeamlessM4TFeatureExtractor: the same, `stride` frames
// concatenated. ASTFeatureExtractor: `max_length` frames. Wav2Vec2FeatureExtractor: samples, perhaps with mean 0
// and variance 1.
std::optional<SoundFeatures> ReadSoundFeatures(const Checkpoint& checkpoint, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_SOUND_FEATURES_H_
