// Static embeddings (StaticEmbedding, model2vec): means of a table's rows.
#include <cmath>

#include "tests/convert/architecture_support.h"
#include "tests/convert/graph_support.h"
#include "tools/convert/loaded_blob.h"
#include "tools/text/text_inputs.h"
#include "tools/text/tokenizer.h"

namespace fovea::tools {
namespace {

constexpr size_t kWidth = 3, kWords = 5;

class StaticEmbedding : public Architecture {
 protected:
  void SetUp() override {
    Copy("bert");
    std::filesystem::remove(directory_ / "config.json");
    std::filesystem::remove(directory_ / "model.safetensors");
    Write("tokenizer.json", R"({"model": {"type": "WordPiece", "unk_token": "[UNK]",
          "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
          "vocab": {"[UNK]": 0, "cats": 1, "sleep": 2, "[CLS]": 3, "[SEP]": 4}},
        "added_tokens": [{"id": 3, "content": "[CLS]", "special": true},
                         {"id": 4, "content": "[SEP]", "special": true}],
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 4], "cls": ["[CLS]", 3]}})");
    for (size_t i = 0; i < kWords * kWidth; ++i) table_.push_back(static_cast<float>(i * 7 % 11) / 4 - 1);
  }
  void Save(const std::string& name, const std::function<void(SafetensorsWriter&)>& more = {}) {
    SafetensorsWriter writer;
    writer.AddFloats(name, {table_.size() / kWidth, kWidth}, table_.data());
    if (more) more(writer);
    std::filesystem::remove(directory_ / "model.safetensors");
    writer.Write(directory_ / "model.safetensors");
  }
  void ExpectMean(const std::vector<double>& ids, const std::vector<std::vector<double>>& rows, bool unit = false) {
    const std::vector<float> found = Embedding(ids);
    ASSERT_EQ(found.size(), kWidth);
    std::vector<double> mean(kWidth);
    double squares = 0;
    for (size_t j = 0; j < kWidth; ++j) {
      for (const std::vector<double>& row : rows) mean[j] += row[j] / static_cast<double>(rows.size());
      squares += mean[j] * mean[j];
    }
    for (size_t j = 0; j < kWidth; ++j) EXPECT_NEAR(found[j], mean[j] / (unit ? std::sqrt(squares) : 1), 1e-6);
  }
  // By the runtime, as the reference has no selected rows.
  std::vector<float> Embedding(const std::vector<double>& ids) {
    const LoadedBlob loaded(Blob(), "the model");
    Tokens tokens;
    tokens.ids.assign(ids.begin(), ids.end());
    tokens.types.assign(ids.size(), 0);
    Session session = SessionFor(loaded.model, BatchFromTokens(loaded.model, 0, {tokens}));
    session.Run();
    return session.Output(*loaded.model.FindValue(0, "sentence_embedding")).values;
  }
  std::vector<double> RowOf(size_t row, double factor = 1) const {
    std::vector<double> numbers;
    for (size_t j = 0; j < kWidth; ++j) numbers.push_back(table_[row * kWidth + j] * factor);
    return numbers;
  }

  std::vector<float> table_;
};

TEST_F(StaticEmbedding, IsTheMeanOfRowsWithoutSpecialTokens) {
  Write("modules.json", R"([{"path": "", "type": "sentence_transformers.models.StaticEmbedding"}])");
  for (const char* name : {"embedding.weight", "embeddings"}) {
    Save(name);
    ExpectMean({1, 2, 0, 1}, {RowOf(1), RowOf(2), RowOf(0), RowOf(1)});
  }
  const LoadedBlob loaded(Blob(), "the model");
  const Tokens tokens = Tokenizer(loaded.model).EncodeWhole("cats sleep");
  EXPECT_EQ(tokens.ids, (std::vector<int32_t>{1, 2}));
  Write("modules.json", R"([{"path": "", "type": "sentence_transformers.models.StaticEmbedding"},
      {"path": "1", "type": "sentence_transformers.models.Normalize"}])");
  ExpectMean({1, 2}, {RowOf(1), RowOf(2)}, true);
}

TEST_F(StaticEmbedding, Model2VecLeavesUnknownWordsOut) {
  Save("embeddings");
  Write("config.json", R"({"model_type": "model2vec", "normalize": false})");
  ExpectMean({1, 0, 2, 0}, {RowOf(1), RowOf(2)});
  Write("config.json", R"({"model_type": "model2vec", "normalize": true})");
  ExpectMean({1, 0, 2, 2}, {RowOf(1), RowOf(2), RowOf(2)}, true);
  // No word is known: zeros, as the original has.
  for (const float x : Embedding({0, 0})) EXPECT_EQ(x, 0);
}

// A quantized vocabulary: tokens share rows and have weights.
TEST_F(StaticEmbedding, AppliesMappingAndWeights) {
  Write("config.json", R"({"model_type": "model2vec"})");
  const int64_t mapping[] = {4, 2, 2, 0, 1};
  const float weights[] = {1, 0.5f, 2, 1, 1};
  Save("embeddings", [&](SafetensorsWriter& writer) {
    writer.AddIntegers("mapping", {5}, mapping);
    writer.AddFloats("weights", {5}, weights);
  });
  ExpectMean({1, 2, 4}, {RowOf(2, 0.5), RowOf(2, 2), RowOf(1)});
}

TEST_F(StaticEmbedding, RefusesDamage) {
  Write("config.json", R"({"model_type": "model2vec"})");
  const auto refusal = [&] { return RefusalOf([&] { Blob(); }); };
  for (const int64_t row : {int64_t{5}, int64_t{-1}, int64_t{1} << 40}) {
    const int64_t mapping[] = {0, 1, 2, 3, row};
    Save("embeddings", [&](SafetensorsWriter& writer) { writer.AddIntegers("mapping", {5}, mapping); });
    EXPECT_NE(refusal().find("is not a row of the 5 rows of the table"), std::string::npos) << refusal();
  }
  const float weights[] = {1, 1};
  Save("embeddings", [&](SafetensorsWriter& writer) { writer.AddFloats("weights", {2}, weights); });
  EXPECT_NE(refusal().find("tensor weights has 2 numbers for 5 tokens"), std::string::npos) << refusal();
  Save("vectors");
  EXPECT_NE(refusal().find("has no tensor embedding.weight or embeddings"), std::string::npos) << refusal();
  Save("embeddings");
  Write("config.json", R"({"model_type": "model2vec", "normalize": "yes"})");
  EXPECT_NE(refusal().find("normalize"), std::string::npos) << refusal();
  Write("config.json", R"({"model_type": "model2vec"})");
  Write("tokenizer.json", R"({"model": {"unk_token": "a", "vocab": {"a": -7}}})");
  EXPECT_NE(refusal(), "");
  std::filesystem::remove(directory_ / "tokenizer.json");
  EXPECT_NE(refusal().find("has no tokenizer.json"), std::string::npos) << refusal();
}

}  // namespace
}  // namespace fovea::tools
