// Models of speech in directories of a test, requests to them through the command, and a model that gets all tokens at
// once, for comparison.
#ifndef FOVEA_TESTS_GOLDEN_SPEECH_TEACHER_H_
#define FOVEA_TESTS_GOLDEN_SPEECH_TEACHER_H_

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/golden/golden_support.h"
#include "tests/golden/sound_reference.h"
#include "tests/support/run_command.h"
#include "tests/support/wav_file.h"
#include "tools/tensors/padded_inputs.h"

namespace fovea::test {

// 80 frames, as many as the golden whisper has positions for.
inline constexpr size_t kSecond = 16000, kHop = 200, kFilters = 16;

inline constexpr char kWhisper[] =
    R"({"feature_extractor_type": "WhisperFeatureExtractor", "feature_size": 16, "n_fft": 400,
  "hop_length": 200, "chunk_length": 1, "n_samples": 16000, "sampling_rate": 16000, "padding_value": 0.0})";

inline std::vector<float> Part(const std::vector<float>& clip, size_t begin, size_t end) {
  return {clip.begin() + static_cast<ptrdiff_t>(begin), clip.begin() + static_cast<ptrdiff_t>(end)};
}

// Channels first, as the encoder is given them that has no front for samples.
struct Features {
  std::vector<float> numbers;
};
inline Features ChannelsFirst(const Rows& rows) {
  std::vector<float> numbers;
  for (size_t c = 0; c < kFilters; ++c) {
    for (const std::vector<double>& row : rows) numbers.push_back(static_cast<float>(row[c]));
  }
  return {numbers};
}
inline Features FeaturesOf(const std::vector<float>& clip) {
  return ChannelsFirst(Whisper(clip, kSecond, kHop, kFilters));
}
inline Features WindowOf(const std::vector<float>& sound, size_t begin) {
  return ChannelsFirst(WhisperWindow(sound, begin, kSecond, kHop, kFilters));
}

// A model that is given features and the tokens of a text.
class Teacher {
 public:
  explicit Teacher(const std::string& directory) : converted_(directory, DType::kF32) {}

  const tools::Model& model() const { return converted_.model; }

  // A run over a clip and tokens.
  tools::Session Run(const std::vector<float>& clip, const std::vector<int32_t>& tokens,
                     const std::vector<fovea_tap>& taps = {}) const {
    if (clip != clip_) clip_ = clip, features_ = FeaturesOf(clip);
    return Run(features_, tokens, taps);
  }
  tools::Session Run(const Features& features, const std::vector<int32_t>& tokens,
                     const std::vector<fovea_tap>& taps = {}) const {
    tools::SafetensorsWriter writer;
    writer.AddFloats("input_features", {1, kFilters, kSecond / kHop}, features.numbers.data());
    const std::vector<int64_t> ids(tokens.begin(), tokens.end());
    writer.AddIntegers("decoder_input_ids", {1, ids.size()}, ids.data());
    const std::string bytes = writer.Bytes();
    const tools::Model& model = converted_.model;
    tools::SessionRequest request;
    request.program = model.FindProgram("score");
    request.taps = taps;
    const tools::Batch batch = tools::BatchFromTensors(
        model, request.program,
        tools::ParseSafetensors(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), "inputs"));
    tools::Session session = tools::SessionFor(model, batch, request);
    session.Run();
    return session;
  }

  // Scores of the token after each of these.
  template <typename ClipOrFeatures>
  Rows LogProbabilities(const ClipOrFeatures& heard, const std::vector<int32_t>& tokens) const {
    const tools::Session session = Run(heard, tokens);
    const tools::Model& model = converted_.model;
    const tools::Matrix logits = session.Output(*model.FindValue(session.request().program, "logits"));
    Rows rows;
    for (uint32_t i = 0; i < logits.rows; ++i) {
      double sum = 0;
      for (uint32_t k = 0; k < logits.width; ++k) sum += std::exp(double{logits.Row(i)[k]});
      rows.emplace_back(logits.Row(i), logits.Row(i) + logits.width);
      for (double& x : rows.back()) x -= std::log(sum);
    }
    return rows;
  }

  // Score of a text after a prompt: the mean, by which beam searches compare texts.
  double Score(const std::vector<float>& clip, const std::vector<int32_t>& prompt,
               const std::vector<int32_t>& text) const {
    std::vector<int32_t> tokens = prompt;
    tokens.insert(tokens.end(), text.begin(), text.end());
    const Rows rows = LogProbabilities(clip, tokens);
    double sum = 0;
    for (size_t i = 0; i < text.size(); ++i) sum += rows[prompt.size() - 1 + i][static_cast<size_t>(text[i])];
    return sum / static_cast<double>(text.size());
  }

  // The best first token of these.
  template <typename ClipOrFeatures>
  int32_t Best(const ClipOrFeatures& heard, const std::vector<int32_t>& prompt, const std::vector<int32_t>& of) const {
    const std::vector<double> last = LogProbabilities(heard, prompt).back();
    const auto worse = [&](int32_t a, int32_t b) {
      return last[static_cast<size_t>(a)] < last[static_cast<size_t>(b)];
    };
    return *std::max_element(of.begin(), of.end(), worse);
  }

 private:
  const Converted converted_;
  mutable std::vector<float> clip_;  // input of the last run
  mutable Features features_;
};

