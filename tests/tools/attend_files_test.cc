// Files that fovea attend writes besides the record, and its refusals.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>

#include "tests/support/parsed_json.h"
#include "tests/tools/attend_support.h"
#include "tools/attend/taps_file.h"
#include "tools/attend/views.h"
#include "tools/base/fail.h"
#include "tools/image/png.h"
#include "tools/safetensors/metadata.h"

namespace fovea::test {
namespace {

using nlohmann::json;
using tools::SafetensorsWriter;

void ExpectRefused(std::vector<std::string> arguments, const std::string& part) {
  const std::string output = Temporary("refused.out");
  arguments.insert(arguments.begin(), "attend");
  arguments.insert(arguments.end(), {"-o", output});
  const CommandResult result = Fovea(arguments);
  EXPECT_EQ(result.status, 2) << part;
  EXPECT_EQ(result.err.rfind("fovea: ", 0), 0u) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_NE(result.err.find(part), std::string::npos) << part << ": " << result.err;
  EXPECT_FALSE(std::filesystem::exists(output));
}

// Whether every element is closed where it must be, and every entity is one of XML's.
bool IsWellFormed(const std::string& text) {
  std::vector<std::string> open;
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<uint8_t>(text[at]);
    if (byte < 32 && text[at] != '\n') return false;
    if (text[at] == '&') {
      const std::string name = text.substr(at, text.find(';', at) - at + 1);
      if (name != "&lt;" && name != "&gt;" && name != "&amp;" && name != "&quot;") return false;
    }
    if (text[at] == '>') return false;
    if (text[at] != '<') {
      ++at;
      continue;
    }
    const size_t end = text.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = text.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos || std::count(tag.begin(), tag.end(), '"') % 2 != 0) return false;
    const std::string name = tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" /", 1) - (tag[0] == '/' ? 1 : 0));
    if (tag[0] == '/') {
      if (open.empty() || open.back() != name) return false;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    at = end + 1;
  }
  return open.empty();
}

std::string SvgOf(std::vector<std::string> arguments, const std::string& view) {
  arguments.insert(arguments.begin(), "attend");
  arguments.insert(arguments.end(), {"--svg", Temporary("view.svg"), "--png", Temporary("view.png"), "--view", view});
  const CommandResult result = Fovea(arguments);
  EXPECT_EQ(result.status, 0) << view << ": " << result.err;
  if (result.status != 0) return "";
  const std::string svg = tools::ReadFile(Temporary("view.svg"));
  EXPECT_TRUE(IsWellFormed(svg)) << view;
  const tools::Picture picture = tools::ReadPicture(Temporary("view.png"));
  EXPECT_GT(picture.width, 100u);
  EXPECT_NE(*std::min_element(picture.pixels.begin(), picture.pixels.end()),
            *std::max_element(picture.pixels.begin(), picture.pixels.end()));
  return svg;
}

// The numbers after the last ": " of all titles, in their order.
std::vector<double> TitleNumbers(const std::string& svg) {
  std::vector<double> numbers;
  for (size_t at = svg.find("<title>"); at != std::string::npos; at = svg.find("<title>", at + 1)) {
    const std::string title = svg.substr(at + 7, svg.find("</title>", at) - at - 7);
    numbers.push_back(std::stod(title.substr(title.rfind(": ") + 2)));
  }
  return numbers;
}

