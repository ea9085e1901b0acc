// Keyword Transformer KWT-1 from its sound files: its front end, its reference outputs and classes.
#include <map>

#include "tests/golden/golden_support.h"
#include "tests/support/fewer_cases.h"
#include "tools/base/json.h"
#include "tools/convert/graph_json.h"
#include "tools/measure/synthetic_batch.h"
#include "tools/media/sound_inputs.h"
#include "tools/prediction/prediction.h"
#include "tools/sound/resample.h"
#include "tools/sound/sound_reader.h"

namespace fovea::test {
namespace {

using tools::Json;

class Kwt1 : public ::testing::Test {
 protected:
  const std::string directory_ = InShared("models/kwt1");
  const std::string description_ = InSource("tools/convert/examples/kwt1/graph.json");

  static std::vector<float> Logits(const tools::Model& model, const std::vector<float>& features, uint32_t clips) {
    tools::SessionRequest request;
    request.program = model.FindProgram("encode_features");
    const auto value = [&](const char* name) { return *model.FindValue(request.program, name); };
    tools::Batch batch = tools::SyntheticBatch(model, request.program, std::vector<uint32_t>(clips, 98));
    batch.numbers[value("features")] = features;
    tools::Session session = tools::SessionFor(model, batch, request);
    session.Run();
    return session.Output(value("logits")).values;
  }

  Json Cases() const { return tools::ReadJson(directory_ + "/expected.json")["cases"]; }
  tools::SafetensorsReader tensors() const { return tools::SafetensorsReader(directory_ + "/expected.safetensors"); }

