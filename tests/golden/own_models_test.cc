// Models that tools/train makes besides the flat classifier: documents read by sentences, dates written by steps.
#include "tests/golden/own_models.h"

#include <nlohmann/json.hpp>

#include "tests/support/fewer_cases.h"
#include "tools/generate/generation.h"
#include "tools/text/text_inputs.h"

namespace fovea::test {
namespace {

// ---- Documents read by sentences ----

class PackageSectionHierarchical : public ::testing::Test {
 protected:
  const std::string directory_ = InSource("tools/train/package-section-hierarchical");
  const std::string description_ = directory_ + "/graph.json";
};

TEST_F(PackageSectionHierarchical, EqualsPyTorchAtBothLevels) {
  const Converted converted(description_, DType::kF32);
  ExpectGolden(converted, directory_, 17, std::nullopt);
  // The goldens' ids come from texts by the same sentences.
  const tools::Tokenizer tokenizer(converted.model);
  const tools::SafetensorsReader golden(directory_ + "/golden.safetensors");
  const Json cases = tools::ReadJson(directory_ + "/golden.json");
  for (const auto& [name, documents] : cases.items()) {
    std::vector<int64_t> ids, lengths;
    for (const Json& document : documents) {
      const std::string text = document["text"];
      const tools::Tokens tokens = tools::EncodeFor(converted.model, tokenizer, 0, text);
      ids.insert(ids.end(), tokens.ids.begin(), tokens.ids.end());
      ASSERT_EQ(tokens.sentences.size(), document["sentences"].size()) << text;
      for (size_t i = 0; i < tokens.sentences.size(); ++i) {
        const tools::Tokens::Sentence& sentence = tokens.sentences[i];
        EXPECT_EQ(text.substr(sentence.begin, sentence.end - sentence.begin), document["sentences"][i]);
        lengths.push_back(sentence.tokens);
      }
    }
    EXPECT_EQ(ids, tools::ToIntegers(golden.Get(name + ".in.input_ids"))) << name;
    EXPECT_EQ(lengths, tools::ToIntegers(golden.Get(name + ".in.segments.tokens"))) << name;
  }
}

TEST_F(PackageSectionHierarchical, Int8IsClose) {
  ExpectGolden(Converted(description_, DType::kI8), directory_, 17, 0.998);
}

// Whole descriptions that were held out. In f32 with PyTorch 328 are right.
TEST_F(PackageSectionHierarchical, TheBlobInTheRepositoryClassifiesDocuments) {
  const tools::Model model(directory_ + ".fovea", tools::Model::Options());
  const tools::Tokenizer tokenizer(model);
  const auto rows = ReadHeldOut(directory_ + "/eval.tsv", FewerCases() ? 4 : 1);
  ASSERT_EQ(rows.size(), FewerCases() ? 100u : 400u);
  size_t right = 0;
  constexpr size_t kAtOnce = 50;
  for (size_t first = 0; first < rows.size(); first += kAtOnce) {
    std::vector<tools::Tokens> tokens;
    for (size_t i = first; i < first + kAtOnce; ++i) {
      std::string text = rows[i][1];
      for (size_t part = 2; part < rows[i].size(); ++part) text += "\n\n" + rows[i][part];
      tokens.push_back(tools::EncodeFor(model, tokenizer, 0, text));
    }
    const tools::Batch batch = tools::BatchFromTokens(model, 0, tokens);
    tools::Session session = tools::SessionFor(model, batch);
    session.Run();
    const tools::Matrix logits = session.Output(ValueOf(model, "logits"));
    ASSERT_EQ(logits.rows, kAtOnce);
    right += CountRight(model, logits, rows, first);
  }
  std::cout << right << " of " << rows.size() << " held-out documents are right\n";
  EXPECT_GE(right, FewerCases() ? 78u : 323u);
}

// ---- Dates ----

class DateNormaliser : public ::testing::Test {
 protected:
  const std::string directory_ = InSource("tools/train/date-normaliser");
  const std::string description_ = directory_ + "/graph.json";

