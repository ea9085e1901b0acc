// Attention records besides weights: answers, how much was read, vectors, spectrograms; and the pictures' colors.
#include <gtest/gtest.h>
#include <math.h>

#include <algorithm>

#include "tests/support/parsed_json.h"
#include "tests/tools/attend_support.h"
#include "tools/attend/drawing.h"
#include "tools/attend/fonts.h"
#include "tools/attend/spectrogram.h"
#include "tools/image/png.h"

namespace fovea::test {
namespace {

using nlohmann::json;

TEST(AttendAnswers, ClassesAreThoseOfRun) {
  const std::string& blob = TinyBlob("sequence");
  const CommandResult run = Fovea({"run", blob, "--text", "the cat", "--text", "a soup", "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json expected = ParsedJson(run.out), record = RecordOf({blob, "--text", "the cat", "--text", "a soup"});
  ASSERT_EQ(record["answers"].size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const json &entries = record["answers"][i]["entries"], &classes = expected[i]["classes"];
    EXPECT_EQ(record["answers"][i]["kind"], "classes");
    ASSERT_EQ(entries.size(), classes.size());
    for (size_t k = 0; k < classes.size(); ++k) {
      EXPECT_EQ(entries[k]["label"], classes[k]["label"]);
      EXPECT_EQ(entries[k]["number"].get<float>(), classes[k]["probability"].get<float>());
    }
  }
}

TEST(AttendAnswers, EmbeddingsNameTheNearestInput) {
  const json record =
      RecordOf({TinyBlob("base"), "--text", "the cat", "--text", "a soup", "--text", "the cat in the harbour"});
  ASSERT_EQ(record["answers"].size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const json& answer = record["answers"][i];
    EXPECT_EQ(answer["kind"], "embedding");
    EXPECT_GT(answer["width"].get<int>(), 0);
    ASSERT_EQ(answer["entries"].size(), 2u);
    EXPECT_GE(answer["entries"][0]["number"].get<double>(), answer["entries"][1]["number"].get<double>());
    for (const json& entry : answer["entries"]) EXPECT_NE(entry["label"], std::to_string(i + 1));
  }
  // Cosines are symmetric.
  const auto cosine = [&](size_t i, const std::string& of) {
    for (const json& entry : record["answers"][i]["entries"]) {
      if (entry["label"] == of) return entry["number"].get<double>();
    }
    return -2.0;
  };
  EXPECT_EQ(cosine(0, "2"), cosine(1, "1"));
}

TEST(AttendAnswers, CutTextsSayHowMuchWasRead) {
  std::string text = "the cat";
  for (int i = 0; i < 30; ++i) text += " the cat";
  const json whole = RecordOf({TinyBlob("base"), "--text", "the cat"})["reads"];
  EXPECT_EQ(whole, json::parse(R"([{"text": 0, "tokens": 4, "of_tokens": 4}])"));
  const json cut = RecordOf({TinyBlob("base"), "--text", text, "--max-length", "10"})["reads"];
  EXPECT_EQ(cut, json::parse(R"([{"text": 0, "tokens": 10, "of_tokens": 64}])"));
}

// Weights are the softmax of the products of the vectors over the square root of their width.
TEST(AttendVectors, ProductsMakeTheWeights) {
  const json record = RecordOf({TinyBlob("base"), "--text", "the cat in the harbour", "--vectors"});
  for (const json& step : record["steps"]) {
    const json& vectors = step["vectors"];
    const size_t width = vectors["width"], heads = vectors["heads"], rows = step["rows"].size();
    const auto halves = [](const json& text) {
      std::vector<float> numbers;
      for (const uint16_t half : Decoded<uint16_t>(text)) numbers.push_back(tools::FromHalf(half));
      return numbers;
    };
    const std::vector<float> queries = halves(vectors["queries"]), keys = halves(vectors["keys"]);
    const std::vector<float> weights = StepNumbers(step);
    ASSERT_EQ(queries.size(), rows * heads * width);
    ASSERT_EQ(keys.size(), queries.size());
    for (size_t row = 0; row < rows; ++row) {
      for (size_t head = 0; head < heads; ++head) {
        std::vector<double> powers(rows);
        double sum = 0;
        for (size_t key = 0; key < rows; ++key) {
          double dot = 0;
          for (size_t i = 0; i < width; ++i) {
            dot += double{queries[(row * heads + head) * width + i]} * keys[(key * heads + head) * width + i];
          }
          sum += powers[key] = exp(dot / sqrt(static_cast<double>(width)));
        }
        for (size_t key = 0; key < rows; ++key) {
          EXPECT_NEAR(weights[(row * heads + head) * rows + key], powers[key] / sum, 2e-3);
        }
      }
    }
  }
  EXPECT_FALSE(RecordOf({TinyBlob("base"), "--text", "the cat"})["steps"][0].contains("vectors"));
}

TEST(AttendPictures, ColorsAreThoseOfThePage) {
  // From scaleOf in tools/attend/page/colour.mjs.
  const struct {
    bool dark;
    int step;
    tools::Color color;
  } kExpected[] = {{false, 0, {250, 250, 246}}, {false, 64, {171, 208, 157}}, {false, 128, {79, 158, 160}},
                   {false, 200, {48, 87, 152}}, {false, 255, {40, 37, 112}},  {true, 0, {31, 33, 40}},
                   {true, 64, {51, 70, 146}},   {true, 128, {67, 134, 171}},  {true, 200, {139, 201, 167}},
                   {true, 255, {229, 238, 186}}};
  for (const auto& [dark, step, color] : kExpected) {
    const tools::Color got = tools::ScaleColor(step / 255.0, dark);
    EXPECT_EQ(std::vector<int>({got.red, got.green, got.blue}), std::vector<int>({color.red, color.green, color.blue}))
        << dark << " " << step;
  }
}

TEST(AttendPictures, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(tools::Drawing::TextWidth("\xe7\x8c\xab"), 2 * tools::Drawing::TextWidth("c"));
  EXPECT_EQ(tools::Drawing::TextWidth("e\xcc\x81"), tools::Drawing::TextWidth("e"));
}

TEST(AttendPictures, CharactersWithoutAGlyphAreCounted) {
  const tools::Fonts fonts;
  const auto boxes = [&](const std::string& text) {
    tools::Drawing drawing{tools::Theme{}};
    drawing.Text(12, 18, text);
    uint64_t count = 0;
    EXPECT_FALSE(drawing.Png(fonts, &count).empty());
    return count;
  };
  EXPECT_EQ(boxes("plain letters"), 0u);
  EXPECT_EQ(boxes("\xf4\x8f\xbf\xbd and \xf4\x8f\xbf\xbd"), 2u);  // a code point that no font has
  if (fonts.empty()) GTEST_SKIP() << "no font of the usual names is installed";
  const auto letter = fonts.Find('H', 26, 13);
  ASSERT_TRUE(letter);
  EXPECT_GT(letter->height, 10);
  EXPECT_LE(letter->width, 13);
  EXPECT_GT(*std::max_element(letter->coverage.begin(), letter->coverage.end()), 200);
}

TEST(AttendSound, SpectrogramsHaveTheTone) {
  tools::Sound sound = {16000, std::vector<float>(16000)};
  for (size_t i = 8000; i < 16000; ++i) sound.samples[i] = sinf(static_cast<float>(i) * 6.2831853f * 1000 / 16000);
  tools::RecordSound shown;
  tools::AddSpectrogram(sound, &shown);
  ASSERT_EQ(shown.bands, 48u);
  const size_t columns = shown.spectrogram.size() / shown.bands;
  ASSERT_GT(columns, 100u);
  const auto level = [&](size_t column, size_t band) {
    return static_cast<uint8_t>(shown.spectrogram[column * shown.bands + band]);
  };
  // 1 kHz is 1,000 mel of the 2,840 up to 8 kHz: band 16 of 48.
  size_t best = 0;
  for (size_t band = 0; band < shown.bands; ++band) {
    if (level(columns - 2, band) > level(columns - 2, best)) best = band;
    EXPECT_EQ(level(1, band), 0) << "silence";
  }
  EXPECT_NEAR(static_cast<double>(best), 16, 1);
  EXPECT_GT(level(columns - 2, best), 250);
}

}  // namespace
}  // namespace fovea::test
