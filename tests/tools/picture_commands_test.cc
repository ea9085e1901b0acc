// Pictures through the command: prepared as the directory specifies, by the program of the nearest size, compared with
// texts; and one line for any fault.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/parsed_json.h"
#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tools/base/mapped_file.h"
#include "tools/image/preparation.h"
#include "tools/media/picture_inputs.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::test {
namespace {

using nlohmann::json;
using tools::Extent;
using tools::SafetensorsReader;
using tools::SafetensorsWriter;

std::string Shown(const std::string& name) { return InData("images/" + name); }

// CLIP of both golden towers, with another vocabulary and CLIP's image processor.
class PictureCommands : public testing::Test {
 protected:
  static constexpr float kScale = 1.5f;

  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) / ("picture-commands-" + std::to_string(getpid()));
    std::filesystem::create_directories(directory_);
    SafetensorsWriter weights;
    json config = {{"model_type", "clip"}, {"architectures", {"CLIPModel"}}};
    for (const std::string which : {"text", "vision"}) {
      const std::string tower = InData("hf/clip-" + which);
      const SafetensorsReader stored(tower + "/model.safetensors");
      for (const auto& [name, tensor] : stored.tensors()) weights.Add(name, tensor.type, tensor.shape, tensor.data);
      config[which + "_config"] = ParsedJson(tools::ReadFile(tower + "/config.json"));
    }
    weights.AddFloats("logit_scale", {}, &kScale);
    weights.Write(Path("model.safetensors"));
    config["text_config"]["eos_token_id"] = 70;
    config["text_config"]["pad_token_id"] = 70;
    Write("config.json", config);
    Write("preprocessor_config.json", Processor());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  static json Processor() {
    return {{"image_processor_type", "CLIPImageProcessor"},
            {"size", {{"shortest_edge", 32}}},
            {"crop_size", 28},
            {"resample", 3},
            {"image_mean", {0.5, 0.4, 0.3}},
            {"image_std", {0.25, 0.5, 0.75}}};
  }
  // Letters, and what merges make of them.
  void WriteWords() const {
    json words;
    for (char c = 'a'; c <= 'z'; ++c) words[std::string(1, c)] = c - 'a';
    for (char c = 'a'; c <= 'z'; ++c) words[std::string(1, c) + "</w>"] = 26 + c - 'a';
    for (const char* word : {"ca", "cat</w>", "do", "dog</w>", "!", "!</w>", "'", "s'</w>", "'s</w>"})
      words[word] = words.size();
    words["<|startoftext|>"] = 69;
    words["<|endoftext|>"] = 70;
    Write("vocab.json", words);
    const std::string merges = "#version: 0.2\nc a\nca t</w>\nd o\ndo g</w>\n' s</w>\n";
    tools::WriteFile(Path("merges.txt"), merges.data(), merges.size());
    Write("tokenizer_config.json", {{"tokenizer_class", "CLIPTokenizer"}, {"model_max_length", 36}});
  }
  std::string Path(const std::string& name) const { return (directory_ / name).string(); }
  void Write(const std::string& name, const json& value) const {
    const std::string text = value.dump();
    tools::WriteFile(Path(name), text.data(), text.size());
  }
  std::string Convert(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> arguments = {"convert", directory_.string(), "-o", Path("model.fovea")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const CommandResult result = Fovea(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    warnings_ = result.err;
    return Path("model.fovea");
  }
  // The model's embedding of pixels that this test prepared.
  std::vector<float> Embedding(const std::string& blob, const std::string& program, const std::string& file,
                               Extent size) const {
    tools::Preparation p;
    p.fit = tools::Preparation::Fit::kShortest;
    p.size = {32, 32};
    p.filter = tools::Filter::kBicubic;
    p.crop = {28, 28};
    p.factor = 1.0 / 255;
    p.mean = {0.5f, 0.4f, 0.3f};
    p.deviation = {0.25f, 0.5f, 0.75f};
    const std::vector<float> pixels = tools::Prepare(p, tools::ReadPicture(Shown(file)), 3, size);
    SafetensorsWriter writer;
    writer.AddFloats("pixel_values", {1, 3, size.height, size.width}, pixels.data());
    writer.Write(Path("in.safetensors"));
    const CommandResult result = Fovea(
        {"run", blob, "--program", program, "--input", Path("in.safetensors"), "--output", Path("out.safetensors")});
    EXPECT_EQ(result.status, 0) << result.err;
    return tools::ToFloats(SafetensorsReader(Path("out.safetensors")).Get("image_embeds"));
  }

  std::filesystem::path directory_;
  mutable std::string warnings_;
};

void ExpectRefused(const std::vector<std::string>& arguments, const std::string& part) {
  const CommandResult result = Fovea(arguments);
  EXPECT_EQ(result.status, 2) << result.out;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  EXPECT_EQ(result.out, "");
}

void ExpectNear(const json& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i].get<double>(), expected[i], 1e-4) << i;
}