  static std::vector<tools::Generation> Written(const tools::Model& model, const std::vector<std::string>& texts) {
    const tools::Tokenizer tokenizer(model);
    std::vector<std::vector<int32_t>> ids;
    for (const std::string& text : texts) ids.push_back(tokenizer.Encode(text, 0).ids);
    tools::GenerationRequest request;
    request.alignments = true;
    return tools::Generate(model, ids, request);
  }
};

// Both programs, then every step of writing, as PyTorch computes them.
TEST_F(DateNormaliser, EqualsPyTorchStepByStep) {
  const Converted converted(description_, DType::kF32);
  ExpectGolden(converted, directory_, 12, std::nullopt);
  const tools::SafetensorsReader golden(directory_ + "/golden.safetensors");
  const Json all_cases = tools::ReadJson(directory_ + "/golden.json");
  for (const auto& [name, cases] : all_cases.items()) {
    std::vector<std::string> texts;
    for (const Json& one : cases) texts.push_back(one["text"]);
    const std::vector<tools::Generation> found = Written(converted.model, texts);
    for (size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(found[i].input, cases[i]["ids"].get<std::vector<int32_t>>()) << texts[i];
      EXPECT_EQ(found[i].text, cases[i]["date"]) << texts[i];
      const std::string steps = name + "." + std::to_string(i) + ".steps.";
      const tools::StoredTensor& scores = golden.Get(steps + "scores");
      const std::vector<float> all = tools::ToFloats(scores),
                               alignment = tools::ToFloats(golden.Get(steps + "alignment"));
      const size_t count = scores.shape[0], characters = texts[i].size();
      ASSERT_EQ(found[i].tokens.size(), count);
      ASSERT_EQ(alignment.size(), count * characters);
      for (size_t s = 0; s < count; ++s) {
        const auto begin = all.begin() + static_cast<ptrdiff_t>(s * scores.shape[1]);
        const auto best = std::max_element(begin, begin + static_cast<ptrdiff_t>(scores.shape[1]));
        EXPECT_EQ(found[i].tokens[s], best - begin);
        EXPECT_NEAR(found[i].scores[s], *best, 1e-4 * std::fabs(*best));
        for (size_t c = 0; c < characters; ++c) {
          EXPECT_NEAR(found[i].alignment[s][c], alignment[s * characters + c], 1e-4);
        }
      }
    }
  }
}

// Dates that were not trained on. In f32 with PyTorch all are right.
TEST_F(DateNormaliser, Int8WritesUnseenDates) {
  const Converted converted(description_, DType::kI8);
  EXPECT_LE(converted.blob.size(), 105'000u);
  ExpectGolden(converted, directory_, 12, 0.998);
  const auto rows = ReadTable(directory_ + "/eval.tsv");
  ASSERT_EQ(rows.size(), 1000u);
  std::vector<std::string> texts;
  for (const auto& row : rows) texts.push_back(row[1]);
  const std::vector<tools::Generation> found = Written(converted.model, texts);
  size_t right = 0, years = 0;
  double on_year = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    right += found[i].text == rows[i][0] ? 1 : 0;
    // If the year appears in the text as written, its four digits are copied from there.
    const size_t at = texts[i].find(rows[i][0].substr(0, 4));
    if (at == std::string::npos) continue;
    ++years;
    for (size_t s = 0; s < 4; ++s) {
      for (size_t c = at; c < at + 4; ++c) on_year += found[i].alignment[s][c] / 4;
    }
  }
  std::cout << right << " of 1000 unseen dates are right, " << converted.blob.size()
            << " bytes; weight of the year's digits " << on_year / static_cast<double>(years) << "\n";
  EXPECT_GE(right, 990u);
  EXPECT_GE(on_year / static_cast<double>(years), 0.9);
}

}  // namespace
}  // namespace fovea::test