TEST(AttendViews, MapsHaveTheNumbersOfTheRecord) {
  const std::vector<std::string> text = {TinyBlob("base"), "--text", "the <cat> & \"soup\"", "--text", "a"};
  const json record = RecordOf(text);
  std::vector<std::string> arguments = text;
  arguments.insert(arguments.end(), {"--layer", "1", "--head", "1"});
  const std::vector<double> numbers = TitleNumbers(SvgOf(arguments, "map"));
  const Weights weights = WeightsOf(record, "attentions.1");
  const uint32_t rows = record["spaces"][record["steps"][1]["query_space"].get<size_t>()]["offsets"][1];
  ASSERT_EQ(numbers.size(), size_t{rows} * rows);
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t key = 0; key < rows; ++key) {
      EXPECT_EQ(static_cast<float>(numbers[row * rows + key]), (weights.at({row, 1, key})));
    }
  }
  arguments.insert(arguments.end(), {"--row", "2", "--dark"});
  const std::vector<double> words = TitleNumbers(SvgOf(arguments, "text"));
  ASSERT_EQ(words.size(), rows);
  for (uint32_t key = 0; key < rows; ++key) EXPECT_EQ(static_cast<float>(words[key]), (weights.at({2, 1, key})));
  const std::vector<double> lines = TitleNumbers(SvgOf(arguments, "lines"));
  size_t seen = 0;
  for (uint32_t key = 0; key < rows; ++key) {
    const float weight = weights.at({2, 1, key});
    if (weight > 0.001) {
      EXPECT_EQ(static_cast<float>(lines.at(seen++)), weight);
    }
  }
  EXPECT_EQ(lines.size(), seen);
  EXPECT_EQ(TitleNumbers(SvgOf(text, "heads")).size(), size_t{4} * rows * rows);
  SvgOf(text, "pattern");
}

// The first rows of a causal model have few keys, with far greater weights than other rows have.
TEST(AttendViews, FewGreatWeightsLeaveTheRestVisible) {
  tools::RecordStep step;
  std::vector<std::vector<tools::KeyWeight>> lines = {{{0, 1.0}}};
  for (int i = 0; i < 7; ++i) lines.push_back({{0, 0.1}, {1, 0.05}});
  const tools::NumberScale scale(step, lines);
  EXPECT_EQ(scale.greatest, 1);
  EXPECT_EQ(scale.most, 0.1);
  EXPECT_EQ(scale.At(0.05), 0.5);
  EXPECT_EQ(scale.At(1), 1);
  lines[0] = {{0, 0.15}};
  EXPECT_EQ(tools::NumberScale(step, lines).most, 0.15);  // not far greater
  EXPECT_EQ(tools::NumberScale(step, {{{0, 1.0}, {1, 0.1}}}).most, 1);
}

// Negative scores as well; the colors range from the smallest to the largest.
TEST(AttendViews, ScoresAreShown) {
  const std::vector<std::string> text = {TinyBlob("base"), "--text", "the <cat> & \"soup\"", "--scores"};
  const Weights scores = WeightsOf(RecordOf(text), "attentions.1");
  std::vector<std::string> arguments = text;
  arguments.insert(arguments.end(), {"--layer", "1", "--head", "1", "--row", "2"});
  const std::string map = SvgOf(arguments, "map");
  const std::vector<double> numbers = TitleNumbers(map), words = TitleNumbers(SvgOf(arguments, "text"));
  const auto rows = static_cast<uint32_t>(words.size());
  ASSERT_EQ(numbers.size(), size_t{rows} * rows);
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t key = 0; key < rows; ++key) {
      EXPECT_EQ(static_cast<float>(numbers[row * rows + key]), (scores.at({row, 1, key})));
      if (row == 2) {
        EXPECT_EQ(words[key], numbers[row * rows + key]);
      }
    }
  }
  EXPECT_LT(*std::min_element(numbers.begin(), numbers.end()), 0);
  const std::string least = fmt::format("{:.3g}</text>", *std::min_element(numbers.begin(), numbers.end()));
  EXPECT_NE(map.find(least), std::string::npos) << least;
  EXPECT_EQ(TitleNumbers(SvgOf(text, "heads")).size(), size_t{4} * rows * rows);
  for (const char* view : {"lines", "document", "alignment"}) {
    arguments = text;
    arguments.insert(arguments.begin(), "attend");
    arguments.insert(arguments.end(), {"--svg", Temporary("none.svg"), "--view", view});
    EXPECT_EQ(Fovea(arguments).status, 2) << view;
  }
}

