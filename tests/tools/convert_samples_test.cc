// fovea convert with samples of all kinds, which integer weights fit and --weights auto is measured on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/parsed_json.h"
#include "tests/support/wav_file.h"
#include "tests/tools/golden_folder.h"
#include "tools/image/preparation.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::test {
namespace {

using nlohmann::json;

struct Made {
  std::string blob;
  json report;
};
Made Converted(const std::string& folder, const std::string& weights, const std::vector<std::string>& samples) {
  const std::string blob = Temporary("sampled.fovea");
  std::vector<std::string> arguments = {"convert", folder, "-o", blob, "--weights", weights, "--json"};
  arguments.insert(arguments.end(), samples.begin(), samples.end());
  const CommandResult made = Fovea(arguments);
  EXPECT_EQ(made.status, 0) << made.err;
  // Golden directories have no tokenizer, which is the only warning.
  EXPECT_EQ(made.err.find("warning"), made.err.find("warning: the blob accepts only token ids")) << made.err;
  return {tools::ReadFile(blob), ParsedJson(made.out)};
}

void ExpectRefused(const std::vector<std::string>& arguments, const std::string& part) {
  const std::string error = FoveaError(arguments);
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

// Sounds calibrate as the same numbers in a file of tensors do; without them there are no statistics of speech.
TEST(ConvertSamples, Sounds) {
  const std::string folder =
      GoldenFolder("ast", R"({"feature_extractor_type": "ASTFeatureExtractor", "max_length": 44, "num_mel_bins": 20})");
  constexpr uint32_t kClips = 3, kSamples = 43 * 160 + 400;  // as long as the model's clips: nothing to note
  std::vector<std::string> given;
  std::vector<float> all;
  for (uint32_t clip = 0; clip < kClips; ++clip) {
    std::vector<float> samples(kSamples);
    for (size_t t = 0; t < samples.size(); ++t) {
      samples[t] = static_cast<float>(0.4 * std::sin(0.02 * (clip + 1) * static_cast<double>(t % (400 + 100 * clip))));
    }
    all.insert(all.end(), samples.begin(), samples.end());
    const std::string path = Temporary("clip" + std::to_string(clip) + ".wav"), bytes = WavFile(samples, 16000);
    tools::WriteFile(path, bytes.data(), bytes.size());
    given.insert(given.end(), {"--sample-wav", path});
  }
  const Made without = Converted(folder, "int8", {}), with = Converted(folder, "int8", given);
  EXPECT_EQ(without.report["calibrated"].size(), 0u);
  EXPECT_GT(with.report["calibrated"].size(), 10u);
  EXPECT_EQ(with.report["sample_lengths"], json({kSamples, kSamples, kSamples}));

  tools::SafetensorsWriter writer;
  writer.AddFloats("samples", {kClips, kSamples, 1}, all.data());
  const std::string input = Temporary("clips.safetensors");
  writer.Write(input);
  EXPECT_TRUE(Converted(folder, "int8", {"--sample-input", input}).blob == with.blob);

  const CommandResult unread = Fovea(
      {"convert", folder, "-o", Temporary("x.fovea"), "--weights", "int8", "--sample-image", InData("images/rgb.png")});
  EXPECT_EQ(unread.status, 0) << unread.err;
  EXPECT_NE(unread.err.find("no program reads the given samples"), std::string::npos) << unread.err;
  ExpectRefused({"convert", folder, "-o", Temporary("x.fovea"), "--weights", "int8", "--sample-wav", "absent.wav"},
                "absent.wav");
  ExpectRefused({"convert", folder, "-o", Temporary("x.fovea"), "--sample-wav", "a.wav", "--sample-input", input},
                "excludes");
}

TEST(ConvertSamples, Pictures) {
  const std::string folder = GoldenFolder("vit", R"({"image_processor_type": "ViTImageProcessor",
      "size": {"height": 24, "width": 24}, "image_mean": [0.5, 0.4, 0.3], "image_std": [0.25, 0.5, 0.75]})");
  const json config = ParsedJson(tools::ReadFile(folder + "/config.json"));
  const std::vector<std::string> names = {"rgb.png", "smooth.png", "baseline.jpg"};
  std::vector<std::string> given;
  for (const std::string& name : names) given.insert(given.end(), {"--sample-image", InData("images/" + name)});
  const Made without = Converted(folder, "int8", {}), with = Converted(folder, "int8", given);
  EXPECT_EQ(without.report["calibrated"].size(), 0u);
  EXPECT_GT(with.report["calibrated"].size(), 10u);
  EXPECT_EQ(with.report["sample_lengths"], json({names.size()}));
  EXPECT_GT(with.report["outputs"][0]["mean_cosine"], 0.99);
}

// A sample that the model does not read whole.
TEST(ConvertSamples, CutTextsAreNamed) {
  TinyBlob("base");
  std::string text = "soup";
  for (int i = 0; i < 100; ++i) text += " soup";
  const CommandResult made = Fovea({"convert", Temporary("bert-base"), "-o", Temporary("cut.fovea"), "--weights",
                                    "int8", "--sample-text", "a cat", "--sample-text", text});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.err.find("1 of 2 texts are longer than the model reads"), std::string::npos) << made.err;
}

