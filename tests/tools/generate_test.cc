// fovea generate on a decoder that copies.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/support/parsed_json.h"
#include "tests/support/paths.h"
#include "tests/tools/copier.h"
#include "tests/tools/tiny_bert.h"
#include "tools/text/text_inputs.h"
#include "tools/text/text_run.h"

namespace fovea::test {
namespace {

using nlohmann::json;

std::string Blob(const std::string& graph = kCopier) { return CopierBlob(graph, "copier"); }

TEST(GenerateCommand, PrintsTextsAndAlignments) {
  const std::string blob = Blob();
  const CommandResult texts = Fovea({"generate", blob, "--text", "abca", "--text", "c", "--workers", "2"});
  EXPECT_EQ(texts.status, 0) << texts.err;
  EXPECT_EQ(texts.out, "abca -> abca\nc -> c\n");
  const CommandResult picture = Fovea({"generate", blob, "--text", "cab", "--alignments"});
  EXPECT_EQ(picture.out,
            "cab -> cab\n"
            "        cab\n"
            "  c     @  \n"
            "  a      @ \n"
            "  b       @\n"
            "           \n");
  EXPECT_EQ(Fovea({"generate", blob, "--ids", "2 2 1", "--max-tokens", "2"}).out, "2 2 1 -> bb\n");
  EXPECT_EQ(Fovea({"generate", blob, "--ids", "2 1", "--ids", "1", "--max-tokens", "1"}).out, "2 1 -> b\n1 -> a\n");
  EXPECT_NE(Fovea({"generate", "--help"}).out.find("Example"), std::string::npos);
}

TEST(GenerateCommand, WritesJson) {
  const CommandResult result = Fovea({"generate", Blob(), "--text", "ba", "--alignments", "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const json found = ParsedJson(result.out)[0];
  EXPECT_EQ(found["text"], "ba");
  EXPECT_EQ(found["input_ids"], json({2, 1}));
  EXPECT_EQ(found["tokens"], json({2, 1, 0}));
  EXPECT_EQ(found["pieces"], json({"b", "a", ""}));
  EXPECT_EQ(found["input_pieces"], json({"b", "a"}));
  EXPECT_EQ(found["alignments"], json({{1.0, 0.0}, {0.0, 1.0}, {0.0, 0.0}}));
}

TEST(GenerateCommand, DrawsTokens) {
  const std::string blob = Blob();
  const auto text = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"generate", blob, "--text", "abca"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = Fovea(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  // Scores of a token are 1 or 0, and after the text all are 0.
  const auto begins = [&](const std::vector<std::string>& more) { return text(more).rfind("abca -> abca", 0) == 0; };
  EXPECT_TRUE(begins({"--temperature", "0.001", "--seed", "3"}));
  EXPECT_TRUE(begins({"--temperature", "1000", "--top-k", "1"}));
  EXPECT_TRUE(begins({"--temperature", "1000", "--min-p", "1"}));
  std::set<std::string> found;
  for (const char* seed : {"1", "2", "3", "18446744073709551615"}) {
    const std::string once = text({"--temperature", "1000", "--seed", seed});
    EXPECT_EQ(text({"--temperature", "1000", "--seed", seed}), once);
    found.insert(once);
  }
  EXPECT_GT(found.size(), 1u);
  EXPECT_EQ(Fovea({"generate", blob, "--text", "aab"}).out, "aab -> aab\n");
  EXPECT_EQ(Fovea({"generate", blob, "--text", "aab", "--presence-penalty", "2"}).out.rfind("aab -> ab", 0), 0u);
  EXPECT_TRUE(begins({"--repetition-penalty", "1000"}));  // a thousandth is more than 0
  EXPECT_NE(text({"--logprobs", "2"}).find("\n  a "), std::string::npos);

  const CommandResult result = Fovea({"generate", blob, "--text", "ba", "--logprobs", "4", "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const json entry = ParsedJson(result.out)[0];
  ASSERT_EQ(entry["logprobs"].size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(entry["top_logprobs"][i].size(), 4u);
    EXPECT_EQ(entry["top_logprobs"][i][0]["token"], entry["tokens"][i]);
    EXPECT_EQ(entry["top_logprobs"][i][0]["logprob"], entry["logprobs"][i]);
    double sum = 0;
    for (const json& likely : entry["top_logprobs"][i]) sum += std::exp(likely["logprob"].get<double>());
    EXPECT_NEAR(sum, 1, 1e-5);  // all tokens there are
  }
  EXPECT_FALSE(ParsedJson(Fovea({"generate", blob, "--text", "ba", "--json"}).out)[0].contains("logprobs"));
  for (const auto& [option, value] : {std::pair{"--top-p", "1.5"},
                                      {"--temperature", "-1"},
                                      {"--logprobs", "300"},
                                      {"--presence-penalty", "nan"},
                                      {"--seed", "-1"}}) {
    EXPECT_EQ(Fovea({"generate", blob, "--text", "a", option, value}).status, 2) << option;
  }
}

TEST(GenerateCommand, TextsOfAFixedLengthAreFilledUpEverywhere) {
  json graph = ParsedJson(kCopier);
  graph["spaces"][1]["each"] = 5;
  const std::string blob = Blob(graph.dump());
  EXPECT_EQ(Fovea({"generate", blob, "--text", "ab"}).out, "ab -> ab\n");
  const tools::Model model(blob, {FOVEA_BACKEND_DEFAULT, false});
  const tools::Tokenizer tokenizer(model);
  const tools::Tokens tokens = tools::EncodeFor(model, tokenizer, 0, "ab");
  EXPECT_EQ(tokens.ids, (std::vector<int32_t>{1, 2, 0, 0, 0}));
  EXPECT_EQ(tokens.special, (std::vector<uint8_t>{0, 0, 1, 1, 1}));
  EXPECT_EQ(tokens.end, (std::vector<uint32_t>{1, 2, 2, 2, 2}));
  // Or at the beginning of the text, if the model was trained so.
  graph["metadata"]["pad_side"] = "left";
  const tools::Model left(Blob(graph.dump()), {FOVEA_BACKEND_DEFAULT, false});
  const tools::Tokens moved = tools::EncodeFor(left, tools::Tokenizer(left), 0, "ab");
  EXPECT_EQ(moved.ids, (std::vector<int32_t>{0, 0, 0, 1, 2}));
  EXPECT_EQ(moved.special, (std::vector<uint8_t>{1, 1, 1, 0, 0}));
  EXPECT_EQ(moved.begin, (std::vector<uint32_t>{0, 0, 0, 0, 1}));
  EXPECT_EQ(moved.end, (std::vector<uint32_t>{0, 0, 0, 1, 2}));
  graph["metadata"]["pad_side"] = "front";
  const std::filesystem::path wrong = Temporary("wrong.json");
  std::ofstream(wrong) << graph.dump();
  EXPECT_NE(Fovea({"convert", wrong.string(), "-o", Temporary("wrong.fovea")})
                .err.find("pad_side must be left or right, not front"),
            std::string::npos);
  // As in run and similarity.
  const tools::TextRun run = tools::RunTexts(model, tokenizer, 0, {"ab", "abcab"}, {});
  EXPECT_EQ(run.session->Output(*model.FindValue(0, "rows")).rows, 10u);
}

// A decoder's step makes one row for each text; how long the texts are that it reads changes nothing in its scratch.
TEST(GenerateCommand, ScratchOfADecoderFollowsItsTexts) {
  const tools::Model model(Blob(), {FOVEA_BACKEND_DEFAULT, false});
  const auto session = [&](uint32_t texts, uint32_t tokens) {
    tools::SessionRequest request;
    request.program = 1;
    request.limits = {{0, texts, 0}, {1, texts * tokens, tokens}};
    return tools::Session(model, request);
  };
  EXPECT_EQ(session(1, 4000).Info().tile_rows, 1u);
  EXPECT_EQ(session(40, 4000).Info().tile_rows, 48u);
  EXPECT_LT(session(1, 4000).sizes().scratch_size, session(128, 4000).sizes().scratch_size);
}

std::string Decoder() {
  static const std::string blob = [] {
    const std::string made = Temporary("decoder.fovea");
    const CommandResult result = Fovea({"convert", InData("hf/llama"), "-o", made, "--weights", "f32"});
    EXPECT_EQ(result.status, 0) << result.err;
    return made;
  }();
  return blob;
}

// More texts than a batch has: in their order, each with the random numbers of its place.
TEST(GenerateCommand, ManyTextsRunInBatches) {
  std::vector<std::string> all = {"generate", Decoder(),       "--jsonl", "--ignore-stop", "--max-tokens",
                                  "6",        "--temperature", "2",       "--seed",        "5"};
  const size_t count = 70;
  for (size_t i = 0; i < count; ++i) all.insert(all.end(), {"--ids", std::to_string(1 + i % 7)});
  const CommandResult result = Fovea(all);
  ASSERT_EQ(result.status, 0) << result.err;
  std::istringstream lines(result.out);
  std::vector<json> texts;
  for (std::string line; std::getline(lines, line);) texts.push_back(json::parse(line));
  ASSERT_EQ(texts.size(), count);
  std::set<std::vector<int>> of_one;  // texts of one prompt
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(texts[i]["input"], std::to_string(1 + i % 7));
    if (i % 7 == 0) of_one.insert(texts[i]["tokens"].get<std::vector<int>>());
  }
  EXPECT_EQ(of_one.size(), count / 7) << "random numbers of another place";
}

// A decoder without an encoder continues the prompt.
TEST(GenerateCommand, GoesOnWithTexts) {
  const auto tokens = [&](std::vector<std::string> more) {
    std::vector<std::string> all = {"generate", Decoder(), "--json", "--ignore-stop", "--max-tokens", "24"};
    all.insert(all.end(), more.begin(), more.end());
    const CommandResult result = Fovea(all);
    EXPECT_EQ(result.status, 0) << result.err;
    std::vector<std::vector<int>> texts;
    for (const json& text : ParsedJson(result.out)) texts.push_back(text["tokens"].get<std::vector<int>>());
    return texts;
  };
  const std::vector<std::vector<int>> both = tokens({"--ids", "1 5 9 4", "--ids", "7"});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].size(), 24u);
  EXPECT_EQ(tokens({"--ids", "7", "--workers", "2"})[0], both[1]);
  EXPECT_EQ(tokens({"--ids", "1 5 9 4", "--cache", "f16"})[0].size(), 24u);
  const std::vector<int> five = tokens({"--ids", "1 5 9 4", "--context", "9"})[0];
  EXPECT_EQ(five, std::vector<int>(both[0].begin(), both[0].begin() + 6));  // the last token needs no room

  const CommandResult long_prompt = Fovea({"generate", Decoder(), "--ids", "1 5 9 4", "--context", "3"});
  EXPECT_EQ(long_prompt.status, 2);
  EXPECT_NE(long_prompt.err.find("a prompt has 4 tokens, more than the context of 3"), std::string::npos)
      << long_prompt.err;
  EXPECT_EQ(Fovea({"generate", Decoder(), "--ids", "1", "--alignments"}).status, 2);
}

TEST(GenerateCommand, IsMeasured) {
  const CommandResult result = Fovea({"bench", Decoder(), "--generate", "--prompt-tokens", "20", "--new-tokens", "8",
                                      "--texts", "2", "--workers", "2", "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const json measured = ParsedJson(result.out);
  EXPECT_EQ(measured["texts"], 2);
  EXPECT_GT(measured["tokens_per_second"], 0);
  EXPECT_GT(measured["bytes"]["weights_per_step"], 0);
  EXPECT_GE(measured["bytes"]["state"].get<uint64_t>(), 2 * 28 * measured["bytes"]["kept_per_token"].get<uint64_t>());
  EXPECT_EQ(Fovea({"bench", Blob(), "--generate"}).status, 2);
}

TEST(GenerateCommand, RefusesWhatItCannotDo) {
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& part) {
    const CommandResult result = Fovea(arguments);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  };
  refused({"generate", Blob()}, "--text");
  refused({"generate", Blob(), "--ids", "1 x"}, "expected token ids separated by spaces");
  refused({"generate", Blob(), "--ids", "1 4"}, "below 4");
  refused({"generate", TinyBlob("sequence"), "--text", "a"}, "decode");
  json graph = ParsedJson(kCopier);
  graph["metadata"].erase("generate.scores");
  refused({"generate", Blob(graph.dump()), "--text", "a"}, "scores");
}

}  // namespace
}  // namespace fovea::test
