// Features of sound as published extractors define them, written down plainly in double precision.
#include "tools/convert/arch/sound_features.h"

#include <unistd.h>

#include "tests/golden/golden_support.h"
#include "tests/golden/sound_reference.h"
#include "tools/common/sound.h"

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
    options.compare = false;
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

// As Speech2TextFeatureExtractor: Kaldi's filter banks, then mean 0 and variance 1 of each column.
Rows SpeechToText(const std::vector<float>& clip) {
  const auto mel = [](double hertz) { return 1127 * std::log(1 + hertz / 700); };
  const double low = mel(20), high = mel(8000);
  Rows rows;
  for (size_t at = 0; at + 400 <= clip.size(); at += 160) {
    std::vector<double> frame;
    double mean = 0;
    for (size_t i = 0; i < 400; ++i) frame.push_back(clip[at + i] * 32768.0);
    for (const double x : frame) mean += x / 400;
    for (double& x : frame) x -= mean;
    const std::vector<double> flat = frame;
    for (size_t i = 0; i < 400; ++i) {
      const double hann = 0.5 - 0.5 * std::cos(2 * kPi * static_cast<double>(i) / 399);
      frame[i] = (flat[i] - 0.97 * flat[i == 0 ? 0 : i - 1]) * std::pow(std::max(hann, 0.0), 0.85);
    }
    const std::vector<double> powers = Powers(frame, 512);
    rows.emplace_back();
    for (int m = 0; m < 80; ++m) {
      const double step = (high - low) / 81, middle = low + step * (m + 1);
      double sum = 0;
      for (size_t k = 0; k < powers.size(); ++k) {
        sum += std::max(0.0, 1 - std::fabs(mel(31.25 * static_cast<double>(k)) - middle) / step) * powers[k];
      }
      rows.back().push_back(std::log(std::max(sum, 1.192092955078125e-07)));
    }
  }
  for (size_t c = 0; c < 80; ++c) {
    double mean = 0, variance = 0;
    const auto count = static_cast<double>(rows.size());
    for (const auto& row : rows) mean += row[c] / count;
    for (const auto& row : rows) variance += (row[c] - mean) * (row[c] - mean) / count;
    for (auto& row : rows) row[c] = (row[c] - mean) / std::sqrt(variance);
  }
  return rows;
}

double Difference(const std::vector<float>& found, const Rows& expected, size_t first_row) {
  double largest = 0;
  for (size_t r = 0; r < expected.size(); ++r) {
    for (size_t c = 0; c < expected[r].size(); ++c) {
      const size_t at = (first_row + r) * expected[r].size() + c;
      largest = std::max(largest, at < found.size() ? std::fabs(found[at] - expected[r][c]) : 1e9);
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
}

}  // namespace
}  // namespace fovea::test