// The reported accuracy of a mix is the one that another run of the blob measures; a plot shows it.
TEST(ConvertSamples, TypesAreMixed) {
  TinyBlob("base");
  const std::string folder = Temporary("bert-base"), plot = Temporary("mix.svg");
  const std::vector<std::string> texts = {"--sample-text", "a cat in the soup", "--sample-text", "the harbour"};
  const auto mixed = [&](const std::string& keep, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = texts;
    arguments.insert(arguments.end(), {"--keep", keep});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Converted(folder, "auto", arguments);
  };
  const Made made = mixed("0.99999", {"--plot", plot});
  const json& mix = made.report["mix"];
  EXPECT_EQ(mix["keep"], 0.99999);
  double least = 1;
  for (const json& output : made.report["outputs"]) {
    least = std::min({least, output["mean_cosine"].get<double>(), output["mean_scaled_cosine"].get<double>()});
  }
  EXPECT_GE(least, 0.99999);
  const auto kept = [&](const json& point) { return point["bytes"] == made.report["bytes"]["weights"]; };
  const auto point = std::find_if(mix["curve"].begin(), mix["curve"].end(), kept);
  ASSERT_NE(point, mix["curve"].end());
  EXPECT_NEAR((*point)["cosine"].get<double>(), least, 1e-12);
  EXPECT_LT(mixed("0.99").report["bytes"]["weights"], made.report["bytes"]["weights"]);
  const std::string svg = tools::ReadFile(plot);
  EXPECT_NE(svg.find("bytes of all tensors"), std::string::npos);
  EXPECT_NE(svg.find("kept: 0.99999"), std::string::npos);

  std::vector<std::string> said = {"convert",   folder, "-o",     Temporary("x.fovea"),
                                   "--weights", "auto", "--keep", "0.99"};
  said.insert(said.end(), texts.begin(), texts.end());
  EXPECT_NE(Fovea(said).out.find("Types that keep a mean cosine of 0.99"), std::string::npos);
  ExpectRefused({"convert", folder, "-o", Temporary("x.fovea"), "--keep", "0.9"}, "--weights auto");
  ExpectRefused({"convert", folder, "-o", Temporary("x.fovea"), "--weights", "int8", "--plot", plot}, "--weights auto");
  ExpectRefused({"convert", folder, "-o", Temporary("x.fovea"), "--weights", "auto", "--keep", "1.5"}, "--keep");
  ExpectRefused({"convert", folder, "-o", Temporary("x.fovea"), "--weights", "auto", "--keep", "1"}, "the best keeps");
}

}  // namespace
}  // namespace fovea::test
