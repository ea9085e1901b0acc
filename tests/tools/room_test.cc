// Texts of a decoder that is spoken to with words: what follows a prompt, prompts and chats that do not fit, texts that
// end for are cut off. The model is random: what it writes is held against its own tokens.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/parsed_json.h"
#include "tests/support/paths.h"
#include "tests/tools/tiny_bert.h"
#include "tools/generate/target_tokens.h"
#include "tools/text/chat_format.h"
#include "tools/text/truncation.h"

namespace fovea::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr char kMark[] = "\xe2\x96\x81";
constexpr int kTrained = 128;  // positions of tests/data/hf/llama

// "a b" is "<mark>a", "<mark>b"; every piece that the model can write begins with the mark, but for letters.
json Words() {
  json added = json::array(), vocabulary = json::object(), merges = json::array();
  const std::vector<std::string> special = {"<pad>", "<s>", "</s>", "<unk>", "<|end|>", "<|user|>"};
  for (size_t id = 0; id < special.size(); ++id) {
    vocabulary[special[id]] = id;
    added.push_back({{"id", id},
                     {"content", special[id]},
                     {"special", true},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false}});
  }
  const auto add = [&](const std::string& piece) { vocabulary[piece] = vocabulary.size(); };
  add(kMark);
  for (char c = 'a'; c <= 'z'; ++c) add(std::string(1, c));
  for (char c = 'a'; c <= 'z'; ++c) {
    add(kMark + std::string(1, c));
    merges.push_back(kMark + std::string(" ") + c);
  }
  for (int i = 0; vocabulary.size() < 177; ++i) add(kMark + std::to_string(i));
  const json space = {{"type", "Metaspace"}, {"replacement", kMark}, {"prepend_scheme", "always"}, {"split", true}};
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added},
          {"normalizer", nullptr},
          {"pre_tokenizer", space},
          {"post_processor", nullptr},
          {"decoder", space},
          {"model",
           {{"type", "BPE"},
            {"unk_token", "<unk>"},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"vocab", vocabulary},
            {"merges", merges}}}};
}

std::string Decoder(const std::string& name, const json& config = json::object()) {
  const fs::path folder = Temporary("words-" + name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const char* file : {"config.json", "model.safetensors"}) {
    fs::copy_file(InData("hf/llama") + "/" + file, folder / file);
  }
  std::ofstream(folder / "tokenizer.json") << Words().dump();
  std::ofstream(folder / "tokenizer_config.json") << config.dump();
  const std::string blob = Temporary("words-" + name + ".fovea");
  const CommandResult made = Fovea({"convert", folder.string(), "-o", blob, "--weights", "f32"});
  EXPECT_EQ(made.status, 0) << made.err;
  return blob;
}

const std::string& Plain() {
  static const std::string blob = Decoder("plain");
  return blob;
}

CommandResult Generate(std::vector<std::string> more, const std::string& blob = Plain()) {
  more.insert(more.begin(), {"generate", blob, "--ignore-stop"});
  return Fovea(more);
}

std::string Repeated(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : " ") + std::string(1, static_cast<char>('a' + i % 26));
  return text;
}

