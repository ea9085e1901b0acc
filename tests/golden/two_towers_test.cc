// CLIP and SigLIP as directories of both towers, made of the golden directories of each: programs, tasks, sizes, what
// cosines are multiplied by, and how the end of a text is found.
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/golden/golden_support.h"
#include "tools/base/fail.h"
#include "tools/base/json.h"
#include "tools/base/mapped_file.h"
#include "tools/check/golden_check.h"

namespace fovea::test {
namespace {

using tools::Json;
using tools::SafetensorsReader;
using tools::SafetensorsWriter;

constexpr float kScale = 2.5f, kBias = -3.25f;

class TwoTowers : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(::testing::TempDir()) / ("two-towers-" + std::to_string(getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  static std::string Tower(const char* which) { return InData("hf/") + GetParam() + "-" + which; }

  // `changes` of the configuration of both.
  void Write(const Json& changes = Json::object()) const {
    SafetensorsWriter weights;
    for (const char* which : {"text", "vision"}) {
      const SafetensorsReader stored(Tower(which) + "/model.safetensors");
      for (const auto& [name, tensor] : stored.tensors()) weights.Add(name, tensor.type, tensor.shape, tensor.data);
    }
    const bool clip = GetParam() == std::string("clip");
    if (clip) weights.AddFloats("logit_scale", {}, &kScale);
    if (!clip) weights.AddFloats("logit_scale", {1}, &kScale);
    if (!clip) weights.AddFloats("logit_bias", {1}, &kBias);
    weights.Write((directory_ / "model.safetensors").string());
    Json config = {{"model_type", GetParam()},
                   {"architectures", {clip ? "CLIPModel" : "SiglipModel"}},
                   {"text_config", tools::ReadJson(Tower("text") + "/config.json")},
                   {"vision_config", tools::ReadJson(Tower("vision") + "/config.json")}};
    config.merge_patch(changes);
    const std::string text = config.dump();
    tools::WriteFile((directory_ / "config.json").string(), text.data(), text.size());
  }

  Converted Convert(const std::string& task = "", const std::vector<std::string>& sizes = {}) const {
    tools::ConvertOptions options = Converted::OptionsOf(directory_.string(), DType::kF32, "", task);
    options.image_sizes = sizes;
    return Converted(options);
  }

  static void ExpectGolden(const Converted& converted, const char* which, const std::string& program,
                           const std::vector<std::string>& cases) {
    const SafetensorsReader golden(Tower(which) + "/golden.safetensors");
    tools::CheckOptions options;
    options.program = program;
    options.cases = cases;
    const auto lines = tools::CheckGolden(converted.model, golden.tensors(), options);
    for (const tools::CheckLine& line : lines) EXPECT_TRUE(line.ok && line.compared) << tools::LineText(line);
    EXPECT_GE(lines.size(), 2u);
  }

  std::filesystem::path directory_;
};

TEST_P(TwoTowers, AreTwoProgramsOfOneBlob) {
  Write();
  const Converted converted = Convert();
  ASSERT_EQ(converted.model.Info().program_count, 2u);
  ExpectGolden(converted, "text", "encode_text", {"a", "b"});
  ExpectGolden(converted, "vision", "encode_image", {"a", "b"});
  const bool clip = GetParam() == std::string("clip");
  EXPECT_NEAR(std::stod(converted.model.Metadata("logit_scale")), std::exp(kScale), 1e-5);
  EXPECT_STREQ(converted.model.Metadata("matching"), clip ? "softmax" : "sigmoid");
  EXPECT_EQ(converted.model.Metadata("logit_bias") == nullptr, clip);
  if (!clip) {
    EXPECT_EQ(std::stof(converted.model.Metadata("logit_bias")), kBias);
  }
}

TEST_P(TwoTowers, OrOneOfThem) {
  Write();
  const Converted text = Convert("text"), picture = Convert("image");
  EXPECT_EQ(text.model.Info().program_count, 1u);
  ExpectGolden(text, "text", "encode", {"a", "b"});
  ExpectGolden(picture, "vision", "encode", {"a", "b"});
  for (const Converted* one : {&text, &picture}) EXPECT_NE(one->model.Metadata("logit_scale"), nullptr);
  EXPECT_THROW(Convert("masked-lm"), tools::Failure);
  EXPECT_THROW(Convert("text", {"35x49"}), tools::Failure);
}

TEST_P(TwoTowers, OneProgramForEachSize) {
  Write();
  const Converted one = Convert(), both = Convert("", {"28x28", "35x49"});
  ASSERT_EQ(both.model.Info().program_count, 3u);
  ExpectGolden(both, "text", "encode_text", {"a"});
  ExpectGolden(both, "vision", "encode_image", {"a", "b"});
  ExpectGolden(both, "vision", "encode_image.35x49", {"interp"});
  // The layers are there once.
  EXPECT_LT(both.blob.size(), one.blob.size() * 3 / 2);
  EXPECT_EQ(both.model.ProgramMetadata(1, "shape.pixel_values"), std::string("3 28 28"));
  EXPECT_EQ(both.model.ProgramMetadata(2, "shape.pixel_values"), std::string("3 35 49"));
  EXPECT_THROW(Convert("", {"28x28", "28x28"}), tools::Failure);
}

TEST_P(TwoTowers, OlderNamesOfTheirConfigurationsCount) {
  const Json text = tools::ReadJson(Tower("text") + "/config.json");
  Write({{"text_config", {{"num_hidden_layers", 1}}}, {"text_config_dict", text}});
  ExpectGolden(Convert("text"), "text", "encode", {"a"});
}

INSTANTIATE_TEST_SUITE_P(All, TwoTowers, ::testing::Values("clip", "siglip"),
                         [](const auto& family) { return std::string(family.param); });

// SigLIP 2: its texts end in the padding of Gemma's tokenizer, though its configuration has the default of another.
TEST(SiglipText, PaddingIsTheTokenizers) {
  const std::string published = InData("hf/siglip-text");
  const auto directory = std::filesystem::path(::testing::TempDir()) / ("siglip-text-" + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  for (const char* file : {"model.safetensors", "config.json"}) {
    std::filesystem::copy_file(published + "/" + file, directory / file,
                               std::filesystem::copy_options::overwrite_existing);
  }
  const auto padding = [&] {
    return std::string(Converted(directory.string(), DType::kF32).model.Metadata("pad_token_id"));
  };
  const std::string configured = padding();
  EXPECT_EQ(configured, "1") << "no tokenizer";
  const Json words = {{"<pad>", 0}, {"<eos>", 1}, {"<unk>", 2}, {"a", 3}, {"b", 4}};
  const auto special = [](int id, const char* content) {
    return Json{{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
                {"rstrip", false}, {"normalized", false}, {"special", true}};
  };
  const Json tokenizer = {
      {"version", "1.0"},
      {"added_tokens", {special(0, "<pad>"), special(1, "<eos>"), special(2, "<unk>")}},
      {"normalizer", nullptr},
      {"pre_tokenizer", nullptr},
      {"post_processor", nullptr},
      {"decoder", nullptr},
      {"model", {{"type", "BPE"}, {"vocab", words}, {"merges", Json::array()}, {"unk_token", "<unk>"}}}};
  const auto write = [&](const char* name, const Json& json) {
    const std::string text = json.dump();
    tools::WriteFile((directory / name).string(), text.data(), text.size());
  };
  write("tokenizer.json", tokenizer);
  write("tokenizer_config.json",
        {{"tokenizer_class", "GemmaTokenizer"}, {"pad_token", "<pad>"}, {"add_bos_token", false}});
  EXPECT_EQ(padding(), "0");
  std::filesystem::remove_all(directory);
}

// The golden configuration has the old id 2, with which the largest id ends a text; the true id of that token does,
// too.
TEST(ClipText, EndsWhereTheFirstEndIs) {
  const std::string published = InData("hf/clip-text");
  const SafetensorsReader golden(published + "/golden.safetensors");
  const std::vector<int64_t> ids = tools::ToIntegers(golden.Get("b.in.input_ids"));
  const auto directory = std::filesystem::path(::testing::TempDir()) / ("clip-text-" + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  std::filesystem::copy_file(published + "/model.safetensors", directory / "model.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  const auto embeds = [&](int64_t end, DType weights) {
    Json config = tools::ReadJson(published + "/config.json");
    config["eos_token_id"] = end;
    const std::string text = config.dump();
    tools::WriteFile((directory / "config.json").string(), text.data(), text.size());
    const Converted converted(directory.string(), weights);
    tools::CheckOptions options;
    options.cases = {"b"};
    if (weights != DType::kF32) options.cosine = 0.99;
    for (const tools::CheckLine& line : tools::CheckGolden(converted.model, golden.tensors(), options)) {
      if (line.tensor == "text_embeds") return line.ok;
    }
    return false;
  };
  const int64_t largest = *std::max_element(ids.begin(), ids.end());
  EXPECT_TRUE(embeds(largest, DType::kF32));
  EXPECT_TRUE(embeds(largest, DType::kI8));
  EXPECT_FALSE(embeds(ids[3], DType::kF32));
  EXPECT_FALSE(embeds(70000, DType::kF32));  // no such token: the first row
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace fovea::test
