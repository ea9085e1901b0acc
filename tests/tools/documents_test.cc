// The fovea command on documents: classes, and the sentences and words that explain them.
#include <gtest/gtest.h>
#include <math.h>
#include <stdio.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/support/document_model.h"
#include "tests/tools/tiny_bert.h"
#include "tools/base/mapped_file.h"
#include "tools/model/session.h"
#include "tools/text/text_inputs.h"

namespace fovea::test {
namespace {

using nlohmann::json;

const char kText[] = "The cats like soup. A cat sleeps,\nin the harbour! Soup?";

// The converted model; `explain_tokens`: metadata, empty for none.
std::string DocumentBlob(const std::string& explain_tokens) {
  const std::string path = Temporary("documents-" + explain_tokens + ".fovea");
  const std::string vocabulary =
      "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\ncat\n##s\nsoup\nin\nthe\nharbour\n.\n,\n!\n?"
      "\nlike\nsleeps\nb\nc\nd\ne\nf\ng\n";
  tools::WriteFile(Temporary("vocab.txt"), vocabulary.data(), vocabulary.size());
  std::string folder = Temporary("vocab.txt");
  folder.resize(folder.rfind('/'));
  DocumentModel model({}, true, folder);
  model.json()["metadata"].erase("explain.tokens");
  if (!explain_tokens.empty()) model.json()["metadata"]["explain.tokens"] = explain_tokens;
  const std::vector<uint8_t> blob = model.Blob();
  tools::WriteFile(path, blob.data(), blob.size());
  return path;
}
const std::string& Blob() {
  static const std::string path = DocumentBlob("weigh.tokens");
  return path;
}

// The step's expected results, from kept values, in double: the softmax of q . k / sqrt(width) within each segment.
struct Kept {
  explicit Kept(const std::string& text) : model(Blob(), tools::Model::Options{}), tokenizer(model) {
    tokens = tools::EncodeFor(model, tokenizer, 0, text);
    const tools::Batch batch = tools::BatchFromTokens(model, 0, {tokens});
    tools::SessionRequest request;
    for (const char* name : {"tokens.query", "tokens.key", "sentences.query", "sentences.key"})
      request.keep.push_back(*model.FindValue(0, name));
    tools::Session session = tools::SessionFor(model, batch, request);
    session.Run();
    const auto weigh = [&](const std::string& level, const std::vector<uint32_t>& lengths) {
      const tools::Matrix queries = session.Output(*model.FindValue(0, level + ".query")),
                          keys = session.Output(*model.FindValue(0, level + ".key"));
      std::vector<double> weights;
      uint32_t row = 0;
      for (uint32_t segment = 0; segment < lengths.size(); ++segment) {
        double sum = 0;
        for (uint32_t i = 0; i < lengths[segment]; ++i, ++row) {
          double score = 0;
          for (uint32_t j = 0; j < keys.width; ++j)
            score += static_cast<double>(queries.Row(segment)[j]) * keys.Row(row)[j];
          weights.push_back(exp(score / sqrt(static_cast<double>(keys.width))));
          sum += weights.back();
        }
        for (uint32_t i = 0; i < lengths[segment]; ++i) weights[row - 1 - i] /= sum;
      }
      return weights;
    };
    std::vector<uint32_t> lengths;
    for (const auto& sentence : tokens.sentences) lengths.push_back(sentence.tokens);
    words = weigh("tokens", lengths);
    sentences = weigh("sentences", {static_cast<uint32_t>(lengths.size())});
    const tools::Matrix output = session.Output(*model.FindValue(0, "logits"));
    logits = output.values;
  }
  tools::Model model;
  tools::Tokenizer tokenizer;
  tools::Tokens tokens;
  std::vector<double> words, sentences;
  std::vector<float> logits;
};

TEST(CommandDocuments, JsonHasEveryWeightAndItsBytes) {
  const std::string text = kText;
  const json all = FoveaJson({"run", Blob(), "--text", text, "--text", "", "--text", "The soup.", "--json"});
  ASSERT_EQ(all.size(), 3u);
  const Kept kept(text);
  const json& entry = all[0];
  EXPECT_EQ(entry["classes"].size(), 3u);
  for (const json& c : entry["classes"]) {
    const auto index = static_cast<size_t>(c["label"].get<std::string>().back() - '0');
    EXPECT_EQ(c["logit"].get<float>(), kept.logits[index]);  // taps and neighbours change nothing
  }
  ASSERT_EQ(entry["sentences"].size(), 4u);
  const char* const sentences[] = {"The cats like soup.", "A cat sleeps,", "in the harbour!", "Soup?"};
  const std::vector<std::vector<std::string>> words = {
      {"The", "cats", "like", "soup", "."}, {"A", "cat", "sleeps", ","}, {"in", "the", "harbour", "!"}, {"Soup", "?"}};
  size_t row = 0;
  double shares = 0;
  for (size_t i = 0; i < 4; ++i) {
    const json& sentence = entry["sentences"][i];
    EXPECT_EQ(sentence["text"], sentences[i]);
    EXPECT_EQ(text.substr(sentence["begin"], sentence["end"].get<size_t>() - sentence["begin"].get<size_t>()),
              sentences[i]);
    const double share = sentence["share"];
    EXPECT_NEAR(share, kept.sentences[i], 1e-5);
    shares += share;
    double sum = 0, of_words = 0, special = 0;
    for (const json& token : sentence["token_weights"]) {
      EXPECT_NEAR(token["weight"].get<double>(), kept.words[row], 1e-5);
      EXPECT_EQ(token["token"], kept.tokenizer.Piece(kept.tokens.ids[row]));
      EXPECT_EQ(token["begin"], kept.tokens.begin[row]);
      sum += token["weight"].get<double>();
      if (token["special"].get<bool>()) special += token["weight"].get<double>();
      ++row;
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    ASSERT_EQ(sentence["words"].size(), words[i].size());
    for (size_t k = 0; k < words[i].size(); ++k) {
      const json& word = sentence["words"][k];
      EXPECT_EQ(word["text"], words[i][k]);
      EXPECT_EQ(text.substr(word["begin"], word["end"].get<size_t>() - word["begin"].get<size_t>()), words[i][k]);
      EXPECT_NEAR(word["share"].get<double>(), word["weight"].get<double>() * share, 1e-6);
      of_words += word["weight"].get<double>();
    }
    EXPECT_NEAR(of_words + special, 1, 1e-5);
  }
  EXPECT_EQ(row, kept.words.size());
  EXPECT_NEAR(shares, 1, 1e-5);
  EXPECT_TRUE(all[1]["sentences"].empty());
  EXPECT_EQ(all[1]["classes"].size(), 3u);
  ASSERT_EQ(all[2]["sentences"].size(), 1u);
  EXPECT_NEAR(all[2]["sentences"][0]["share"].get<double>(), 1, 1e-6);
  // Each document as if it were alone.
  EXPECT_EQ(FoveaJson({"run", Blob(), "--text", "The soup.", "--json"})[0], all[2]);
  EXPECT_EQ(FoveaJson({"run", Blob(), "--text", text, "--json", "--workers", "3"})[0], all[0]);
}

TEST(CommandDocuments, PrintsWhatDecided) {
  const json entry = FoveaJson({"run", Blob(), "--text", kText, "--json"})[0];
  const CommandResult result = Fovea({"run", Blob(), "--text", kText, "--explain", "2", "--top", "1"});
  ASSERT_EQ(result.status, 0) << result.err;
  size_t best = 0, second = 1;
  const auto share = [&](size_t i) { return entry["sentences"][i]["share"].get<double>(); };
  std::vector<size_t> order = {0, 1, 2, 3};
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return share(a) > share(b); });
  best = order[0];
  second = order[1];
  const auto text = [&](size_t i) { return entry["sentences"][i]["text"].get<std::string>(); };
  const size_t first_at = result.out.find("\n  " + fmt::format("{:.4f}", share(best)) + "  " + text(best) + "\n");
  const size_t second_at = result.out.find("\n  " + fmt::format("{:.4f}", share(second)) + "  " + text(second) + "\n");
  EXPECT_NE(first_at, std::string::npos) << result.out;
  EXPECT_NE(second_at, std::string::npos) << result.out;
  EXPECT_LT(first_at, second_at);
  EXPECT_EQ(result.out.find(fmt::format("{:.4f}", share(order[2])) + "  " + text(order[2])), std::string::npos);
  double most = 0;
  std::string word;
  for (const json& w : entry["sentences"][best]["words"]) {
    if (w["weight"].get<double>() > most) word = w["text"];
    most = std::max(most, w["weight"].get<double>());
  }
  EXPECT_NE(result.out.find(fmt::format("            {:.2f} {}   ", most, word)), std::string::npos) << result.out;
  const CommandResult none = Fovea({"run", Blob(), "--text", kText, "--explain", "0"});
  EXPECT_EQ(none.out.find("because"), std::string::npos);
  EXPECT_EQ(FoveaJson({"run", Blob(), "--text", kText, "--explain", "0", "--json"})[0].count("sentences"), 0u);
}

TEST(CommandDocuments, FilesAndWrappedLines) {
  const std::string path = Temporary("document.txt");
  tools::WriteFile(path, kText, sizeof(kText) - 1);
  const json by_lines = FoveaJson({"run", Blob(), "--document", path, "--json"});
  ASSERT_EQ(by_lines.size(), 1u);
  EXPECT_EQ(by_lines, FoveaJson({"run", Blob(), "--text", kText, "--json"}));
  const json wrapped = FoveaJson({"run", Blob(), "--document", path, "--wrapped", "--json"});
  ASSERT_EQ(wrapped[0]["sentences"].size(), 3u);
  EXPECT_EQ(wrapped[0]["sentences"][1]["text"], "A cat sleeps,\nin the harbour!");
  EXPECT_EQ(FoveaJson({"run", Blob(), "--file", path, "--json"}).size(), 2u);  // a line is a text
  const CommandResult missing = Fovea({"run", Blob(), "--document", Temporary("none.txt")});
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("none.txt"), std::string::npos);
}