TEST(AttendViews, DocumentsAlignmentsAndPictures) {
  const std::string text = "A library reads audio. It has games!";
  const std::string blob = InSource("tools/train/package-section-hierarchical.fovea");
  const json record = RecordOf({blob, "--text", text});
  const std::vector<double> numbers = TitleNumbers(SvgOf({blob, "--text", text}, "document"));
  const Weights sentences = WeightsOf(record, record["explain"][0]), words = WeightsOf(record, record["explain"][1]);
  ASSERT_EQ(numbers.size(), sentences.size() + words.size());
  EXPECT_EQ(static_cast<float>(numbers[0]), (sentences.at({0, 0, 0})));
  EXPECT_EQ(static_cast<float>(numbers[1]), (words.at({0, 0, 0})));

  const std::string dates = Converted(InSource("tools/train/date-normaliser/graph.json"), "dates");
  const json aligned = RecordOf({dates, "--source", "20JAN19"});
  const std::vector<double> alignment = TitleNumbers(SvgOf({dates, "--source", "20JAN19"}, "alignment"));
  size_t at = 0;
  for (const auto& [place, weight] : WeightsOf(aligned, "alignment")) {
    EXPECT_EQ(static_cast<float>(alignment.at(at++)), weight);
  }

  const std::string vit = Converted(InData("hf/vit"), "vit"), input = GoldenInput("vit", "a");
  const json pictures = RecordOf({vit, "--input", input});
  const std::vector<double> cells =
      TitleNumbers(SvgOf({vit, "--input", input, "--head", "0", "--layer", "0"}, "picture"));
  const Weights seen = WeightsOf(pictures, "attentions.0");
  for (uint32_t cell = 0; cell < cells.size(); ++cell) {
    EXPECT_EQ(static_cast<float>(cells[cell]), (seen.at({0, 0, cell + 1})));
  }
  EXPECT_EQ(cells.size() + 1, pictures["spaces"][1]["offsets"][1].get<size_t>());
}

// The golden model, with a file that specifies how its pictures are prepared.
std::string PreparedVit() {
  const std::string folder = Temporary("prepared_vit");
  std::filesystem::remove_all(folder);
  std::filesystem::copy(InData("hf/vit"), folder);
  const std::string config =
      R"({"image_processor_type": "ViTImageProcessor", "do_resize": true, "size": {"height": 24, "width": 24},
          "resample": 2, "do_rescale": true, "rescale_factor": 0.00392156862745098, "do_normalize": true,
          "image_mean": [0.5, 0.5, 0.5], "image_std": [0.25, 0.25, 0.25]})";
  tools::WriteFile(folder + "/preprocessor_config.json", config.data(), config.size());
  return Converted(folder, "prepared_vit");
}

TEST(AttendPictures, FilesArePreparedAndShown) {
  tools::Picture picture{24, 24, 3, {}};
  for (uint32_t i = 0; i < 24 * 24 * 3; ++i) picture.pixels.push_back(static_cast<uint8_t>(i * 7));
  const std::string png = tools::PngOf(picture), path = Temporary("picture.png");
  tools::WriteFile(path, png.data(), png.size());
  const tools::Picture back = tools::ReadPicture(path);
  EXPECT_EQ(back.pixels, picture.pixels);
  // The same as tensors: (pixel / 255 - 0.5) / 0.25, channel by channel.
  std::vector<float> values;
  for (uint32_t channel = 0; channel < 3; ++channel) {
    for (uint32_t i = 0; i < 24 * 24; ++i) {
      values.push_back((static_cast<float>(picture.pixels[3 * i + channel] * 0.00392156862745098) - 0.5f) / 0.25f);
    }
  }
  SafetensorsWriter writer;
  writer.AddFloats("pixel_values", {1, 3, 24, 24}, values.data());
  writer.Write(Temporary("pixels"));
  const std::string vit = PreparedVit();
  const json a = RecordOf({vit, "--image", path});
  const json b = RecordOf({vit, "--input", Temporary("pixels")});
  for (size_t i = 0; i < a["steps"].size(); ++i) EXPECT_EQ(a["steps"][i], b["steps"][i]);
  EXPECT_EQ(a["images"], b["images"]);
  const std::string half = png.substr(0, png.size() / 2);
  tools::WriteFile(Temporary("half.png"), half.data(), half.size());
  ExpectRefused({vit, "--image", Temporary("half.png")}, "half.png");
  tools::WriteFile(Temporary("text.png"), "no image", 10);
  ExpectRefused({vit, "--image", Temporary("text.png")}, "text.png");
  ExpectRefused({vit, "--image", Temporary("absent.png")}, "absent.png");
  ExpectRefused({Converted(InData("hf/vit"), "vit"), "--image", path}, "image preparation");
  ExpectRefused({TinyBlob("base"), "--image", path}, "no program has an image");
}

