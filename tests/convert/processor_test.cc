// Files with the preparation of audio and images: missing, nested, without a type, unknown. None costs the model.
#include "tests/convert/architecture_support.h"

namespace fovea::tools {
namespace {

class Processor : public Architecture {
 protected:
  bool HasInput(const std::string& name) const {
    const Description description = Describe(Options());
    const std::vector<Input>& inputs = description.programs[0].inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](const Input& input) { return input.name == name; });
  }
  bool Warns(const std::string& words) const { return Holds(Describe(Options()).warnings, words); }
  bool Says(const std::string& words) const {
    std::vector<std::string> texts;
    for (const Finding& finding : Describe(Options()).findings) texts.push_back(finding.text);
    return Holds(texts, words);
  }
  std::string Metadata(const std::string& key) const {
    const Description description = Describe(Options());
    const auto found = description.metadata_index.find(key);
    return found == description.metadata_index.end() ? "none" : description.metadata[found->second].second;
  }

 private:
  static bool Holds(const std::vector<std::string>& texts, const std::string& words) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return text.find(words) != std::string::npos; });
  }
};

TEST_F(Processor, OfAudioCostsOnlyItself) {
  Copy("wav2vec2-ctc");
  EXPECT_TRUE(HasInput("input_values"));
  EXPECT_TRUE(Says("neither preprocessor_config.json nor processor_config.json prepares audio"));
  // The type is the model's where the file has none.
  for (const char* file : {"preprocessor_config.json", "processor_config.json"}) {
    const bool nested = std::string(file) == "processor_config.json";
    const std::string settings = R"({"do_normalize": true, "feature_size": 1, "sampling_rate": 16000})";
    Write(file,
          nested ? R"({"feature_extractor": )" + settings + R"(, "processor_class": "Wav2Vec2Processor"})" : settings);
    EXPECT_TRUE(HasInput("samples")) << file;
    EXPECT_EQ(Metadata("sampling_rate.samples"), "16000") << file;
    std::filesystem::remove(directory_ / file);
  }
  for (const char* unknown : {R"({"feature_extractor_type": "ClapFeatureExtractor"})",
                              R"({"feature_extractor_type": "Wav2Vec2FeatureExtractor", "feature_size": 3})",
                              R"({"feature_extractor_type": 7})", R"({"sampling_rate": "fast"})"}) {
    Write("preprocessor_config.json", unknown);
    EXPECT_TRUE(HasInput("input_values")) << unknown;
    EXPECT_TRUE(Warns("the blob reads input_values and no audio files: ")) << unknown;
    EXPECT_EQ(Metadata("sampling_rate.samples"), "none") << unknown;
    Blob();
  }
}

// Values that a processor set before it failed are taken back.
TEST_F(Processor, OfWhisperLeavesNothingBehind) {
  Copy("whisper");
  Write("preprocessor_config.json", R"({"feature_extractor_type": "WhisperFeatureExtractor", "feature_size": 16,
         "chunk_length": 1, "sampling_rate": 16000, "hop_length": 7})");
  EXPECT_TRUE(HasInput("input_features"));
  EXPECT_TRUE(Warns("frames of 7"));
  for (const char* key : {"clip_length.samples", "log_mel.range", "sampling_rate.samples"})
    EXPECT_EQ(Metadata(key), "none") << key;
  // 80 frames, as the encoder's 40 positions need them.
  Write("preprocessor_config.json",
        R"({"feature_size": 16, "chunk_length": 1, "sampling_rate": 16000, "hop_length": 200})");
  EXPECT_TRUE(HasInput("samples"));
  EXPECT_EQ(Metadata("clip_length.samples"), "16000");
}

TEST_F(Processor, OfImagesIsReportedWhereItIsMissing) {
  Copy("vit");
  EXPECT_TRUE(Says("neither preprocessor_config.json nor processor_config.json prepares images"));
  Write("preprocessor_config.json", R"({"do_normalize": true, "do_resize": true, "image_mean": null, "size": 24})");
  EXPECT_FALSE(Says("prepares images"));
  EXPECT_FALSE(Warns("pixel values"));
  Write("preprocessor_config.json", R"({"image_processor_type": "VideoMAEImageProcessor"})");
  EXPECT_TRUE(Warns("the blob accepts only pixel values: "));
  // A model of any size, which is then that of config.json.
  Copy("dinov3");
  for (const char* damaged :
       {R"({"size": "large"})", R"({"size": {"height": 0, "width": 3}})", R"({"size": [1, 2, 3]})", R"([])", "{"}) {
    Write("preprocessor_config.json", damaged);
    EXPECT_TRUE(Warns("the blob accepts only pixel values: ")) << damaged;
    Blob();
  }
}

}  // namespace
}  // namespace fovea::tools