TEST(CommandDocuments, WhatIsTooLongIsCutAndSaid) {
  std::string text;
  for (int i = 0; i < 14; ++i) text += "Soup. ";
  text.insert(0, "The cat, the cat, the cat, the cat, the cat. ");
  const json entry = FoveaJson({"run", Blob(), "--text", text, "--json"})[0];
  EXPECT_EQ(entry["sentences"].size(), 10u);
  EXPECT_EQ(entry["dropped_sentences"], 5);
  EXPECT_EQ(entry["sentences"][0]["token_weights"].size(), 12u);
  EXPECT_EQ(entry["dropped_tokens"], 5);
  const std::string out = Fovea({"run", Blob(), "--text", text}).out;
  EXPECT_NE(out.find("truncated to 10 sentences, 5 dropped"), std::string::npos) << out;
  EXPECT_NE(out.find("5 tokens dropped"), std::string::npos) << out;
}

// The weights of the first row of each segment, the mean of two heads; and a model without information about its
// tokens.
TEST(CommandDocuments, OtherWaysToExplain) {
  const json first = FoveaJson({"run", DocumentBlob("tokens.layer.0.seen"), "--text", kText, "--json"})[0];
  const json pooled = FoveaJson({"run", Blob(), "--text", kText, "--json"})[0];
  EXPECT_EQ(first["classes"], pooled["classes"]);
  for (size_t i = 0; i < 4; ++i) {
    double sum = 0;
    bool other = false;
    for (size_t k = 0; k < first["sentences"][i]["token_weights"].size(); ++k) {
      const double weight = first["sentences"][i]["token_weights"][k]["weight"];
      sum += weight;
      other = other || fabs(weight - pooled["sentences"][i]["token_weights"][k]["weight"].get<double>()) > 1e-4;
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_TRUE(other);
    EXPECT_EQ(first["sentences"][i]["share"], pooled["sentences"][i]["share"]);
  }
  const json none = FoveaJson({"run", DocumentBlob(""), "--text", kText, "--json"})[0];
  EXPECT_EQ(none["sentences"][0].count("words"), 0u);
  EXPECT_EQ(none["sentences"][0]["share"], pooled["sentences"][0]["share"]);
  // A model of texts has no sentences.
  EXPECT_EQ(FoveaJson({"run", TinyBlob("sequence"), "--text", kText, "--json"})[0].count("sentences"), 0u);
}

TEST(CommandDocuments, OtherCommandsReadThemToo) {
  for (const char* program : {"encode", "encode_sentences", "encode_document"}) {
    const CommandResult bench =
        Fovea({"bench", Blob(), "--program", program, "--rows", "5", "--batch", "23", "--seconds", "0.01"});
    EXPECT_EQ(bench.status, 0) << bench.err;
    const CommandResult inspect = Fovea({"inspect", Blob(), "--program", program, "--rows", "5", "--batch", "3"});
    EXPECT_EQ(inspect.status, 0) << inspect.err;
  }
}

#ifdef FOVEA_REUSE_EXAMPLE
TEST(CommandDocuments, ReuseExampleRuns) {
  const std::string second = "The cats like soup. A cat.\nin the harbour! Soup?";
  const std::string command =
      std::string(FOVEA_REUSE_EXAMPLE) + " " + Blob() + " '" + kText + "' '" + second + "' 2>&1";
  FILE* program = popen(command.c_str(), "r");
  ASSERT_NE(program, nullptr);
  std::string lines[2];
  for (std::string& line : lines) {
    char buffer[256] = "";
    EXPECT_NE(fgets(buffer, sizeof(buffer), program), nullptr);
    line = buffer;
  }
  EXPECT_EQ(pclose(program), 0) << lines[0];
  const auto label = [](const std::string& text) {
    return FoveaJson({"run", Blob(), "--text", text, "--json"})[0]["classes"][0]["label"].get<std::string>();
  };
  EXPECT_EQ(lines[0], label(kText) + ", 4 of 4 sentences encoded\n");
  EXPECT_EQ(lines[1], label(second) + ", 1 of 4 sentences encoded\n");
}
#endif

}  // namespace
}  // namespace fovea::test