class SpeechFiles : public ::testing::Test {
 protected:
  SpeechFiles() { std::filesystem::create_directories(directory_); }
  ~SpeechFiles() override { std::filesystem::remove_all(directory_); }

  std::string At(const std::string& name) const { return (directory_ / name).string(); }

  // A copy of a golden model that reads samples as `preprocessor` specifies; if that is empty, as the original does.
  std::string Directory(const std::string& name, const std::string& preprocessor, const std::string& told = "") const {
    const std::string copy = At(name + (preprocessor.empty() ? "-features" : "-samples"));
    std::filesystem::remove_all(copy);
    std::filesystem::create_directories(copy);
    for (const char* file : {"model.safetensors", "config.json", "generation_config.json"}) {
      std::filesystem::copy_file(InData("hf/" + name + "/" + file), copy + "/" + file);
    }
    if (!preprocessor.empty()) std::ofstream(copy + "/preprocessor_config.json") << preprocessor;
    if (!told.empty()) std::ofstream(copy + "/generation_config.json") << told;
    return copy;
  }

  std::string Blob(const std::string& directory) const {
    const std::string blob = directory + ".fovea";
    const CommandResult made = Fovea({"convert", directory, "-o", blob, "--weights", "f32"});
    EXPECT_EQ(made.status, 0) << made.err;
    return blob;
  }

  // 32-bit floats.
  std::string Wav(const std::string& name, const std::vector<float>& samples, uint32_t rate = kSecond) const {
    std::ofstream(At(name), std::ios::binary) << WavFile(samples, rate);
    return At(name);
  }

  std::string Features(const std::vector<std::vector<float>>& clips) const {
    tools::SafetensorsWriter writer;
    std::vector<float> numbers;
    for (const std::vector<float>& clip : clips) {
      const std::vector<float> features = FeaturesOf(clip).numbers;
      numbers.insert(numbers.end(), features.begin(), features.end());
    }
    writer.AddFloats("input_features", {clips.size(), kFilters, kSecond / kHop}, numbers.data());
    std::filesystem::remove(At("features.safetensors"));
    writer.Write(At("features.safetensors"));
    return At("features.safetensors");
  }

  const std::filesystem::path directory_ =
      std::filesystem::path(::testing::TempDir()) / ("speech-" + std::to_string(getpid()));
};

}  // namespace fovea::test

#endif  // FOVEA_TESTS_GOLDEN_SPEECH_TEACHER_H_