TEST(AttendPage, NoTextEndsTheElement) {
  const std::string page = Temporary("page.html");
  const CommandResult result = Fovea({"attend", TinyBlob("base"), "--text", "</script><!--<script> cat", "-o", page});
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string html = tools::ReadFile(page);
  const std::string open = "<script type=\"application/json\" id=\"record\">";
  const size_t begin = html.find(open);
  ASSERT_NE(begin, std::string::npos);
  const size_t end = html.find("</script", begin);
  const std::string text = html.substr(begin + open.size(), end - begin - open.size());
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_EQ(ParsedJson(text), RecordOf({TinyBlob("base"), "--text", "</script><!--<script> cat"}));
}

class Recorded : public ::testing::Test {
 protected:
  Recorded() {
    const std::vector<std::string> text = {TinyBlob("base"), "--text", "the cat", "--text", "a cats soup in"};
    record_ = RecordOf(text);
    std::vector<std::string> arguments = {"attend"};
    arguments.insert(arguments.end(), text.begin(), text.end());
    arguments.insert(arguments.end(), {"--safetensors", path_});
    EXPECT_EQ(Fovea(arguments).status, 0);
    file_ = tools::ReadFile(path_);
  }

  void Refuse(const std::string& bytes, const std::string& part) {
    tools::WriteFile(Temporary("broken"), bytes.data(), bytes.size());
    ExpectRefused({"--from", Temporary("broken")}, part);
  }

  // The file with tensors and metadata changed.
  std::string Changed(
      const std::function<void(std::map<std::string, std::pair<std::vector<uint64_t>, std::string>>&)>& tensors,
      const std::function<void(tools::SafetensorsMetadata&)>& metadata) {
    const auto* data = reinterpret_cast<const uint8_t*>(file_.data());
    auto says = tools::ParseSafetensorsMetadata(data, file_.size(), "file");
    std::map<std::string, std::pair<std::vector<uint64_t>, std::string>> all;
    const tools::StoredTensors stored = tools::ParseSafetensors(data, file_.size(), "file");
    for (const auto& [name, tensor] : stored) {
      all[name] = {tensor.shape, std::string(reinterpret_cast<const char*>(tensor.data), tensor.bytes)};
    }
    if (tensors) tensors(all);
    if (metadata) metadata(says);
    SafetensorsWriter writer;
    for (const auto& [name, tensor] : all) {
      const auto at = stored.find(name);
      writer.Add(name, at == stored.end() ? tools::ElementType::kI32 : at->second.type, tensor.first,
                 tensor.second.data());
    }
    return tools::WithMetadata(writer.Bytes(), {says.begin(), says.end()});
  }
  std::string WithNumber(const std::string& tensor, size_t at, int32_t number) {
    return Changed([&](auto& all) { memcpy(all.at(tensor).second.data() + 4 * at, &number, 4); }, nullptr);
  }
  std::string Saying(const std::string& key, const std::string& value) {
    return Changed(nullptr, [&](auto& says) { says[key] = value; });
  }

  const std::string path_ = Temporary("recorded.safetensors");
  json record_;
  std::string file_;
};

TEST_F(Recorded, OpensAsItWas) {
  json again = RecordOf({"--from", path_}, "again.json");
  for (const char* key : {"texts", "spaces", "steps", "images", "sounds", "model", "title"}) {
    EXPECT_EQ(again[key], record_[key]) << key;
  }
  // The same without labels.
  const std::string bare = Changed(nullptr, [](auto& says) {
    for (const char* key : {"record", "tap.0.part", "tap.0.layer", "tap.0.causal", "tap.1.part", "tap.1.layer"}) {
      says.erase(key);
    }
  });
  tools::WriteFile(Temporary("bare"), bare.data(), bare.size());
  again = RecordOf({"--from", Temporary("bare")}, "again.json");
  for (const char* step : {"attentions.0", "attentions.1"}) EXPECT_EQ(WeightsOf(again, step), WeightsOf(record_, step));
  EXPECT_EQ(again["steps"][1]["layer"], 1);
}

