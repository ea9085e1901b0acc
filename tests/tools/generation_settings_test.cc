// The settings of generation of a published decoder hold as defaults of fovea generate: the same tokens as by options,
// and the lengths that the settings define. The model is random.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/parsed_json.h"
#include "tests/support/paths.h"
#include "tests/tools/tiny_bert.h"

namespace fovea::test {
namespace {

using nlohmann::json;
using Ids = std::vector<int>;

const Ids kPrompt = {7, 20, 33};

// tests/data/hf/llama with this generation_config.json.
std::string Decoder(const json& settings) {
  const std::filesystem::path folder = Temporary("settings");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (const char* name : {"config.json", "model.safetensors"}) {
    std::filesystem::copy_file(InData(std::string("hf/llama/") + name), folder / name);
  }
  std::ofstream(folder / "generation_config.json") << settings.dump();
  const std::string blob = Temporary("settings.fovea");
  const CommandResult made = Fovea({"convert", folder.string(), "-o", blob});
  EXPECT_EQ(made.status, 0) << made.err;
  return blob;
}

json Generated(const std::string& blob, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"generate", blob, "--json", "--ids", "7 20 33"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const CommandResult result = Fovea(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  return result.status == 0 ? ParsedJson(result.out)[0] : json{{"tokens", Ids()}, {"text", ""}};
}
Ids Tokens(const json& settings, const std::vector<std::string>& more = {}) {
  return Generated(Decoder(settings), more)["tokens"];
}

TEST(PublishedSettings, AreDefaultsOfOptions) {
  const struct {
    json settings;
    std::vector<std::string> options;
  } pairs[] = {
      {{{"repetition_penalty", 1.7}}, {"--repetition-penalty", "1.7"}},
      {{{"no_repeat_ngram_size", 2}}, {"--no-repeat-ngram-size", "2"}},
      {{{"num_beams", 3}, {"length_penalty", 0.3}, {"early_stopping", true}},
       {"--beams", "3", "--length-penalty", "0.3", "--early-stopping", "true"}},
  };
  const Ids plain = Tokens({{"eos_token_id", 2}}, {"-n", "12"});
  for (const auto& [settings, options] : pairs) {
    std::vector<std::string> given = options;
    given.insert(given.end(), {"-n", "12"});
    const Ids wanted = Tokens({{"eos_token_id", 2}}, given);
    json published = settings;
    published["eos_token_id"] = 2, published["max_new_tokens"] = 12;
    EXPECT_EQ(Tokens(published), wanted) << settings;
    EXPECT_NE(wanted, plain) << settings << ": the setting changes nothing here";
  }
  // An option takes precedence.
  EXPECT_EQ(Tokens({{"eos_token_id", 2}, {"repetition_penalty", 1.7}}, {"-n", "12", "--repetition-penalty", "1"}),
            plain);
}

TEST(PublishedSettings, LimitLengths) {
  EXPECT_EQ(Tokens({{"eos_token_id", 176}, {"max_new_tokens", 5}}).size(), 5u);
  EXPECT_EQ(Tokens({{"eos_token_id", 176}, {"max_length", 10}}).size(), 10 - kPrompt.size());
  EXPECT_EQ(Tokens({{"eos_token_id", 176}, {"max_length", 10}, {"max_new_tokens", 9}}).size(), 9u);
  EXPECT_EQ(Tokens({{"eos_token_id", 176}, {"max_length", 10}}, {"-n", "11"}).size(), 11u);
  const std::string blob = Decoder({{"eos_token_id", 176}, {"max_length", 3}});
  EXPECT_EQ(Fovea({"generate", blob, "--ids", "7 20 33"}).status, 2) << "no room for a token after the prompt";
}

TEST(PublishedSettings, DelayTheEnd) {
  const Ids plain = Tokens({{"eos_token_id", 176}, {"max_new_tokens", 12}});
  // The end of texts becomes a token that follows other tokens.
  size_t at = 1;
  while (at + 1 < plain.size() && std::count(plain.begin(), plain.begin() + static_cast<long>(at), plain[at]) != 0)
    ++at;
  const int end = plain[at];
  const int made = static_cast<int>(at), length = made + static_cast<int>(kPrompt.size());
  const auto tokens = [&](const char* key, int value) {
    return Tokens({{"eos_token_id", end}, {"max_new_tokens", 12}, {key, value}});
  };
  for (const auto& [key, allowed] : {std::pair<const char*, int>("min_new_tokens", made), {"min_length", length}}) {
    const Ids early = tokens(key, allowed), late = tokens(key, allowed + 1);
    EXPECT_EQ(early.size(), at + 1) << key;
    EXPECT_EQ(early.back(), end) << key;
    ASSERT_GT(late.size(), at) << key;
    EXPECT_NE(late[at], end) << key;
  }
  EXPECT_EQ(Tokens({{"eos_token_id", end}, {"max_new_tokens", 12}, {"min_length", 50}}, {"--min-tokens", "0"}).size(),
            at + 1);
}

TEST(PublishedSettings, ForbidTokens) {
  const Ids plain = Tokens({{"eos_token_id", 176}, {"max_new_tokens", 12}});
  // The prompt of a decoder counts as what the encoder reads.
  const Ids apart = Tokens({{"eos_token_id", 176}, {"max_new_tokens", 12}, {"encoder_no_repeat_ngram_size", 1}});
  for (const int token : kPrompt) EXPECT_EQ(std::count(apart.begin(), apart.end(), token), 0) << token;
  const Ids without = Tokens({{"eos_token_id", json::array({176, 175})},
                              {"max_new_tokens", 12},
                              {"bad_words_ids", json::array({json::array({plain[0]}), json::array({175})})}});
  EXPECT_EQ(std::count(without.begin(), without.end(), plain[0]), 0);
  const Ids forced = Tokens({{"eos_token_id", 176}, {"max_new_tokens", 4}, {"forced_eos_token_id", 176}});
  EXPECT_EQ(forced, (Ids{plain[0], plain[1], plain[2], 176}));
}

TEST(PublishedSettings, EndAtStrings) {
  // Tokens without a tokenizer are shown as numbers.
  const json plain = Generated(Decoder({{"eos_token_id", 176}, {"max_new_tokens", 6}}));
  const std::string stop = " " + std::to_string(plain["tokens"][2].get<int>());
  const std::string text = plain["text"].get<std::string>();
  const std::string blob = Decoder({{"eos_token_id", 176}, {"max_new_tokens", 6}, {"stop_strings", stop}});
  EXPECT_EQ(Generated(blob)["text"], text.substr(0, text.find(stop)));
  EXPECT_EQ(Generated(blob, {"--ignore-stop"})["text"], text);
}

}  // namespace
}  // namespace fovea::test
