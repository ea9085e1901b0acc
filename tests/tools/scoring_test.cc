// fovea generate and translate with given texts: log-probabilities against a softmax, in double precision, of the
// scores that program `score` gives for the whole text at once; required prefixes, suppressed tokens and separators.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/parsed_json.h"
#include "tests/support/paths.h"
#include "tests/tools/copier.h"
#include "tests/tools/tiny_bert.h"
#include "tools/generate/generation.h"
#include "tools/model/model.h"
#include "tools/safetensors/safetensors.h"

namespace fovea::test {
namespace {

using nlohmann::json;
using Ids = std::vector<int32_t>;

std::string Converted(const std::string& name) {
  const std::string blob = Temporary(name + "-scored.fovea");
  if (!std::filesystem::exists(blob)) {
    const CommandResult made = Fovea({"convert", InData("hf/" + name), "-o", blob, "--weights", "f32"});
    EXPECT_EQ(made.status, 0) << made.err;
  }
  return blob;
}

json Json(const std::vector<std::string>& arguments) {
  const CommandResult result = Fovea(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  return result.status == 0 ? ParsedJson(result.out) : json();
}

// Log-probability of each token but the first of a row after the tokens before it, by program `score` over the whole
// row.
std::vector<double> Reference(const std::string& blob, const std::map<std::string, Ids>& inputs, const Ids& read) {
  tools::SafetensorsWriter writer;
  for (const auto& [name, ids] : inputs) {
    const std::vector<int64_t> wide(ids.begin(), ids.end());
    writer.AddIntegers(name, {1, ids.size()}, wide.data());
  }
  const std::string in = Temporary("in.safetensors"), out = Temporary("out.safetensors");
  writer.Write(in);
  const CommandResult run = Fovea({"run", blob, "--program", "score", "--input", in, "--output", out});
  EXPECT_EQ(run.status, 0) << run.err;
  const tools::SafetensorsReader results(out);
  const tools::StoredTensor& stored = results.Get("logits");
  const std::vector<float> logits = tools::ToFloats(stored);
  const size_t width = logits.size() / read.size();
  std::vector<double> logprobs;
  for (size_t i = 1; i < read.size(); ++i) {
    const float* row = logits.data() + (i - 1) * width;
    double sum = 0;
    for (size_t k = 0; k < width; ++k) sum += std::exp(double{row[k]} - row[0]);
    logprobs.push_back(double{row[read[i]]} - row[0] - std::log(sum));
  }
  return logprobs;
}

void ExpectNear(const json& found, const std::vector<double>& expected, size_t from, const std::string& what) {
  double sum = 0, most = 0;
  const size_t count = found["logprobs"].size();
  ASSERT_LE(from + count, expected.size()) << what;
  for (size_t i = 0; i < count; ++i) most = std::max(most, std::abs(expected[from + i]));
  for (size_t i = 0; i < count; ++i) {
    EXPECT_NEAR(found["logprobs"][i].get<double>(), expected[from + i], 1e-4 * most + 1e-5) << what << ", token " << i;
    sum += expected[from + i];
  }
  EXPECT_NEAR(found["logprob"].get<double>(), sum, count * (1e-4 * most + 1e-5)) << what;
  if (from + count < expected.size()) {
    EXPECT_NEAR(found["end_logprob"].get<double>(), expected[from + count], 1e-4 * most + 1e-4) << what;
  }
}

std::string Line(const Ids& ids) {
  std::string line;
  for (const int32_t id : ids) line += (line.empty() ? "" : " ") + std::to_string(id);
  return line;
}

Ids Joined(Ids first, const Ids& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST(Scoring, OfADecoderThatGoesOn) {
  const std::string blob = Converted("llama");
  const int32_t end = std::stoi(Json({"inspect", blob, "--json"})["metadata"].value("generate.stop_ids", "-1"));
  const std::vector<Ids> prompts = {{1, 5, 9, 4}, {7}}, texts = {{3, 8, 120, 11, 2, 6}, {44}, {9, 9}};
  std::vector<std::string> arguments = {"generate", blob, "--json", "--workers", "2"};
  for (const Ids& prompt : prompts) arguments.insert(arguments.end(), {"--ids", Line(prompt)});
  for (const Ids& text : texts) arguments.insert(arguments.end(), {"--score-ids", Line(text)});
  const json found = Json(arguments);
  ASSERT_EQ(found.size(), 6u);
  for (size_t i = 0; i < 6; ++i) {
    const Ids &prompt = prompts[i / 3], &text = texts[i % 3];
    EXPECT_EQ(found[i]["input_ids"], json(prompt));
    EXPECT_EQ(found[i]["tokens"], json(text));
    Ids whole = Joined(prompt, text);
    if (end >= 0) whole.push_back(end);
    ExpectNear(found[i], Reference(blob, {{"input_ids", whole}}, whole), prompt.size() - 1, Line(whole));
    EXPECT_EQ(found[i].contains("end_logprob"), end >= 0);
  }
  // A prefix comes between both.
  const CommandResult written = Fovea({"generate", blob, "--ids", "1 5", "--score-ids", "9"});
  EXPECT_EQ(written.out.rfind("1 5 -> 9\n", 0), 0u) << written.out;
  EXPECT_NE(written.out.find("\n  sum  "), std::string::npos) << written.out;
  const CommandResult full = Fovea({"generate", blob, "--ids", "1 5 9 4", "--score-ids", "1 2 3", "--context", "5"});
  EXPECT_EQ(full.status, 2);
  EXPECT_NE(full.err.find("a text of 3 tokens is too long; at most 2 fit"), std::string::npos) << full.err;
}

TEST(Scoring, OfADecoderWithAnEncoder) {
  const std::string blob = Converted("bart");
  const json metadata = Json({"inspect", blob, "--json"})["metadata"];
  const int32_t start = std::stoi(metadata["generate.start"].get<std::string>()),
                end = std::stoi(metadata["generate.stop_ids"].get<std::string>());
  const Ids source = {0, 7, 21, 5, 2}, text = {4, 30, 17, 9};
  Ids target = {start};
  if (metadata.contains("generate.first_id"))
    target.push_back(std::stoi(metadata["generate.first_id"].get<std::string>()));
  const size_t from = target.size() - 1;
  target = Joined(Joined(target, text), {end});
  const json found = Json({"generate", blob, "--json", "--ids", Line(source), "--score-ids", Line(text)});
  ExpectNear(found[0], Reference(blob, {{"input_ids", source}, {"decoder_input_ids", target}}, target), from, "bart");
  EXPECT_TRUE(found[0].contains("end_logprob"));
}

// The first token that a model forces, such as a language, precedes the prefix.
TEST(Writing, ForcedFirstTokensStandBeforePrefixes) {
  const tools::Model model(Converted("bart"), {});
  tools::GenerationRequest request;
  request.max_tokens = 7;
  request.stops = false;
  request.first = 5;
  const auto written = [&] { return tools::Generate(model, {{0, 7, 21, 5, 2}}, request)[0]; };
  const auto whole = written();
  ASSERT_EQ(whole.tokens.size(), 7u);
  ASSERT_EQ(whole.tokens[0], 5);
  request.prefix = {whole.tokens[1], whole.tokens[2]};
  request.max_tokens = 4;
  const auto rest = written();
  ASSERT_EQ(rest.tokens, Ids(whole.tokens.begin() + 3, whole.tokens.end()));
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(rest.scores[i], whole.scores[i + 3], 1e-5);
}

// The decoder that copies, in phonemes.
std::string Copier(const json& metadata = json::object()) {
  json graph = ParsedJson(kCopier);
  graph["metadata"].update({{"labels", {"", "AH", "B", "CH"}}, {"generate.max_tokens", 8}});
  graph["metadata"].update(metadata);
  return CopierBlob(graph.dump(), "phonemes");
}

TEST(Scoring, OfADecoderThatKeepsNoTexts) {
  const std::string blob = Copier();
  // The row's token has the score 1, every other token 0; after the text all have 0.
  const double one = std::log(3 + std::exp(1.0)), right = 1 - one, wrong = -one, none = -std::log(4.0);
  for (const char* command : {"generate", "translate"}) {
    const json found = Json({command, blob, "--text", "abc", "--text", "b", "--separator", "-", "--score", "AH-CH-CH",
                             "--score", "B", "--json"});
    ASSERT_EQ(found.size(), 4u);
    const auto expect = [&](size_t i, const std::vector<double>& logprobs, double end) {
      ASSERT_EQ(found[i]["logprobs"].size(), logprobs.size());
      double sum = 0;
      for (size_t k = 0; k < logprobs.size(); ++k) EXPECT_NEAR(found[i]["logprobs"][k], logprobs[k], 1e-6);
      for (const double logprob : logprobs) sum += logprob;
      EXPECT_NEAR(found[i]["logprob"], sum, 1e-6);
      EXPECT_NEAR(found[i]["end_logprob"], end, 1e-6);
    };
    expect(0, {right, wrong, right}, none);
    expect(1, {wrong}, wrong);
    expect(2, {wrong, none, none}, none);
    expect(3, {right}, none);
    EXPECT_EQ(found[0]["pieces"], json({"AH", "CH", "CH"}));
  }
  // After a prefix, whose own likelihood does not count.
  const json after = Json({"generate", blob, "--text", "abc", "--target-prefix", "CHB", "--score", "CH", "--json"});
  ASSERT_EQ(after[0]["logprobs"].size(), 1u);
  EXPECT_NEAR(after[0]["logprobs"][0], right, 1e-6);
}

TEST(Writing, TokensThatAreNoText) {
  EXPECT_EQ(Fovea({"generate", Copier(), "--text", "abca"}).out, "abca -> AHBCHAH\n");
  EXPECT_EQ(Fovea({"generate", Copier(), "--text", "abca", "--separator", " "}).out, "abca -> AH B CH AH\n");
  const std::string spaced = Copier({{"generate.separator", " "}});
  EXPECT_EQ(Fovea({"generate", spaced, "--text", "abca"}).out, "abca -> AH B CH AH\n");
  EXPECT_EQ(Fovea({"translate", spaced, "--text", "abca", "--separator", ""}).out, "AHBCHAH\n");
  EXPECT_EQ(Fovea({"translate", spaced, "--text", "cab", "--beams", "2"}).status, 2);  // its rows are the texts
  // A prefix is read the same way.
  EXPECT_EQ(Fovea({"translate", spaced, "--text", "aab", "--target-prefix", "CH CH"}).out, "CH CH B\n");
  EXPECT_EQ(Fovea({"translate", spaced, "--text", "aab", "--suppress", "AH AH"}).out.rfind("AH B", 0),
            std::string::npos);
  EXPECT_NE(Fovea({"translate", spaced, "--text", "a", "--target-prefix", "CH X"}).err.find("has no token for 'X'"),
            std::string::npos);
  const CommandResult text =
      Fovea({"generate", Converted("llama"), "--ids", "1", "--max-tokens", "3", "--separator", "/"});
  EXPECT_EQ(text.status, 0) << text.err;  // ids, as there is no tokenizer
  EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '/'), 2) << text.out;
}

TEST(Writing, PrefixesOfDecodersWithoutPrompts) {
  const std::string blob = Copier();
  const json found = Json(
      {"generate", blob, "--text", "abcab", "--target-prefix", "CHCH", "--alignments", "--max-tokens", "2", "--json"});
  EXPECT_EQ(found[0]["text"], "CHCHCHAH");
  EXPECT_EQ(found[0]["tokens"], json({3, 1}));
  EXPECT_EQ(found[0]["alignments"], json({{0, 0, 1, 0, 0}, {0, 0, 0, 1, 0}}));
}

TEST(Writing, TokensThatDoNotCome) {
  const std::string blob = Copier();
  const auto tokens = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"generate", blob, "--text", "abcbc", "--max-tokens", "5", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Json(arguments)[0]["tokens"];
  };
  EXPECT_EQ(tokens({}), json({1, 2, 3, 2, 3}));
  // The lowest id of the remaining tokens, whose scores are equal; it ends the text.
  EXPECT_EQ(tokens({"--suppress-ids", "3", "--ignore-stop"}), json({1, 2, 0, 2, 0}));
  EXPECT_EQ(tokens({"--suppress-ids", "3", "--suppress-ids", "0"}), json({1, 2, 1, 2, 1}));
  EXPECT_EQ(tokens({"--suppress-ids", "3 2", "--suppress-ids", "0"}), json({1, 2, 3, 1, 3}));
  EXPECT_EQ(tokens({"--suppress", "CHB", "--suppress-ids", "0"}), json({1, 2, 3, 1, 3}));
}

TEST(Scoring, RefusesWhatItCannotDo) {
  const std::string blob = Copier();
  const auto refused = [&](const std::vector<std::string>& more, const std::string& part) {
    std::vector<std::string> arguments = {"generate", blob, "--text", "a"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = Fovea(arguments);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  };
  refused({"--suppress-ids", "4"}, "--suppress-ids '4': token 4 is out of range: there are 4 tokens that");
  refused({"--suppress-ids", "-1"}, "token -1 is out of range");
  refused({"--suppress-ids", "x"}, "--suppress-ids 'x': expected token ids");
  refused({"--suppress-ids", ""}, "has no tokens");
  refused({"--score-ids", "1 9"}, "--score-ids '1 9': token 9 is out of range");
  refused({"--score", "Z"}, "has no token for 'Z'");
  refused({"--score", "AH", "--temperature", "1"}, "--score generates nothing");
  refused({"--score", "AH", "--alignments"}, "--score generates nothing");
  refused({"--score", "AH", "--chat"}, "--target-prefix and --score are not supported in chat mode");
}

}  // namespace
}  // namespace fovea::test