TEST_F(Recorded, BrokenFilesAreRefused) {
  Refuse("", "broken");
  Refuse(file_.substr(0, 5), "too short");
  Refuse(file_.substr(0, 100), "header");
  Refuse(file_.substr(0, file_.size() - 1), "outside");
  Refuse(Saying("fovea_taps", "2"), "fovea_taps");
  Refuse(Saying("taps", "3"), "tap.2.step");
  Refuse(Saying("taps", "99999"), "taps");
  Refuse(Saying("taps", "0"), "no tap");
  Refuse(Saying("taps", "-1"), "taps");
  Refuse(Saying("tap.1.step", "attentions.0"), "two taps");
  Refuse(Saying("tap.0.step", "other"), "other.query_rows");
  Refuse(Saying("tap.0.heads", "1 0"), "ascend");
  Refuse(Saying("tap.0.heads", "0"), "attentions.0.weights");
  Refuse(Saying("tap.0.heads", ""), "heads");
  Refuse(Saying("tap.0.heads", "0 one"), "heads");
  Refuse(Saying("tap.0.reduce", "sum"), "reduce");
  Refuse(Saying("tap.0.keeps", "all"), "keeps");
  Refuse(Saying("tap.0.layer", "x"), "tap.0.layer");
  Refuse(Saying("record", "{"), "record");
  Refuse(Saying("record", "[]"), "record");
  Refuse(Saying("record", R"({"texts":[1]})"), "texts[0]");
  Refuse(Saying("record", R"({"spaces":[{"name":"a","offsets":[0,5],"parent":0}]})"), "parent");
  Refuse(Saying("record", R"({"spaces":[{"name":"a","offsets":[0,2000000]}]})"), "offsets");
  Refuse(Saying("record", R"({"spaces":[{"name":"a","offsets":[0,1],"labels":["x","y"]}]})"), "labels");
  Refuse(Saying("record", R"({"texts":["ab"],"spaces":[{"name":"a","offsets":[0,1],"places":[[0,1,3]]}]})"), "places");
  Refuse(Saying("record", R"({"texts":["ab"],"spaces":[{"name":"a","offsets":[0,1],"places":[[1,0,0]]}]})"), "places");
  Refuse(Saying("record", R"({"spaces":[{"name":"a","offsets":[0,1],"cells":[[0,0]]}]})"), "cells");
  Refuse(Saying("record", R"({"images":[{"width":1,"height":1,"png":"?","rows":1,"columns":1}]})"), "base64");
  Refuse(Saying("record", R"({"generation":{"target_space":0,"first":0}})"), "target_space");
  const auto bare = [&](const std::function<void(tools::SafetensorsMetadata&)>& change) {
    return Changed(nullptr, [&](auto& says) {
      says.erase("record");
      change(says);
    });
  };
  Refuse(bare([](auto& says) { says["parent.texts"] = "tokens"; }), "nested");
  Refuse(bare([](auto& says) { says["parent.tokens"] = "nothing"; }), "parent.nothing");
  Refuse(bare([](auto& says) { says["parent.tokens"] = ""; }), "segments");
  Refuse(WithNumber("attentions.0.query_rows", 1, 0), "query_rows");
  Refuse(WithNumber("attentions.0.query_rows", 3, 100), "query_rows");
  Refuse(WithNumber("attentions.0.query_rows", 0, -1), "negative");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  int32_t bits;
  memcpy(&bits, &nan, 4);
  Refuse(WithNumber("attentions.1.weights", 2, bits), "attentions.1.weights");
  const auto without_record = [&](const std::string& tensor, size_t at, int32_t number) {
    return Changed([&](auto& all) { memcpy(all.at(tensor).second.data() + 4 * at, &number, 4); },
                   [](auto& says) { says.erase("record"); });
  };
  Refuse(without_record("tokens.offsets", 1, 9999), "tokens.offsets");
  Refuse(without_record("tokens.offsets", 2, 1 << 30), "rows");
  Refuse(without_record("texts.offsets", 1, 3), "tokens.offsets");
  Refuse(Changed([](auto& all) { all.erase("attentions.0.weights"); }, nullptr), "attentions.0.weights");
  Refuse(Changed(
             [](auto& all) {
               all["attentions.0.line_offsets"] = {{1}, std::string(4, '\0')};
             },
             nullptr),
         "attentions.0.keys");
}

