// Real trained models: a sentence encoder and this repository's own classifier.
#include <nlohmann/json.hpp>

#include "runtime/blob/attribute_names.h"
#include "runtime/blob/names.h"
#include "tests/golden/own_models.h"
#include "tests/golden/perplexity.h"
#include "tests/support/fewer_cases.h"
#include "tools/generate/generation.h"
#include "tools/model/batch.h"
#include "tools/text/text_inputs.h"

namespace fovea::test {
namespace {

// One row for each text, run as ragged batches.
tools::Matrix RunTexts(const tools::Model& model, const std::vector<std::string>& texts, const std::string& output) {
  const tools::Tokenizer tokenizer(model);
  const uint32_t most = tools::MaxTokens(model, 0);
  tools::Matrix all;
  for (size_t first = 0; first < texts.size(); first += 32) {
    std::vector<tools::Tokens> tokens;
    for (size_t i = first; i < std::min(texts.size(), first + 32); ++i) {
      tokens.push_back(tokenizer.Encode(texts[i], most == UINT32_MAX ? 0 : most));
    }
    const tools::Batch batch = tools::BatchFromTokens(model, 0, tokens);
    tools::Session session = tools::SessionFor(model, batch);
    session.Run();
    const tools::Matrix rows = session.Output(ValueOf(model, output));
    all.rows += rows.rows;
    all.width = rows.width;
    all.values.insert(all.values.end(), rows.values.begin(), rows.values.end());
  }
  return all;
}

// ---- Universal Sentence Encoder lite ----

class UseLite : public ::testing::Test {
 protected:
  const std::string directory_ = InShared("models/use-lite");
  const std::string description_ = InSource("tools/convert/examples/use-lite/graph.json");
};

TEST_F(UseLite, ReproducesItsReference) {
  if (Missing(directory_)) GTEST_SKIP();
  const Converted converted(description_, DType::kF32, directory_);
  const Json expected = tools::ReadJson(directory_ + "/expected.json");
  const tools::SafetensorsReader tensors(directory_ + "/expected.safetensors");
  const tools::Tokenizer tokenizer(converted.model);
  size_t traced = 0;
  for (const Json& one : expected["cases"]) {
    const std::string text = one["text"], name = one["name"];
    const tools::Tokens tokens = tokenizer.Encode(text, 0);
    ASSERT_EQ(tokens.ids.size(), one["tokens_used"].get<size_t>()) << name;
    for (size_t i = 0; i < tokens.ids.size(); ++i) EXPECT_EQ(tokens.ids[i], one["input_ids"][i].get<int32_t>()) << name;
    const tools::Batch batch = tools::BatchFromTokens(converted.model, 0, {tokens});
    tools::SessionRequest request;
    // Stored values by name; attention weights are steps.
    std::vector<std::pair<std::string, uint32_t>> kept, tapped;
    for (const auto& [key, tensor] : one["tensors"].items()) {
      if (const auto step = converted.model.FindAttention(0, key)) {
        tapped.push_back({tensor, *step});
        request.taps.push_back(tools::TapOf(*step));
      } else {
        kept.push_back({tensor, ValueOf(converted.model, key)});
        request.keep.push_back(kept.back().second);
      }
    }
    tools::Session session = tools::SessionFor(converted.model, batch, request);
    session.Run();
    for (const auto& [tensor, value] : kept) {
      const std::vector<float> reference = tools::ToFloats(tensors.Get(tensor));
      const tools::Matrix found = session.Output(value);
      ASSERT_EQ(found.values.size(), reference.size()) << tensor;
      // Sums over values of up to 90: the reference's own distance to double precision is 4e-5 inside, 6e-6 for
      // `dense`.
      const bool inner = tensor.find("layers.") != std::string::npos || tensor.find("pooled") != std::string::npos;
      const double tolerance = inner ? 3e-4 : tensor.find("dense") != std::string::npos ? 2e-5 : 1e-5;
      EXPECT_LE(LargestDifference(found.values.data(), reference), tolerance) << tensor;
      ++traced;
    }
    for (size_t i = 0; i < tapped.size(); ++i) {
      const std::vector<float> reference = tools::ToFloats(tensors.Get(tapped[i].first));  // [heads, T, T]
      const fovea_attention_map w = session.AttentionMap(static_cast<uint32_t>(i));
      const size_t length = tokens.ids.size();
      ASSERT_EQ(reference.size(), w.heads * length * length);
      for (uint32_t h = 0; h < w.heads; ++h) {
        for (size_t r = 0; r < length; ++r) {
          for (size_t k = 0; k < length; ++k) {
            ASSERT_NEAR(w.data[(r * w.heads + h) * w.stride + k], reference[(h * length + r) * length + k], 1e-5);
          }
        }
      }
      ++traced;
    }
  }
  EXPECT_GE(traced, 18u);
}

// Weights as integers, and activations as integers row by row: the embedding of every text stays where it was.
TEST_F(UseLite, Int8KeepsEveryReferenceEmbedding) {
  if (Missing(directory_)) GTEST_SKIP();
  // Fitting its weights takes minutes there; smaller models are fitted on every machine.
  if (FewerCases()) GTEST_SKIP() << "takes minutes: only where all cases run";
  const Converted converted(description_, DType::kI8, directory_);
  const Json expected = tools::ReadJson(directory_ + "/expected.json");
  const tools::SafetensorsReader tensors(directory_ + "/expected.safetensors");
  double worst = 1, sum = 0;
  for (const Json& one : expected["cases"]) {
    const std::string text = one["text"], name = one["name"];
    const std::vector<float> reference = tools::ToFloats(tensors.Get(name + ".sentence_embedding"));
    const tools::Matrix found = RunTexts(converted.model, {text}, "sentence_embedding");
    const double cosine = Cosine(found.Row(0), reference.data(), reference.size());
    EXPECT_GE(cosine, 0.999) << name;
    worst = std::min(worst, cosine);
    sum += cosine;
  }
  ASSERT_EQ(expected["cases"].size(), 18u);
  std::cout << "int8: lowest cosine " << worst << ", mean " << sum / 18 << "\n";
}

double Pearson(const std::vector<double>& x, const std::vector<double>& y) {
  double mx = 0, my = 0, xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mx += x[i] / static_cast<double>(x.size());
    my += y[i] / static_cast<double>(y.size());
  }
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mx) * (y[i] - my);
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
  }
  return xy / std::sqrt(xx * yy);
}

