// Features of sound as published extractors define them, written down plainly in double precision.
#include "tools/convert/arch/sound_features.h"

#include <unistd.h>

#include "tests/golden/golden_support.h"
#include "tests/golden/sound_reference.h"
#include "tools/media/sound_inputs.h"

namespace fovea::test {
namespace {

// The program that makes features of samples, and nothing else.
class Extractor {
 public:
  explicit Extractor(const std::string& preprocessor)
      : directory_(
            (std::filesystem::path(::testing::TempDir()) / ("sound-features-" + std::to_string(getpid()))).string()) {
    std::filesystem::create_directories(directory_);
    Write("config.json", "{}");
    Write("preprocessor_config.json", preprocessor);
    tools::Checkpoint checkpoint = {directory_, tools::Config(directory_ + "/config.json"), tools::Task::kEncoder};
    tools::Description description;
    const auto features = tools::ReadSoundFeatures(checkpoint, description);
    tools::ProgramBuilder builder(checkpoint, description, {}, features->spaces, features->samples);
    builder.Outputs({features->rows(builder, "input_features")});
    builder.End();
    tools::ConvertOptions options;
    options.weights = DType::kI8;
    options.compare = tools::Comparison::kNone;
    tools::ConvertReport report;
    blob_ = AlignedBytes(tools::BuildBlob(description, options, report));
    model_.emplace(blob_.data(), blob_.size(), "features", tools::Model::Options{});
  }
  ~Extractor() { std::filesystem::remove_all(directory_); }

  std::vector<float> Run(const std::vector<std::vector<float>>& clips) const {
    const tools::SoundInput input = *tools::FindSoundInput(*model_, 0);
    EXPECT_EQ(input.rate, 16000u);
    std::vector<tools::Sound> sounds;
    for (const std::vector<float>& clip : clips) sounds.push_back({input.rate, clip});
    const tools::Batch batch = tools::BatchFromSounds(*model_, input, 0, sounds);
    std::vector<float> first;
    for (const uint32_t workers : {1u, 3u}) {
      tools::SessionRequest request;
      request.workers = workers;
      tools::Session session = tools::SessionFor(*model_, batch, request);
      session.Run();
      const std::vector<float> found = session.Output(ValueOf(*model_, "input_features")).values;
      if (first.empty()) first = found;
      EXPECT_EQ(found, first);
    }
    return first;
  }

 private:
  void Write(const char* name, const std::string& text) const { std::ofstream(directory_ + "/" + name) << text; }

  const std::string directory_;
  AlignedBytes blob_;
  std::optional<tools::Model> model_;
};

// Columns with mean 0 and variance 1, which counts `fewer` rows less.
Rows Standardized(Rows rows, double fewer, double epsilon) {
  for (size_t c = 0; c < (rows.empty() ? 0 : rows[0].size()); ++c) {
    double mean = 0, squares = 0;
    const auto count = static_cast<double>(rows.size());
    for (const auto& row : rows) mean += row[c] / count;
    for (const auto& row : rows) squares += (row[c] - mean) * (row[c] - mean);
    for (auto& row : rows) row[c] = (row[c] - mean) / std::sqrt(squares / (count - fewer) + epsilon);
  }
  return rows;
}

// As Speech2TextFeatureExtractor.
Rows SpeechToText(const std::vector<float>& clip) { return Standardized(KaldiFilterBank(clip, 32768, true, 80), 0, 0); }

// As SeamlessM4TFeatureExtractor: `stride` frames concatenated by columns.
Rows Seamless(const std::vector<float>& clip, size_t stride) {
  const Rows rows = Standardized(KaldiFilterBank(clip, 32768, true, 80), 1, 1e-7);
  Rows stacked;
  for (size_t first = 0; first + stride <= rows.size(); first += stride) {
    stacked.emplace_back();
    for (size_t i = 0; i < stride; ++i) {
      stacked.back().insert(stacked.back().end(), rows[first + i].begin(), rows[first + i].end());
    }
  }
  return stacked;
}

double Difference(const std::vector<float>& found, const Rows& expected, size_t first_row) {
  double largest = 0;
  for (size_t r = 0; r < expected.size(); ++r) {
    for (size_t c = 0; c < expected[r].size(); ++c) {
      const size_t at = (first_row + r) * expected[r].size() + c;
      largest = std::max(largest, at < found.size() ? Distance(found[at], expected[r][c]) : 1e9);
    }
  }
  return largest;
}

TEST(SoundFeatures, OfWhisper) {
  const Extractor extractor(R"({"feature_extractor_type": "WhisperFeatureExtractor", "feature_size": 80, "n_fft": 400,
    "hop_length": 160, "chunk_length": 1, "n_samples": 16000, "sampling_rate": 16000, "padding_value": 0.0})");
  // Shorter and longer than a second, of one sample, of none.
  const std::vector<std::vector<float>> clips = {Clip(11000, 1), Clip(16000, 2), Clip(23456, 3), {0.5f}, {}};
  const std::vector<float> found = extractor.Run(clips);
  ASSERT_EQ(found.size(), clips.size() * 100 * 80);
  double largest = 0;
  for (size_t i = 0; i < clips.size(); ++i) {
    largest = std::max(largest, Difference(found, Whisper(clips[i], 16000, 160, 80), 100 * i));
  }
  std::cout << "log-mel within " << largest << "\n";
  EXPECT_LE(largest, 1e-4);
}

TEST(SoundFeatures, OfSpeechToText) {
  const Extractor extractor(R"({"feature_extractor_type": "Speech2TextFeatureExtractor", "feature_size": 80,
    "num_mel_bins": 80, "sampling_rate": 16000, "do_ceptral_normalize": true})");
  const std::vector<std::vector<float>> clips = {Clip(11000, 1), Clip(16079, 2)};
  const std::vector<float> found = extractor.Run(clips);
  const Rows first = SpeechToText(clips[0]), second = SpeechToText(clips[1]);
  ASSERT_EQ(found.size(), (first.size() + second.size()) * 80);
  const double largest = std::max(Difference(found, first, 0), Difference(found, second, first.size()));
  std::cout << "features within " << largest << "\n";
  EXPECT_LE(largest, 1e-4);
}

