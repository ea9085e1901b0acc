// Prompts, similarities and token embeddings of sentence-transformers, from the command line.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tests/tools/tiny_bert.h"
#include "tools/base/mapped_file.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr char kTokenizer[] = R"({"model": {"type": "WordPiece", "unk_token": "[UNK]",
    "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
    "vocab": {"[UNK]": 0, "cat": 1, "soup": 2, "query": 3, "ask": 4}}, "pre_tokenizer": {"type": "WhitespaceSplit"}})";

class Directory {
 public:
  explicit Directory(const std::string& name) : path_(Temporary(name)) {
    fs::remove_all(path_);
    fs::create_directories(path_);
    Write("tokenizer.json", kTokenizer);
  }
  void Golden(const std::string& golden) const {
    for (const char* file : {"config.json", "model.safetensors"})
      fs::copy_file(InData("hf/" + golden + "/" + file), path_ + "/" + file);
  }
  void Write(const std::string& file, const std::string& text) const {
    fs::create_directories(fs::path(path_ + "/" + file).parent_path());
    tools::WriteFile(path_ + "/" + file, text.data(), text.size());
  }
  const std::string& path() const { return path_; }
  std::string Convert() const {
    const CommandResult made = Fovea({"convert", path_, "-o", path_ + ".fovea"});
    EXPECT_EQ(made.status, 0) << made.err;
    return path_ + ".fovea";
  }

 private:
  const std::string path_;
};

const float kTable[5][2] = {{9, 9}, {1, 2}, {3, -1}, {-2, 5}, {0.5f, 0.25f}};

// The mean of the table's rows for these ids.
std::pair<double, double> Mean(const std::vector<int>& ids) {
  double x = 0, y = 0;
  for (const int id : ids) {
    x += kTable[id][0] / static_cast<double>(ids.size());
    y += kTable[id][1] / static_cast<double>(ids.size());
  }
  return {x, y};
}

class Prompts : public testing::Test {
 protected:
  static std::string Blob(const std::string& settings) {
    const Directory directory("static");
    tools::SafetensorsWriter writer;
    writer.AddFloats("embedding.weight", {5, 2}, &kTable[0][0]);
    writer.Write(directory.path() + "/model.safetensors");
    directory.Write("modules.json", R"([{"path": "", "type": "sentence_transformers.models.StaticEmbedding"}])");
    directory.Write("config_sentence_transformers.json", settings);
    return directory.Convert();
  }
  static void ExpectEmbedding(const json& entry, const std::vector<int>& ids) {
    const auto [x, y] = Mean(ids);
    EXPECT_NEAR(entry["embedding"][0].get<double>(), x, 1e-6);
    EXPECT_NEAR(entry["embedding"][1].get<double>(), y, 1e-6);
  }
};

TEST_F(Prompts, AreInFrontOfTexts) {
  const std::string blob = Blob(
      R"({"prompts": {"question": "query ", "order": "ask soup ", "none": ""}, "default_prompt_name": "question"})");
  const CommandResult ran = Fovea({"run", blob, "--text", "cat", "--json"});
  EXPECT_NE(ran.err.find("prompt question is in front of each text: 'query '"), std::string::npos) << ran.err;
  const json entry = json::parse(ran.out)[0];
  EXPECT_EQ(entry["text"], "cat");
  EXPECT_EQ(entry["prompt"], "question");
  ExpectEmbedding(entry, {3, 1});
  ExpectEmbedding(FoveaJson({"run", blob, "--text", "cat", "--prompt-name", "order", "--json"})[0], {4, 2, 1});
  const std::string error = FoveaError({"run", blob, "--text", "cat", "--prompt-name", "answer"});
  EXPECT_NE(error.find("has no prompt 'answer'; its prompts are: "), std::string::npos) << error;
  EXPECT_NE(error.find("order"), std::string::npos) << error;
  const std::string listed = Fovea({"inspect", blob}).out;
  EXPECT_NE(listed.find("prompt.order"), std::string::npos) << listed;
  // eval: two texts whose embeddings are parallel only with the prompt in front of both.
  const Directory samples("samples");
  samples.Write("pairs.tsv", "cat\tsoup\t1\ncat\tcat\t0.5\nsoup\tquery\t0\n");
  const CommandResult judged =
      Fovea({"eval", blob, "--pairs", samples.path() + "/pairs.tsv", "--prompt-name", "order"});
  EXPECT_NE(judged.err.find("prompt order is in front"), std::string::npos) << judged.err;

  const std::string plain = Blob("{}");
  EXPECT_EQ(Fovea({"run", plain, "--text", "cat"}).err, "");
  EXPECT_NE(FoveaError({"run", plain, "--text", "cat", "--prompt-name", "order"}).find("has no prompts"),
            std::string::npos);
  EXPECT_NE(FoveaError({"run", TinyBlob("sequence"), "--text", "cat", "--prompt-name", "order"})
                .find("makes no embeddings; leave out --prompt-name"),
            std::string::npos);
}

