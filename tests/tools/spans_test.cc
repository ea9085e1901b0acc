// Tags merged to spans, embeddings that are cut and weights of words, through the commands.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tests/support/parsed_json.h"
#include "tests/support/paths.h"
#include "tests/tools/tiny_bert.h"
#include "tools/base/mapped_file.h"
#include "tools/eval/metrics.h"
#include "tools/prediction/prediction.h"
#include "tools/prediction/word_weights.h"
#include "tools/text/text_inputs.h"

namespace fovea::test {
namespace {

using nlohmann::json;

// The tiny model's labels are plain: neighbours of one label are a span, of which the text is cut out.
TEST(Spans, OfATextThatIsRun) {
  const std::string text = "A cats harbour,  the SOUP in a cat";
  const json tags = FoveaJson({"run", TinyBlob("token"), "--text", text, "--tags", "tokens", "--json"})[0]["tags"];
  json expected = json::array();
  std::vector<double> sums;
  for (size_t i = 0; i < tags.size(); ++i) {
    if (i == 0 || tags[i]["label"] != tags[i - 1]["label"]) {
      expected.push_back({{"label", tags[i]["label"]}, {"begin", tags[i]["begin"]}, {"n", 0}, {"sum", 0.0}});
    }
    json& span = expected.back();
    span["end"] = tags[i]["end"];
    span["n"] = span["n"].get<int>() + 1;
    span["sum"] = span["sum"].get<double>() + tags[i]["probability"].get<double>();
  }
  const json spans = FoveaJson({"run", TinyBlob("token"), "--text", text, "--json"})[0]["spans"];
  ASSERT_EQ(spans.size(), expected.size());
  for (size_t i = 0; i < spans.size(); ++i) {
    const auto begin = expected[i]["begin"].get<size_t>(), end = expected[i]["end"].get<size_t>();
    EXPECT_EQ(spans[i]["label"], expected[i]["label"]);
    EXPECT_EQ(spans[i]["text"], text.substr(begin, end - begin));
    EXPECT_NEAR(spans[i]["probability"].get<double>(), expected[i]["sum"].get<double>() / expected[i]["n"].get<int>(),
                1e-7);
  }
  // "cats" is one word of two tokens: none of the other ways parts it.
  for (const char* way : {"first", "average", "max"}) {
    const json told = FoveaJson({"run", TinyBlob("token"), "--text", text, "--aggregate", way, "--json"});
    for (const json& span : told[0]["spans"]) {
      EXPECT_NE(span["begin"], 5) << way;
      EXPECT_NE(span["end"], 5) << way;
    }
  }
  EXPECT_NE(Fovea({"run", TinyBlob("token"), "--text", text}).out.find("harbour"), std::string::npos);
}

TEST(Dimensions, AreCutAndOfLengthOne) {
  const std::string& blob = TinyBlob("base");
  const std::vector<std::string> texts = {"a cat", "the soup in the harbour"};
  std::vector<std::vector<double>> cut;
  for (const std::string& text : texts) {
    const json whole = FoveaJson({"run", blob, "--text", text, "--json"})[0];
    const json few = FoveaJson({"run", blob, "--text", text, "--dimensions", "3", "--json"})[0];
    std::vector<double> numbers = whole["embedding"].get<std::vector<double>>();
    numbers.resize(3);
    const double length = std::hypot(numbers[0], numbers[1], numbers[2]);
    ASSERT_EQ(few["embedding"].size(), 3u);
    EXPECT_NEAR(few["norm"].get<double>(), 1, 1e-6);
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(few["embedding"][i].get<double>(), numbers[i] /= length, 1e-6);
    cut.push_back(numbers);
  }
  const double cosine = cut[0][0] * cut[1][0] + cut[0][1] * cut[1][1] + cut[0][2] * cut[1][2];
  const json matrix =
      FoveaJson({"similarity", blob, "--text", texts[0], "--text", texts[1], "--dimensions", "3", "--json"});
  EXPECT_NEAR(matrix["cosines"][0][1].get<double>(), cosine, 1e-6);
  const std::string file = Temporary("cut.tsv");
  const std::string lines = texts[0] + "\t" + texts[1] + "\t1\na\tsoup\t2\ncat\tin\t3\n";
  tools::WriteFile(file, lines.data(), lines.size());
  const json all = FoveaJson({"eval", blob, "--pairs", file, "--json"});
  const json few = FoveaJson({"eval", blob, "--pairs", file, "--dimensions", "3", "--json"});
  EXPECT_NE(all["models"][0]["pearson"], few["models"][0]["pearson"]);
  EXPECT_NE(FoveaError({"run", blob, "--text", "a", "--dimensions", "9"}).find("have only 8 dimensions, not 9"),
            std::string::npos);
  EXPECT_NE(FoveaError({"run", TinyBlob("sequence"), "--text", "a", "--dimensions", "2"}).find("no embeddings"),
            std::string::npos);
}

// The golden masked language model of BERT, with another vocabulary.
const std::string& Guesser() {
  static std::string blob;
  if (!blob.empty()) return blob;
  const std::string folder = Temporary("guesser");
  std::filesystem::create_directories(folder);
  for (const char* file : {"config.json", "model.safetensors"})
    std::filesystem::copy_file(InData(std::string("hf/bert-mlm/") + file), folder + "/" + file);
  std::string words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  const json config = ParsedJson(tools::ReadFile(folder + "/config.json"));
  for (int i = 5; i < config["vocab_size"].get<int>(); ++i) words += "w" + std::to_string(i) + "\n";
  tools::WriteFile(folder + "/vocab.txt", words.data(), words.size());
  blob = Temporary("guesser.fovea");
  const CommandResult made = Fovea({"convert", folder, "-o", blob, "--compare", "none"});
  EXPECT_EQ(made.status, 0) << made.err;
  return blob;
}

// max over all tokens, [CLS] and [SEP] too, of log(1 + max(0, score)), from the scores of a text alone.
std::vector<double> PlainWeights(const tools::Model& model, const tools::Tokens& tokens, size_t count) {
  tools::Session session = tools::SessionFor(model, tools::BatchFromTokens(model, 0, {tokens}));
  session.Run();
  const tools::Matrix scores = tools::ReadLogits(model, session);
  std::vector<double> weights(scores.width);
  for (uint32_t word = 0; word < scores.width; ++word) {
    for (uint32_t i = 0; i < count; ++i)
      weights[word] = std::max(weights[word], std::log(1 + std::max(0.0, double{scores.Row(i)[word]})));
  }
  return weights;
}

TEST(Sparse, WeightsOfWords) {
  const tools::Model model(Guesser(), {});
  const tools::Tokenizer tokenizer(model);
  const std::vector<std::string> texts = {"w7 w20 w9", "w30", "w11 w12 w13 w14 w15 w16"};
  std::vector<std::string> arguments = {"run", Guesser(), "--sparse", "--top", "1000", "--json"};
  for (const std::string& text : texts) arguments.insert(arguments.end(), {"--text", text});
  const json told = FoveaJson(arguments);
  std::vector<std::vector<double>> all;
  for (size_t i = 0; i < texts.size(); ++i) {
    const tools::Tokens tokens = tokenizer.Encode(texts[i], 0);
    all.push_back(PlainWeights(model, tokens, tokens.ids.size()));
    const auto nonzero = std::count_if(all[i].begin(), all[i].end(), [](double weight) { return weight > 0; });
    const json& sparse = told[i]["sparse"];
    EXPECT_GT(nonzero, 0);
    EXPECT_EQ(sparse["nonzero"], nonzero);
    ASSERT_EQ(sparse["words"].size(), static_cast<size_t>(nonzero));
    double before = 1e9;
    for (const json& word : sparse["words"]) {
      const double weight = word["weight"];
      EXPECT_NEAR(weight, all[i][word["id"].get<size_t>()], 1e-5);
      EXPECT_LE(weight, before);
      before = weight;
    }
  }
  EXPECT_EQ(
      FoveaJson({"run", Guesser(), "--sparse", "--top", "2", "--text", "w7", "--json"})[0]["sparse"]["words"].size(),
      2u);

  const auto dot = [&](size_t a, size_t b) {
    return std::inner_product(all[a].begin(), all[a].end(), all[b].begin(), 0.0);
  };
  const json matrix =
      FoveaJson({"similarity", Guesser(), "--text", texts[0], "--text", texts[1], "--json"})["dot_products"];
  EXPECT_NEAR(matrix[0][1].get<double>(), dot(0, 1), 1e-4 * dot(0, 1));
  EXPECT_NEAR(matrix[0][0].get<double>(), dot(0, 0), 1e-4 * dot(0, 0));
  const std::string file = Temporary("sparse.tsv");
  const std::string lines = texts[0] + "\t" + texts[1] + "\t1\n" + texts[0] + "\t" + texts[2] + "\t5\n" + texts[1] +
                            "\t" + texts[2] + "\t2\n";
  tools::WriteFile(file, lines.data(), lines.size());
  const json pairs = FoveaJson({"eval", Guesser(), "--compare", Guesser(), "--pairs", file, "--json"});
  EXPECT_NEAR(pairs["models"][0]["pearson"].get<double>(), tools::Pearson({dot(0, 1), dot(0, 2), dot(1, 2)}, {1, 5, 2}),
              1e-3);
  EXPECT_EQ(pairs["agreement"]["outputs"]["rows"], 6);
  EXPECT_NE(Fovea({"run", Guesser(), "--sparse", "--text", "w7"}).out.find("words have a weight"), std::string::npos);
  EXPECT_NE(FoveaError({"run", TinyBlob("base"), "--sparse", "--text", "a"}).find("is not a masked language model"),
            std::string::npos);
}

TEST(Sparse, PaddingHasNoPart) {
  const tools::Model model(Guesser(), {});
  tools::Tokens tokens = tools::Tokenizer(model).Encode("w8 w9", 0);
  const size_t count = tokens.ids.size();
  for (int i = 0; i < 5; ++i) {
    tokens.ids.push_back(0), tokens.types.push_back(0), tokens.special.push_back(1);
    tokens.begin.push_back(5), tokens.end.push_back(5);
  }
  const std::vector<double> plain = PlainWeights(model, tokens, count);
  EXPECT_NE(plain, PlainWeights(model, tokens, count + 5));
  tools::Session session = tools::SessionFor(model, tools::BatchFromTokens(model, 0, {tokens}));
  session.Run();
  const tools::Matrix weights = tools::WordWeights(model, session, {tokens});
  ASSERT_EQ(weights.values.size(), plain.size());
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(weights.values[i], plain[i], 1e-5);
}

}  // namespace
}  // namespace fovea::test