TEST(SoundFeatures, OfSeamless) {
  for (const size_t stride : {2u, 3u}) {
    const Extractor extractor(R"({"feature_extractor_type": "SeamlessM4TFeatureExtractor", "feature_size": 80,
      "num_mel_bins": 80, "sampling_rate": 16000, "padding_value": 1, "stride": )" +
                              std::to_string(stride) + "}");
    // Numbers of frames that the stride divides and does not divide, and one stride.
    const std::vector<std::vector<float>> clips = {Clip(11000, 1), Clip(11160, 2), Clip(11320, 3), Clip(880, 4)};
    const std::vector<float> found = extractor.Run(clips);
    double largest = 0;
    size_t rows = 0;
    for (const std::vector<float>& clip : clips) {
      const Rows expected = Seamless(clip, stride);
      largest = std::max(largest, Difference(found, expected, rows));
      rows += expected.size();
    }
    ASSERT_EQ(found.size(), rows * stride * 80);
    std::cout << "features within " << largest << "\n";
    EXPECT_LE(largest, 1e-4);
  }
}

TEST(SoundFeatures, OfAst) {
  for (const bool normed : {true, false}) {
    const Extractor extractor(
        R"({"feature_extractor_type": "ASTFeatureExtractor", "feature_size": 1, "num_mel_bins": 128,
      "max_length": 60, "mean": -4.2677393, "std": 4.5689974, "sampling_rate": 16000, "do_normalize": )" +
        std::string(normed ? "true}" : "false}"));
    // Shorter and longer than 60 frames, exactly as long, ends within a frame, without a whole frame, without samples.
    const std::vector<std::vector<float>> clips = {
        Clip(3000, 1), Clip(16000, 2), Clip(9840, 3), Clip(9839, 4), Clip(400, 5), Clip(399, 6), {}};
    const std::vector<float> found = extractor.Run(clips);
    ASSERT_EQ(found.size(), clips.size() * 60 * 128);
    double largest = 0;
    for (size_t i = 0; i < clips.size(); ++i) {
      largest = std::max(largest, Difference(found, Ast(clips[i], 60, 128, normed), 60 * i));
    }
    std::cout << "features within " << largest << "\n";
    EXPECT_LE(largest, normed ? 1e-4 : 1e-3);  // logarithms down to -16
  }
}

TEST(SoundFeatures, OfSamples) {
  const Extractor extractor(R"({"feature_extractor_type": "Wav2Vec2FeatureExtractor", "do_normalize": true})");
  const std::vector<float> clip = Clip(5000, 4);
  double mean = 0, variance = 0;
  for (const float x : clip) mean += x / 5000.0;
  for (const float x : clip) variance += (x - mean) * (x - mean) / 5000;
  Rows expected;
  for (const float x : clip) expected.push_back({(x - mean) / std::sqrt(variance + 1e-7)});
  EXPECT_LE(Difference(extractor.Run({clip}), expected, 0), 1e-5);
}

TEST(SoundFeatures, WhatIsRefused) {
  const auto refusal = [](const std::string& preprocessor) -> std::string {
    try {
      Extractor refused(preprocessor);
    } catch (const std::exception& failure) {
      return failure.what();
    }
    return "";
  };
  const auto whisper = [&](const std::string& more) {
    return refusal(R"({"feature_extractor_type": "WhisperFeatureExtractor")" + more + "}");
  };
  EXPECT_NE(refusal(R"({"feature_extractor_type": "ClapFeatureExtractor"})").find("Clap"), std::string::npos);
  EXPECT_NE(whisper(R"(, "hop_length": 0)").find("hop_length"), std::string::npos);
  EXPECT_NE(whisper(R"(, "n_fft": 1)").find("n_fft"), std::string::npos);
  EXPECT_NE(whisper(R"(, "n_fft": 100000)").find("n_fft"), std::string::npos);
  EXPECT_NE(whisper(R"(, "feature_size": 0)").find("feature_size"), std::string::npos);
  EXPECT_NE(whisper(R"(, "chunk_length": 0)").find("chunk_length"), std::string::npos);
  EXPECT_NE(whisper(R"(, "sampling_rate": 0)").find("sampling_rate"), std::string::npos);
  EXPECT_NE(whisper(R"(, "hop_length": 7)").find("frames of 7"), std::string::npos);
  EXPECT_NE(whisper(R"(, "dither": 1.0)").find("dither"), std::string::npos);
  const auto seamless = [&](const std::string& more) {
    return refusal(R"({"feature_extractor_type": "SeamlessM4TFeatureExtractor")" + more + "}");
  };
  EXPECT_NE(seamless(R"(, "stride": 1)").find("stride"), std::string::npos);
  EXPECT_NE(seamless(R"(, "feature_size": 40)").find("feature_size"), std::string::npos);
  const auto ast = [&](const std::string& more) {
    return refusal(R"({"feature_extractor_type": "ASTFeatureExtractor")" + more + "}");
  };
  EXPECT_NE(ast(R"(, "std": 0.0)").find("std"), std::string::npos);
  EXPECT_NE(ast(R"(, "max_length": 0)").find("max_length"), std::string::npos);
}

}  // namespace
}  // namespace fovea::test