TEST_F(UseLite, Int8LosesLittleCorrelation) {
  const std::string data = InShared("datasets/stsb-captions/");
  if (Missing(directory_) || Missing(data)) GTEST_SKIP();
  // 3000 sentences through two models take minutes there; that other tests prove the arithmetic equal is enough.
  if (FewerCases()) GTEST_SKIP() << "takes minutes: only where all cases run";
  const Converted f32(description_, DType::kF32, directory_), int8(description_, DType::kI8, directory_);
  const std::pair<const char*, double> sets[] = {{"dev.tsv", 0.8463}, {"test.tsv", 0.8539}};
  for (const auto& [file, reference] : sets) {
    std::ifstream lines(data + file);
    std::string line;
    std::getline(lines, line);
    std::vector<double> scores;
    std::vector<std::string> texts;
    while (std::getline(lines, line)) {
      const size_t a = line.find('\t'), b = line.find('\t', a + 1), c = line.find('\t', b + 1);
      scores.push_back(std::stod(line.substr(0, a)));
      texts.push_back(line.substr(a + 1, b - a - 1));
      texts.push_back(line.substr(b + 1, c - b - 1));
    }
    ASSERT_EQ(scores.size(), 375u);
    double correlation[2];
    for (int i = 0; i < 2; ++i) {
      const tools::Matrix rows = RunTexts(i == 0 ? f32.model : int8.model, texts, "sentence_embedding");
      std::vector<double> cosines;
      for (uint32_t r = 0; r < rows.rows; r += 2) cosines.push_back(Cosine(rows.Row(r), rows.Row(r + 1), rows.width));
      correlation[i] = Pearson(cosines, scores);
    }
    std::cout << file << ": Pearson f32 " << correlation[0] << ", int8 " << correlation[1] << "\n";
    EXPECT_NEAR(correlation[0], reference, 5e-5);
    EXPECT_GE(correlation[1], correlation[0] - 0.003);
  }
}

// ---- The model of this repository ----

class PackageSection : public ::testing::Test {
 protected:
  const std::string directory_ = InSource("tools/train/package-section");
};

TEST_F(PackageSection, F32EqualsPyTorchAndInt8IsClose) {
  const tools::SafetensorsReader golden(directory_ + "/golden.safetensors");
  tools::CheckOptions options;
  for (const DType type : {DType::kF32, DType::kI8}) {
    const Converted converted(directory_, type);
    if (type == DType::kI8) options.cosine = 0.999;
    const std::vector<tools::CheckLine> lines = tools::CheckGolden(converted.model, golden.tensors(), options);
    EXPECT_GE(lines.size(), 9u);
    for (const tools::CheckLine& line : lines) EXPECT_TRUE(line.ok) << tools::LineText(line);
    // Behind the pooling integers would save nothing worth their error.
    for (uint32_t i = 0; i < converted.model.Info().tensor_count; ++i) {
      const fovea_tensor_info tensor = converted.model.Tensor(i);
      if (std::string(tensor.name) != "classifier.weight") continue;
      EXPECT_EQ(tensor.type, static_cast<uint32_t>(type == DType::kF32 ? FOVEA_TYPE_F32 : FOVEA_TYPE_F16));
    }
  }
}