  // The largest difference of each value that a case has, by name.
  std::map<std::string, double> Differences(const tools::Model& model, uint32_t program, const tools::Batch& batch,
                                            const Json& names) const {
    const tools::SafetensorsReader stored = tensors();
    std::map<std::string, uint32_t> values;
    tools::SessionRequest request;
    request.program = program;
    for (const auto& [name, tensor] : names.items()) {
      const auto value = model.FindValue(program, name);
      if (!value || name == "magnitude") continue;
      values[name] = *value;
      const uint32_t role = model.Value(program, *value).role;
      if (role == FOVEA_ROLE_INTERNAL) request.keep.push_back(*value);
      if (role == FOVEA_ROLE_INPUT) values.erase(name);
    }
    tools::Session session = tools::SessionFor(model, batch, request);
    session.Run();
    std::map<std::string, double> differences;
    for (const auto& [name, value] : values) {
      const std::vector<float> reference = tools::ToFloats(stored.Get(names[name]));
      const tools::Matrix found = session.Output(value);
      EXPECT_EQ(found.values.size(), reference.size()) << name;
      differences[name] =
          found.values.size() == reference.size() ? LargestDifference(found.values.data(), reference) : 1e9;
    }
    return differences;
  }
};

TEST_F(Kwt1, ReproducesItsReference) {
  if (Missing(directory_)) GTEST_SKIP();
  const Converted converted(description_, DType::kF32, directory_);
  const tools::Model& model = converted.model;
  const uint32_t program = model.FindProgram("encode_features");
  size_t compared = 0;
  for (const Json& one : Cases()) {
    tools::Batch batch = tools::SyntheticBatch(model, program, {98});
    batch.numbers[*model.FindValue(program, "features")] = tools::ToFloats(tensors().Get(one["tensors"]["features"]));
    for (const auto& [name, difference] : Differences(model, program, batch, one["tensors"])) {
      EXPECT_LE(difference, 1e-4) << one["name"] << " " << name;
      ++compared;
    }
  }
  EXPECT_GE(compared, 24u + 8u * 12u);
}

// The reference took logarithms of what it had summed in single precision, and so far are its features from the exact
// ones.
TEST_F(Kwt1, FeaturesAndLogitsOfSoundFiles) {
  if (Missing(directory_)) GTEST_SKIP();
  const Converted converted(description_, DType::kF32, directory_);
  const tools::SoundInput input = *tools::FindSoundInput(converted.model, 0);
  double features = 0, logits = 0;
  for (const Json& one : Cases()) {
    const tools::Sound clip = tools::ReadSound(directory_ + "/" + one["wav"].get<std::string>(), input.rate);
    const tools::Batch batch = tools::BatchFromSounds(converted.model, input, 0, {clip});
    const std::map<std::string, double> found = Differences(converted.model, 0, batch, one["tensors"]);
    features = std::max(features, found.at("features"));
    if (found.count("log_mel") != 0) features = std::max(features, found.at("log_mel"));
    logits = std::max(logits, found.at("logits"));
  }
  std::cout << "of 24 sound files: features within " << features << ", logits within " << logits << "\n";
  EXPECT_LE(features, 1e-3);
  EXPECT_LE(logits, 1e-4);
}

// Files in one batch, of other rates and lengths: cut or followed by silence as the reference does.
TEST_F(Kwt1, ClassesOfSoundFiles) {
  if (Missing(directory_)) GTEST_SKIP();
  const Converted converted(description_, DType::kI8, directory_);
  const tools::SoundInput input = *tools::FindSoundInput(converted.model, 0);
  std::vector<tools::Sound> sounds;
  std::vector<std::string> files, labels;
  for (const Json& one : Cases()) {
    for (const uint32_t rate : {16000u, 48000u}) {
      files.push_back(directory_ + "/" + one["wav"].get<std::string>());
      sounds.push_back(tools::Resample(tools::Resample(tools::ReadSoundFile(files.back()), rate), input.rate));
      labels.push_back(one["predicted"]);
      if (rate == 48000) sounds.back().samples.insert(sounds.back().samples.end(), 700, 0.5f);  // after the second
    }
  }
  tools::Session session =
      tools::SessionFor(converted.model, tools::BatchFromSounds(converted.model, input, 0, sounds));
  session.Run();
  std::vector<tools::OrderedJson> found(files.size());
  tools::PredictionOptions options;
  options.top = 1;
  tools::PredictMedia(converted.model, session, options, found);
  for (size_t i = 0; i < files.size(); ++i) EXPECT_EQ(found[i]["classes"][0]["label"], labels[i]) << files[i];
}

TEST_F(Kwt1, WorkersTilesAndHeap) {
  if (Missing(directory_)) GTEST_SKIP();
  const Converted converted(description_, DType::kF32, directory_);
  const tools::SoundInput input = *tools::FindSoundInput(converted.model, 0);
  const tools::Sound clip = tools::ReadSoundFile(directory_ + "/wav/stop_1.wav");
  const tools::Batch batch = tools::BatchFromSounds(converted.model, input, 0, {clip, {16000, {}}, {16000, {0.5f}}});
  std::vector<float> first;
  for (const uint32_t workers : {1u, 2u, 3u}) {
    for (const uint32_t tile_rows : {0u, 1u, 7u, 64u}) {
      if (FewerCases() && (workers == 2 || tile_rows == 1)) continue;
      tools::SessionRequest request;
      request.workers = workers;
      request.tile_rows = tile_rows;
      tools::Session session = tools::SessionFor(converted.model, batch, request);
      session.Run();
      const std::vector<float> logits = session.Output(ValueOf(converted.model, "logits")).values;
      if (first.empty()) first = logits;
      EXPECT_EQ(logits, first) << workers << " workers, tiles of " << tile_rows;
    }
  }
  if (fovea::testing::HeapTrap::Works()) ExpectNoHeap(converted.model, 0, batch, 2);
}

// The matrices of the front end, as computed by who trained it.
TEST_F(Kwt1, FrontEndHasItsMatrices) {
  if (Missing(directory_)) GTEST_SKIP();
  const tools::SafetensorsReader stored(directory_ + "/frontend.safetensors");
  const tools::Description description = tools::ReadGraph(description_, directory_);
  for (const auto& [ours, theirs] :
       {std::pair<const char*, const char*>{"mel", "mel.weight"}, {"cosines", "dct.weight"}, {"window", "window"}}) {
    const tools::Constant constant = description.weights.Get(ours);
    const std::vector<float> found = constant.load(), expected = tools::ToFloats(stored.Get(theirs));
    const size_t width = expected.size() / constant.rows;
    ASSERT_LE(width, constant.width) << ours;
    for (size_t i = 0; i < found.size(); ++i) {
      const size_t row = i / constant.width, column = i % constant.width;
      ASSERT_NEAR(found[i], column < width ? expected[row * width + column] : 0, 2e-6) << ours << " " << i;
    }
  }
}

TEST_F(Kwt1, Int8AgreesOnTheClips) {
  if (Missing(directory_)) GTEST_SKIP();
  const tools::SafetensorsReader stored(directory_ + "/features.safetensors");
  std::vector<float> features = tools::ToFloats(stored.Get("features"));
  std::vector<float> reference = tools::ToFloats(stored.Get("logits"));
  const uint32_t clips = FewerCases() ? 24 : 240;
  features.resize(features.size() / 240 * clips);
  reference.resize(reference.size() / 240 * clips);
  for (const DType type : {DType::kF32, DType::kI8}) {
    const Converted converted(description_, type, directory_);
    const std::vector<float> logits = Logits(converted.model, features, clips);
    ASSERT_EQ(logits.size(), reference.size());
    uint32_t agree = 0;
    for (size_t clip = 0; clip < clips; ++clip) {
      const auto best = [&](const std::vector<float>& all) {
        return std::max_element(all.begin() + clip * 12, all.begin() + (clip + 1) * 12) - all.begin();
      };
      agree += best(logits) == best(reference) ? 1 : 0;
    }
    const double cosine = Cosine(logits.data(), reference.data(), logits.size());
    std::cout << (type == DType::kF32 ? "f32" : "int8") << ": " << agree << " of " << clips << " clips agree, cosine "
              << cosine << "\n";
    if (type == DType::kF32) {
      EXPECT_LE(LargestDifference(logits.data(), reference), 1e-4);
    }
    EXPECT_GE(agree, type == DType::kF32 ? clips : clips - clips / 200);  // 99.5 %
    EXPECT_GE(cosine, 0.999);
  }
}

}  // namespace
}  // namespace fovea::test