// include_prompt false: an embedding of the text's tokens alone, which is refused for prompts.
TEST_F(Prompts, ThatDoNotCountAreRefused) {
  const Directory directory("unpooled");
  directory.Golden("bert");
  directory.Write("modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
                                      {"path": "1", "type": "sentence_transformers.models.Pooling"}])");
  directory.Write("1/config.json", R"({"pooling_mode_mean_tokens": true, "include_prompt": false})");
  directory.Write("config_sentence_transformers.json",
                  R"({"prompts": {"query": "query "}, "default_prompt_name": "query"})");
  const std::string blob = directory.Convert();
  const std::string error = FoveaError({"run", blob, "--text", "cat"});
  EXPECT_NE(error.find("prompt query: the original leaves its tokens out of the embedding"), std::string::npos)
      << error;
  EXPECT_EQ(FoveaError({"similarity", blob, "--text", "cat", "--text", "soup", "--prompt-name", "query"}), error);
  const CommandResult plain = Fovea({"run", blob, "--text", "cat", "--prompt-name", "none"});
  EXPECT_EQ(plain.status, 0) << plain.err;
}

TEST_F(Prompts, SimilarityIsTheModelsOwn) {
  const auto [ax, ay] = Mean({3, 1});
  const auto [bx, by] = Mean({3, 2});
  const struct {
    const char* name;
    const char* key;
    double value;
  } cases[] = {
      {"cosine", "cosines", (ax * bx + ay * by) / std::hypot(ax, ay) / std::hypot(bx, by)},
      {"dot", "dot_products", ax * bx + ay * by},
      {"euclidean", "negative_euclidean_distances", -std::hypot(ax - bx, ay - by)},
      {"manhattan", "negative_manhattan_distances", -std::abs(ax - bx) - std::abs(ay - by)},
  };
  for (const auto& one : cases) {
    const std::string stated = Blob(
        json({{"prompts", {{"q", "query "}}}, {"default_prompt_name", "q"}, {"similarity_fn_name", one.name}}).dump());
    const json found = FoveaJson({"similarity", stated, "--text", "cat", "--text", "soup", "--json"});
    EXPECT_NEAR(found[one.key][0][1].get<double>(), one.value, 1e-5) << one.name;
    EXPECT_EQ(found["texts"][0], "cat");
    for (const auto& other : cases) {
      const json asked =
          FoveaJson({"similarity", stated, "--text", "cat", "--text", "soup", "--measure", other.name, "--json"});
      EXPECT_NEAR(asked[other.key][0][1].get<double>(), other.value, 1e-5) << other.name;
    }
  }
}

// An output of the program for ids.
std::vector<float> OutputOf(const std::string& blob, const std::vector<int64_t>& ids, const std::string& name) {
  tools::SafetensorsWriter writer;
  writer.AddIntegers("input_ids", {1, ids.size()}, ids.data());
  const std::string in = Temporary("in.safetensors"), out = Temporary("out.safetensors");
  writer.Write(in);
  const CommandResult ran = Fovea({"run", blob, "--input", in, "--output", out});
  EXPECT_EQ(ran.status, 0) << ran.err;
  return tools::ToFloats(tools::SafetensorsReader(out).Get(name));
}