TEST_F(PictureCommands, WordsAsClipFindsThem) {
  WriteWords();
  const std::string blob = Convert();
  const json found = FoveaJson({"tokenize", blob, "--text", "A  Cat's dog!ab", "--json"})[0];
  const auto word = [](char c, bool ends) { return c - 'a' + (ends ? 26 : 0); };
  EXPECT_EQ(found["ids"], json({69, word('a', true), 53, 60, 55, 57, word('a', false), word('b', true), 70}));
}

TEST_F(PictureCommands, ArePreparedAsTheDirectorySays) {
  WriteWords();
  const std::string blob = Convert();
  const json found = FoveaJson({"run", blob, "--image", Shown("rgb.png"), "--image", Shown("grey.jpg"), "--json"});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["width"], 37);
  EXPECT_EQ(found[0]["program"], "encode_image");
  ExpectNear(found[0]["embedding"], Embedding(blob, "encode_image", "rgb.png", {28, 28}));
  ExpectNear(found[1]["embedding"], Embedding(blob, "encode_image", "grey.jpg", {28, 28}));
  // Texts go to the program that reads them.
  EXPECT_EQ(FoveaJson({"run", blob, "--text", "a cat", "--json"})[0]["source"], "text_embeds");
}

TEST_F(PictureCommands, TakeTheProgramOfTheNearestSize) {
  const std::string blob = Convert({"--image-size", "28x28", "--image-size", "28x42"});
  const json found =
      FoveaJson({"run", blob, "--image", Shown("rgb.png"), "--image", Shown("rgb_box_16x16.png"), "--json"});
  EXPECT_EQ(found[0]["program"], "encode_image.28x42");  // 23 x 37
  EXPECT_EQ(found[1]["program"], "encode_image");
  ExpectNear(found[0]["embedding"], Embedding(blob, "encode_image.28x42", "rgb.png", {28, 42}));
  ExpectNear(found[1]["embedding"], Embedding(blob, "encode_image", "rgb_box_16x16.png", {28, 28}));
  const json chosen = FoveaJson({"run", blob, "--image", Shown("rgb.png"), "--program", "encode_image", "--json"});
  ExpectNear(chosen[0]["embedding"], Embedding(blob, "encode_image", "rgb.png", {28, 28}));
}

// Any number of images, in windows, in the order in which they are given.
TEST_F(PictureCommands, WindowsKeepTheOrder) {
  const std::string blob = Convert({"--image-size", "28x28", "--image-size", "28x42"});
  const std::vector<std::string> files = {Shown("rgb.png"), Shown("rgb_box_16x16.png"), Shown("grey.jpg")};
  std::vector<std::string> arguments = {"run", blob};
  json expected = json::array();
  for (const std::string& file : files) expected.push_back(FoveaJson({"run", blob, "--image", file, "--json"})[0]);
  const size_t count = tools::kPicturesOfWindow + 5;
  for (size_t i = 0; i < count; ++i) arguments.insert(arguments.end(), {"--image", files[i % files.size()]});
  arguments.push_back("--json");
  const json found = FoveaJson(arguments);
  ASSERT_EQ(found.size(), count);
  for (size_t i = 0; i < count; ++i) EXPECT_EQ(found[i], expected[i % files.size()]) << i;
  arguments.back() = "--jsonl";
  const std::string lines = Fovea(arguments).out;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), static_cast<ptrdiff_t>(count));
}