TEST_F(PackageSection, Int8ClassifiesHeldOutTexts) {
  const Converted converted(directory_, DType::kI8);
  const tools::Model& model = converted.model;
  const auto rows = ReadHeldOut(directory_ + "/eval.tsv", FewerCases() ? 5 : 1);
  ASSERT_EQ(rows.size(), FewerCases() ? 80u : 400u);
  std::vector<std::string> texts;
  for (const std::vector<std::string>& row : rows) texts.push_back(row.at(1));
  const size_t right = CountRight(model, RunTexts(model, texts, "logits"), rows);
  std::cout << right << " of " << texts.size() << " held-out descriptions are right\n";
  EXPECT_GE(right * 400, texts.size() * 323);  // 327 of 400 in f32 with PyTorch
}

// ---- stories260K, a Llama ----

class Stories : public ::testing::Test {
 protected:
  std::vector<tools::Generation> Generate(const Converted& converted, tools::GenerationRequest request) const {
    std::vector<std::vector<int32_t>> prompts;
    for (const Json& one : expected_["cases"]) prompts.push_back(one["prompt_ids"].get<std::vector<int32_t>>());
    request.max_tokens = 256;
    request.stops = false;
    return tools::Generate(converted.model, prompts, request);
  }
  // How many of the first case's 256 tokens are the reference's before one is not.
  size_t Equal(const tools::Generation& made) const {
    const auto expected = expected_["cases"][0]["greedy_ids"].get<std::vector<int32_t>>();
    const auto [a, b] = std::mismatch(expected.begin(), expected.end(), made.tokens.begin());
    return static_cast<size_t>(a - expected.begin());
  }

  const std::string directory_ = InShared("models/stories260K");
  const Json expected_ = Missing(directory_) ? Json() : tools::ReadJson(directory_ + "/expected.json");
};

// All cases in one ragged batch, by one worker and by several: 256 tokens from nothing, 24 after each prompt.
TEST_F(Stories, TokensAreThoseOfTheReference) {
  if (Missing(directory_)) GTEST_SKIP();
  const Converted converted(directory_, DType::kF32);
  for (const uint32_t workers : {1u, 3u}) {
    tools::GenerationRequest request;
    request.workers = workers;
    const std::vector<tools::Generation> made = Generate(converted, request);
    ASSERT_EQ(made.size(), 8u);
    for (size_t i = 0; i < made.size(); ++i) {
      const auto expected = expected_["cases"][i]["greedy_ids"].get<std::vector<int32_t>>();
      ASSERT_GE(made[i].tokens.size(), expected.size());
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), made[i].tokens.begin())) << "case " << i;
    }
  }
}

// Perplexity of 256 tokens that the model itself wrote, so it is low; the test limits how much shorter weights and keys
// add.
TEST_F(Stories, PerplexityOfItsOwnText) {
  if (Missing(directory_)) GTEST_SKIP();
  ScoredText text;
  text.ids = expected_["cases"][0]["prompt_ids"].get<std::vector<int32_t>>();
  text.given = text.ids.size();
  for (const int32_t id : expected_["cases"][0]["greedy_ids"]) text.ids.push_back(id);
  const std::tuple<DType, DType, double> cases[] = {{DType::kF32, DType::kF32, 1.0001},
                                                    {DType::kI8, DType::kF32, 1.02},
                                                    {DType::kI8, DType::kF16, 1.02},
                                                    {DType::kI8, DType::kI8, 1.02},
                                                    {DType::kI4, DType::kF16, 1.2}};
  double exact = 0;
  for (const auto& [weights, keys, at_most] : cases) {
    tools::ConvertOptions options = Converted::OptionsOf(directory_, weights);
    options.keys = keys;
    const double found = Perplexity(Converted(options).model, {text});
    if (exact == 0) exact = found;
    std::cout << "weights " << NameOf(weights) << ", keys " << NameOf(keys) << ": perplexity " << found << "\n";
    EXPECT_LE(found, at_most * exact);
  }
}

TEST_F(Stories, RowsKeptInFewerBits) {
  if (Missing(directory_)) GTEST_SKIP();
  const Converted converted(directory_, DType::kF32);
  const std::vector<std::pair<uint32_t, size_t>> types = {
      {FOVEA_TYPE_F16, 256}, {FOVEA_TYPE_BF16, 256}, {FOVEA_TYPE_I8, 100}};
  for (const auto& [type, equal] : types) {
    tools::GenerationRequest request;
    request.cache_type = type;
    EXPECT_GE(Equal(Generate(converted, request)[0]), equal) << "type " << type;
  }
}

}  // namespace
}  // namespace fovea::test