TEST_F(Prompts, LateInteractionSumsTheLargestProducts) {
  const Directory directory("late");
  directory.Golden("bert");
  directory.Write("modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
                                      {"path": "1", "type": "pylate.models.Dense.Dense"}])");
  directory.Write("1/config.json", R"({"bias": false, "activation_function": "torch.nn.modules.linear.Identity"})");
  std::vector<float> weight(4 * 32);
  for (size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i * 7 % 13) / 6 - 1;
  tools::SafetensorsWriter writer;
  writer.AddFloats("linear.weight", {4, 32}, weight.data());
  writer.Write(directory.path() + "/1/model.safetensors");
  const std::string blob = directory.Convert();
  const std::vector<float> query = OutputOf(blob, {1, 3}, "token_embeddings");
  const std::vector<float> document = OutputOf(blob, {2, 4, 1}, "token_embeddings");
  double sum = 0;
  for (size_t i = 0; i < 2; ++i) {
    double most = -1e9;
    for (size_t j = 0; j < 3; ++j) {
      double product = 0;
      for (size_t k = 0; k < 4; ++k) product += double{query[i * 4 + k]} * document[j * 4 + k];
      most = std::max(most, product);
    }
    sum += most;
  }
  const json found = FoveaJson({"similarity", blob, "--text", "cat query", "--text", "soup ask cat", "--json"});
  EXPECT_NEAR(found["sums_of_largest_dot_products"][0][1].get<double>(), sum, 1e-5);
  EXPECT_NEAR(found["sums_of_largest_dot_products"][0][0].get<double>(), 2, 1e-5);
  const json rows = FoveaJson({"run", blob, "--text", "cat query", "--json"})[0]["token_embeddings"];
  ASSERT_EQ(rows.size(), 2u);
  for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(rows[i / 4][i % 4].get<double>(), query[i], 1e-6);
}

// The weight of each word, by the scores of a text's tokens.
std::vector<double> Weights(const std::vector<float>& scores, size_t tokens, bool sums, bool twice) {
  const size_t words = scores.size() / tokens;
  std::vector<double> weights(words);
  for (size_t i = 0; i < scores.size(); ++i) {
    double weight = std::log1p(std::max(0.0, double{scores[i]}));
    if (twice) weight = std::log1p(weight);
    double& word = weights[i % words];
    word = sums ? word + weight : std::max(word, weight);
  }
  return weights;
}

TEST_F(Prompts, WordWeightsFollowTheModulesRule) {
  for (const bool sums : {false, true}) {
    for (const bool twice : {false, true}) {
      const Directory directory("sparse");
      directory.Golden("bert-mlm");
      const std::string package = "sentence_transformers.sparse_encoder.models.";
      directory.Write("modules.json", json({{{"path", ""}, {"type", package + "MLMTransformer"}},
                                            {{"path", "1"}, {"type", package + "SpladePooling"}}})
                                          .dump());
      directory.Write("1/config.json", json({{"pooling_strategy", sums ? "sum" : "max"},
                                             {"activation_function", twice ? "log1p_relu" : "relu"}})
                                           .dump());
      const std::string blob = directory.Convert();
      const std::vector<double> one = Weights(OutputOf(blob, {1, 3, 2}, "logits"), 3, sums, twice);
      const std::vector<double> two = Weights(OutputOf(blob, {4, 2}, "logits"), 2, sums, twice);
      double product = 0;
      for (size_t i = 0; i < one.size(); ++i) product += one[i] * two[i];
      const json found = FoveaJson({"similarity", blob, "--text", "cat query soup", "--text", "ask soup", "--json"});
      EXPECT_GT(product, 0.01);
      EXPECT_NEAR(found["dot_products"][0][1].get<double>(), product, 1e-5 * product);
    }
  }
}

}  // namespace
}  // namespace fovea::test