TEST_F(Recorded, SparseKeysAreChecked) {
  const std::string path = Temporary("sparse-taps");
  const CommandResult made =
      Fovea({"attend", TinyBlob("base"), "--text", "the cat", "--sparse", "--safetensors", path});
  ASSERT_EQ(made.status, 0) << made.err;
  file_ = tools::ReadFile(path);
  const json record = RecordOf({"--from", path});
  EXPECT_EQ(record["steps"][0]["form"], "sparse");
  EXPECT_EQ(WeightsOf(record, "attentions.1"),
            WeightsOf(RecordOf({TinyBlob("base"), "--text", "the cat"}), "attentions.1"));
  Refuse(WithNumber("attentions.0.keys", 1, 0), "attentions.0.keys");
  Refuse(WithNumber("attentions.0.keys", 3, 9), "attentions.0.keys");
  Refuse(WithNumber("attentions.0.line_offsets", 0, 1), "line_offsets");
  Refuse(WithNumber("attentions.0.line_offsets", 2, 1000), "line_offsets");
}

TEST(AttendCommand, WrongUseIsRefused) {
  const std::string& blob = TinyBlob("base");
  const std::vector<std::string> text = {blob, "--text", "a cat"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), text.begin(), text.end());
    return more;
  };
  ExpectRefused({}, "BLOB");
  ExpectRefused({blob}, "--text");
  ExpectRefused({blob, "--from", "x"}, "--from");
  ExpectRefused({"--from", Temporary("absent")}, "absent");
  ExpectRefused({Temporary("absent.fovea"), "--text", "a"}, "absent.fovea");
  ExpectRefused(with({"--prompt", "a"}), "one kind");
  ExpectRefused({blob, "--prompt", "a"}, "no decoder");
  ExpectRefused({blob, "--source", "a"}, "no decoder");
  ExpectRefused({blob, "--wav", Temporary("x.wav")}, "does not read audio");
  ExpectRefused(with({"--layers", "7"}), "no attention operation has these layers and heads");
  ExpectRefused(with({"--layers", "2-1"}), "--layers");
  ExpectRefused(with({"--layers", "0,,1"}), "--layers");
  ExpectRefused(with({"--layers", "one"}), "--layers");
  ExpectRefused(with({"--heads", "5"}), "no attention operation has these layers and heads");
  ExpectRefused(with({"--rows", "some"}), "rows");
  ExpectRefused(with({"--rows", "stride"}), "--stride");
  ExpectRefused(with({"--stride", "2"}), "--rows stride");
  ExpectRefused(with({"--scores", "--reduce", "mean"}), "--scores");
  ExpectRefused(with({"--sparse", "--pattern"}), "--");
  ExpectRefused(with({"--program", "nothing"}), "nothing");
  ExpectRefused(with({"--svg", Temporary("none.svg"), "--view", "alignment"}), "no cross-attention was kept");
  ExpectRefused(with({"--svg", Temporary("none.svg"), "--view", "picture"}), "its keys are not parts of an image");
  ExpectRefused(with({"--svg", Temporary("none.svg"), "--view", "document"}), "levels");
  ExpectRefused(with({"--svg", Temporary("none.svg"), "--step", "x"}), "no step 'x'");
  ExpectRefused(with({"--svg", Temporary("none.svg"), "--layer", "9"}), "layer 9");
  ExpectRefused(with({"--svg", Temporary("none.svg"), "--head", "9"}), "head 9");
  ExpectRefused(with({"--svg", Temporary("none.svg"), "--view", "text", "--row", "99"}), "row 99");
  EXPECT_FALSE(std::filesystem::exists(Temporary("none.svg")));
  ExpectRefused({blob, "--text", "broken \xff"}, "UTF");
  ExpectRefused(with({"--json", Temporary("nowhere/x.json")}), "nowhere");
}

}  // namespace
}  // namespace fovea::test