// A page shows the probabilities that `fovea similarity` prints.
TEST_F(PictureCommands, PagesHaveTheNearestText) {
  WriteWords();
  const std::string blob = Convert(), record = Path("record.json");
  const std::vector<std::string> input = {"--image", Shown("rgb.png"), "--text", "a cat", "--text", "dog!"};
  std::vector<std::string> attend = {"attend", blob, "-o", Path("page.html"), "--json", record};
  std::vector<std::string> similarity = {"similarity", blob, "--json"};
  attend.insert(attend.end(), input.begin(), input.end());
  similarity.insert(similarity.end(), input.begin(), input.end());
  const CommandResult made = Fovea(attend);
  ASSERT_EQ(made.status, 0) << made.err;
  const json answer = ParsedJson(tools::ReadFile(record))["answers"][0], matches = FoveaJson(similarity)[0]["texts"];
  EXPECT_EQ(answer["kind"], "classes");
  ASSERT_EQ(answer["entries"].size(), matches.size());
  for (size_t i = 0; i < matches.size(); ++i) {
    EXPECT_EQ(answer["entries"][i]["label"], matches[i]["text"]);
    EXPECT_NEAR(answer["entries"][i]["number"].get<double>(), matches[i]["probability"].get<double>(), 1e-5);
  }
  ExpectRefused({"attend", blob, "--image", Shown("rgb.png"), "--wav", "x"}, "give one kind of input only");
  const std::string image_only = Path("image_only.fovea");
  Fovea({"convert", InData("hf/clip-vision"), "-o", image_only});
  ExpectRefused({"attend", image_only, "--image", Shown("rgb.png"), "--text", "a cat"}, "does not compare images");
}

TEST_F(PictureCommands, AreComparedWithTexts) {
  WriteWords();
  const std::string blob = Convert();
  const std::vector<std::string> texts = {"a cat", "dog!"};
  std::vector<std::vector<double>> rows;
  for (const std::string& text : texts) {
    rows.push_back(FoveaJson({"run", blob, "--text", text, "--json"})[0]["embedding"].get<std::vector<double>>());
  }
  rows.push_back(
      FoveaJson({"run", blob, "--image", Shown("rgb.png"), "--json"})[0]["embedding"].get<std::vector<double>>());
  const auto cosine = [&](size_t a, size_t b) {
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < rows[a].size(); ++i) {
      ab += rows[a][i] * rows[b][i], aa += rows[a][i] * rows[a][i], bb += rows[b][i] * rows[b][i];
    }
    return ab / std::sqrt(aa * bb);
  };
  const json found =
      FoveaJson({"similarity", blob, "--image", Shown("rgb.png"), "--text", texts[0], "--text", texts[1], "--json"})[0];
  const double scale = std::exp(kScale), logits[] = {scale * cosine(2, 0), scale * cosine(2, 1)};
  double last = 2;
  for (const json& match : found["texts"]) {
    const size_t i = match["text"] == texts[0] ? 0 : 1;
    EXPECT_NEAR(match["cosine"].get<double>(), cosine(2, i), 1e-4);
    EXPECT_NEAR(match["logit"].get<double>(), logits[i], 1e-3);
    EXPECT_NEAR(match["probability"].get<double>(), 1 / (1 + std::exp(logits[1 - i] - logits[i])), 1e-3);
    EXPECT_LE(match["cosine"].get<double>(), last);
    last = match["cosine"].get<double>();
  }
  // Two blobs with one tower each give the same result.
  Fovea({"convert", directory_.string(), "-o", Path("text.fovea"), "--task", "text"});
  Fovea({"convert", directory_.string(), "-o", Path("image.fovea"), "--task", "image"});
  EXPECT_EQ(FoveaJson({"similarity", Path("text.fovea"), "--image-model", Path("image.fovea"), "--image",
                       Shown("rgb.png"), "--text", texts[0], "--text", texts[1], "--json"})[0],
            found);
  // A prompt that is the text itself changes nothing; two are the mean of their directions.
  const auto first = [&](const std::vector<std::string>& prompts) {
    std::vector<std::string> arguments = {"similarity", blob, "--image", Shown("rgb.png"), "--text", "cat", "--json"};
    for (const std::string& prompt : prompts) arguments.insert(arguments.end(), {"--prompt", prompt});
    return FoveaJson(arguments)[0]["texts"][0]["cosine"].get<double>();
  };
  EXPECT_EQ(first({"{}"}), first({}));
  EXPECT_NEAR(first({"a {}"}), cosine(2, 0), 1e-4);
  const double a = first({"a {}"}), b = first({"dog {}"}), both = first({"a {}", "dog {}"});
  EXPECT_GT(both, std::min(a, b) - 1e-6);
  EXPECT_NE(both, a);
  // Pictures among each other.
  const json pictures = FoveaJson({"similarity", blob, "--image", Shown("rgb.png"), "--image", Shown("grey.png"),
                                   "--image", Shown("rgb.png"), "--json"});
  EXPECT_NEAR(pictures["cosines"][0][2].get<double>(), 1, 1e-9);
  EXPECT_LT(pictures["cosines"][0][1].get<double>(), 1 - 1e-6);
  EXPECT_NE(Fovea({"similarity", blob, "--image", Shown("rgb.png"), "--text", "cat"}).out.find("cosine"),
            std::string::npos);
}