TEST(Room, WhatFollowsAPromptKeepsItsSpace) {
  const tools::Model model(Plain(), {});
  const tools::Tokenizer tokenizer(model);
  const CommandResult made = Generate({"--text", "a b", "-n", "12", "--json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json found = ParsedJson(made.out)[0];
  const auto prompt = found["input_ids"].get<std::vector<int32_t>>();
  std::vector<int32_t> all = prompt;
  for (const int32_t token : found["tokens"]) all.push_back(token);
  const std::string whole = tokenizer.Decode(all), text = whole.substr(tokenizer.Decode(prompt).size());
  EXPECT_EQ(found["text"], text);
  EXPECT_EQ(Generate({"--prompt", "a b", "-n", "12"}).out, whole + "\n");
  // A string that begins with a space ends a text.
  const size_t space = text.find(' ');
  ASSERT_NE(space, std::string::npos);
  const std::string stop = text.substr(space, 2);
  EXPECT_EQ(Generate({"--prompt", "a b", "-n", "12", "--no-display-prompt", "--stop", stop}).out,
            text.substr(0, space) + "\n");
  const auto forms = tools::TargetForms(model, " b");
  std::vector<int32_t> within = tokenizer.EncodeWhole("a b").ids;
  within.erase(within.begin());
  EXPECT_EQ(forms.count(within), 1u);
}

TEST(Room, PromptsThatDoNotFitAreRefusedOrKeepTheirEnd) {
  const std::string text = Repeated(200);
  for (const char* option : {"--prompt", "--text"}) {
    const CommandResult refused = Generate({option, text, "-n", "4"});
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.err.find("a prompt has 200 tokens, more than the context of 128"), std::string::npos)
        << refused.err;
    EXPECT_NE(refused.err.find("--keep-end"), std::string::npos) << refused.err;
    EXPECT_EQ(refused.out, "");
  }
  const CommandResult kept = Generate({"--text", text, "-n", "4", "--keep-end", "--json"});
  ASSERT_EQ(kept.status, 0) << kept.err;
  EXPECT_NE(kept.err.find("left out: 76 tokens"), std::string::npos) << kept.err;
  const json found = ParsedJson(kept.out)[0];
  EXPECT_EQ(found["dropped_tokens"], 76);
  const tools::Model model(Plain(), {});
  const std::vector<int32_t> whole = tools::Tokenizer(model).EncodeWhole(text).ids;
  EXPECT_EQ(found["input_ids"].get<std::vector<int32_t>>(), std::vector<int32_t>(whole.begin() + 76, whole.end()));
  const CommandResult scored = Generate({"--text", text, "--score", "b"});
  EXPECT_EQ(scored.status, 2);
  EXPECT_NE(scored.err.find("a prompt has 200 tokens"), std::string::npos) << scored.err;
}

TEST(Room, TextsEndWhereTheModelDoes) {
  const CommandResult made = Generate({"--text", "a b", "--json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const json found = ParsedJson(made.out)[0];
  EXPECT_EQ(found["tokens"].size(), kTrained - 2 + 1);  // the last token needs no room
  EXPECT_EQ(found["ended_for_lack_of_room"], true);
  EXPECT_NE(made.err.find("128 tokens with the prompt: the length that the model was trained for"), std::string::npos);
  const CommandResult small = Generate({"--text", "a b", "-n", "40", "--context", "10", "--json"});
  EXPECT_EQ(ParsedJson(small.out)[0]["tokens"].size(), 9u);
  EXPECT_NE(small.err.find("10 tokens with the prompt: the limit of --context"), std::string::npos) << small.err;
  const CommandResult beams = Generate({"--text", "a b", "-n", "40", "--context", "10", "--beams", "2", "--json"});
  EXPECT_EQ(ParsedJson(beams.out)[0]["tokens"].size(), 9u);
  EXPECT_NE(beams.err.find("are cut off"), std::string::npos) << beams.err;
  EXPECT_EQ(Generate({"--text", "a b", "-n", "4"}).err, "");
  const CommandResult beyond = Generate({"--text", "a b", "-n", "140", "--context", "150"});
  EXPECT_TRUE(beyond.status == 2 || beyond.err.find("trained for 128") != std::string::npos) << beyond.err;
}

TEST(Room, EmptyPromptsAreNamed) {
  const CommandResult empty = Generate({"--prompt", ""});
  EXPECT_EQ(empty.status, 2);
  EXPECT_NE(empty.err.find("a prompt is empty"), std::string::npos) << empty.err;
}

constexpr char kTemplate[] =
    "{{ bos_token }}{% for m in messages %}{{ '<|user|>' + m['role'] + ' ' + m['content'] | trim + '<|end|>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|user|>' }}{% endif %}";

TEST(Room, ChatsAreWrittenByTheModelsTemplate) {
  const std::string blob = Decoder("chat", {{"chat_template", kTemplate}, {"bos_token", "<s>"}, {"eos_token", "</s>"}});
  const CommandResult made = Fovea({"tokenize", blob, "--chat", "auto", "--text", " hi ", "--json"});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(ParsedJson(made.out)[0]["text"], "<s><|user|>user hi<|end|><|user|>");
  const tools::Model model(blob, {});
  EXPECT_EQ(tools::ChatFormat(model, "auto").End(), "<|end|>");
  EXPECT_EQ(tools::ChatFormat(model, "chatml").End(), "<|im_end|>");
  // Turns for which there is no room go, the oldest first; one that does not fit alone is refused.
  std::vector<std::string> turns = {"--chat", "-n", "8"};
  for (int i = 0; i < 4; ++i) turns.insert(turns.end(), {"--prompt", Repeated(50)});
  const CommandResult chat = Generate(turns, blob);
  EXPECT_EQ(chat.status, 0) << chat.err;
  EXPECT_NE(chat.err.find("dropped its 1 oldest turn\n"), std::string::npos) << chat.err;
  EXPECT_EQ(Generate({"--chat", "--prompt", Repeated(150)}, blob).status, 2);
  // Statements that are not evaluated are refused, not guessed.
  const std::string other = Decoder("other", {{"chat_template", "{% include 'x' %}"}});
  const CommandResult refused = Generate({"--chat", "--prompt", "a"}, other);
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("uses the statement 'include' in line 1"), std::string::npos);
  EXPECT_NE(refused.err.find("--chat-template"), std::string::npos) << refused.err;
}

TEST(Room, CutsAreOneLine) {
  tools::Truncations cuts;
  cuts.Add(0);
  EXPECT_FALSE(cuts.any());
  cuts.Add(1), cuts.Add(12, 2), cuts.Add(3), cuts.Add(4);
  EXPECT_EQ(
      cuts.Line(),
      "4 of 5 texts are longer than the model reads; left out: 2 sentences and 20 tokens (text 2: 1 token, text 3: "
      "2 sentences and 12 tokens, text 4: 3 tokens, ...)");
  tools::Truncations one;
  one.Add(5);
  EXPECT_EQ(one.Line(), "the text is longer than the model reads; left out: 5 tokens");
  EXPECT_EQ(one.Json(), (tools::OrderedJson{{"texts", 1}, {"tokens", 5}, {"note", one.Line()}}));
}

}  // namespace
}  // namespace fovea::test