TEST_F(PictureCommands, WhatIsWrongIsOneLine) {
  const std::string blob = Convert(), picture = Shown("rgb.png");
  const std::string whole = tools::ReadFile(picture);
  tools::WriteFile(Path("cut.png"), whole.data(), whole.size() / 2);
  ExpectRefused({"run", blob, "--image", Path("none.png")}, "none.png");
  ExpectRefused({"run", blob, "--image", Path("cut.png")}, "cut.png: the file ends within the image");
  ExpectRefused({"run", blob, "--image", Path("config.json")}, "not a PNG, JPEG, WebP, GIF or BMP file");
  ExpectRefused({"run", blob, "--image", picture, "--text", "a"}, "--image");
  ExpectRefused({"run", blob, "--image", picture, "--output", Path("x")}, "--input");
  ExpectRefused({"run", blob, "--image", picture, "--program", "encode_text"}, "does not read images");
  ExpectRefused({"similarity", blob, "--image", picture}, "texts");
  ExpectRefused({"similarity", blob, "--image", picture, "--text", "a", "--prompt", "b"}, "{}");
  ExpectRefused({"similarity", blob, "--text", "a", "--text", "b", "--image-model", blob}, "--image");
  const std::string text = Path("text.fovea");
  Fovea({"convert", directory_.string(), "-o", text, "--task", "text"});
  ExpectRefused({"run", text, "--image", picture}, "no program has an image");
  ExpectRefused({"convert", directory_.string(), "-o", text, "--image-size", "28"}, "HEIGHTxWIDTH");
  ExpectRefused({"convert", directory_.string(), "-o", text, "--image-size", "28x28", "--image-size", "28x28"},
                "twice");
}

// A file without a type means the processor of the model's own type, and later versions of the original library write
// it into processor_config.json, which counts where there are both.
TEST_F(PictureCommands, WhereTheProcessorIsWritten) {
  const auto embedding = [&] {
    const std::string blob = Convert();
    EXPECT_EQ(warnings_.find("processor"), std::string::npos) << warnings_;  // it has no tokenizer, which is named
    return FoveaJson({"run", blob, "--image", Shown("rgb.png"), "--json"})[0];
  };
  const json expected = embedding();
  json processor = Processor();
  processor.erase("image_processor_type");
  Write("preprocessor_config.json", processor);
  EXPECT_EQ(embedding(), expected);
  std::filesystem::remove(Path("preprocessor_config.json"));
  Write("processor_config.json", {{"processor_class", "CLIPProcessor"}, {"image_processor", Processor()}});
  EXPECT_EQ(embedding(), expected);
  processor["image_mean"] = {0.1, 0.1, 0.1};
  Write("preprocessor_config.json", processor);
  EXPECT_EQ(embedding(), expected);
  Write("processor_config.json", {{"processor_class", "CLIPProcessor"}});
  EXPECT_NE(embedding(), expected);
  // Another kind of model whose processor is not known.
  Write("preprocessor_config.json", {{"image_processor_type", ""}, {"size", 24}});
  Write("processor_config.json", {{"image_processor", {{"image_processor_type", "DonutImageProcessor"}}}});
  Convert();
  EXPECT_NE(warnings_.find("image_processor: image_processor_type DonutImageProcessor"), std::string::npos)
      << warnings_;
}

// Unknown parts of a processor's configuration are warned about, with file and key; such a blob takes numbers.
TEST_F(PictureCommands, ProcessorsThatAreNotKnown) {
  const std::pair<json, const char*> cases[] = {
      {{{"image_processor_type", "DonutImageProcessor"}}, "DonutImageProcessor"},
      {{{"do_align_axis", true}}, "do_align_axis"},
      {{{"size", {{"height", 28}, {"shortest_edge", nullptr}}}}, "width"},
      {{{"size", {{"shortest_edge", 0}}}}, "shortest_edge"},
      {{{"resample", 9}}, "resample"},
      {{{"image_std", {0, 1, 1}}}, "image_std"},
      {{{"image_mean", {0, 1}}}, "image_mean"},
      {{{"rescale_factor", "x"}}, "rescale_factor"},
  };
  for (const auto& [change, part] : cases) {
    json processor = Processor();
    processor.merge_patch(change);
    Write("preprocessor_config.json", processor);
    const std::string blob = Convert();
    EXPECT_NE(warnings_.find(part), std::string::npos) << warnings_;
    EXPECT_NE(warnings_.find("accepts only pixel values"), std::string::npos) << warnings_;
    ExpectRefused({"run", blob, "--image", Shown("rgb.png")}, "has no metadata for image preparation");
  }
}

// OCR: the tokens with the highest scores of program `score`, for pixels that this test prepared.
TEST(GenerateFromImages, WritesTheLikeliestTokens) {
  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / ("ocr-" + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  for (const char* file : {"config.json", "generation_config.json", "model.safetensors"}) {
    std::filesystem::copy_file(InData(std::string("hf/trocr/") + file), directory / file,
                               std::filesystem::copy_options::overwrite_existing);
  }
  const std::string processor =
      R"({"image_processor_type": "ViTImageProcessor", "size": {"height": 24, "width": 24}, "resample": 2,
          "do_normalize": true, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]})";
  tools::WriteFile((directory / "preprocessor_config.json").string(), processor.data(), processor.size());
  const std::string blob = (directory / "model.fovea").string(), in = (directory / "in.safetensors").string(),
                    out = (directory / "out.safetensors").string();
  ASSERT_EQ(Fovea({"convert", directory.string(), "-o", blob}).status, 0);
  const CommandResult made = Fovea({"generate", blob, "--image", Shown("rgb.png"), "-n", "4", "--json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json entry = ParsedJson(made.out)[0];
  const std::vector<int64_t> tokens = entry["tokens"];
  const std::vector<double> scores = entry["scores"];
  ASSERT_FALSE(tokens.empty());
  // More than a window of images.
  std::vector<std::string> many = {"generate", blob, "-n", "4", "--json"};
  const size_t count = tools::kPicturesOfWindow + 2;
  for (size_t i = 0; i < count; ++i) many.insert(many.end(), {"--image", Shown(i % 2 == 0 ? "rgb.png" : "grey.jpg")});
  const json all = ParsedJson(Fovea(many).out);
  ASSERT_EQ(all.size(), count);
  for (size_t i = 0; i < count; i += 2) EXPECT_EQ(all[i]["tokens"], entry["tokens"]) << i;

  tools::Preparation p;
  p.fit = tools::Preparation::Fit::kStretch;
  p.size = {24, 24};
  p.filter = tools::Filter::kBilinear;
  p.factor = 1.0 / 255;
  p.mean = p.deviation = {0.5f, 0.5f, 0.5f};
  const std::vector<float> pixels = tools::Prepare(p, tools::ReadPicture(Shown("rgb.png")), 3, {24, 24});
  std::vector<int64_t> ids = {2};  // decoder_start_token_id
  ids.insert(ids.end(), tokens.begin(), tokens.end() - 1);
  SafetensorsWriter writer;
  writer.AddFloats("pixel_values", {1, 3, 24, 24}, pixels.data());
  writer.AddIntegers("decoder_input_ids", {1, ids.size()}, ids.data());
  writer.Write(in);
  const CommandResult scored = Fovea({"run", blob, "--program", "score", "--input", in, "--output", out});
  ASSERT_EQ(scored.status, 0) << scored.err;
  const std::vector<float> logits = tools::ToFloats(SafetensorsReader(out).Get("logits"));
  const size_t width = logits.size() / tokens.size();
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto row = logits.begin() + static_cast<std::ptrdiff_t>(i * width);
    const auto best = std::max_element(row, row + static_cast<std::ptrdiff_t>(width));
    EXPECT_EQ(best - row, tokens[i]) << i;
    EXPECT_NEAR(*best, scores[i], 1e-4) << i;
  }

  const CommandResult text = Fovea({"generate", blob, "--text", "x"});
  EXPECT_NE(text.err.find("its encoder reads images; give --image"), std::string::npos) << text.err;
  const CommandResult both = Fovea({"generate", blob, "--image", Shown("rgb.png"), "--ids", "1"});
  EXPECT_NE(both.err.find("--image cannot be combined with texts or ids"), std::string::npos) << both.err;
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace fovea::test
