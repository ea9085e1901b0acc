// fovea generate and translate on published decoders: texts as they come, chats, strings that end them, beams, drafts,
// Ctrl-C, languages. The models are random, so what they write is held against what another way of asking gives.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/support/characters.h"
#include "tests/support/parsed_json.h"
#include "tests/support/paths.h"
#include "tests/tools/tiny_bert.h"
#include "tools/commands/commands.h"
#include "tools/text/chat_format.h"

namespace fovea::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// Single characters, with the tokens that chats and languages need. Ids are below `tokens`.
json CharacterTokenizer(int tokens, const std::vector<std::pair<int, std::string>>& special, const json& template_) {
  json file = {{"version", "1.0"},
               {"truncation", nullptr},
               {"padding", nullptr},
               {"normalizer", nullptr},
               {"pre_tokenizer", nullptr},
               {"post_processor", template_},
               {"decoder", {{"type", "Fuse"}}}};
  json vocabulary = json::object();
  for (const auto& [id, piece] : special) {
    vocabulary[piece] = id;
    file["added_tokens"].push_back({{"id", id},
                                    {"content", piece},
                                    {"special", true},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false}});
  }
  int id = 0;
  const auto add = [&](const std::string& piece) {
    const auto taken = [&](int i) {
      return std::any_of(special.begin(), special.end(), [&](const auto& one) { return one.first == i; });
    };
    while (taken(id)) ++id;
    if (id < tokens) vocabulary[piece] = id++;
  };
  for (char c = 'a'; c <= 'z'; ++c) add(std::string(1, c));
  add(" "), add("\n");
  for (char c = '!'; c <= '~'; ++c) {
    if (c < 'a' || c > 'z') add(std::string(1, c));
  }
  for (int c = 0x80; c <= 0xbf; ++c) add(std::string("\xc3") + static_cast<char>(c));  // two bytes
  file["model"] = {{"type", "BPE"},          {"unk_token", "<unk>"}, {"fuse_unk", false},
                   {"byte_fallback", false}, {"vocab", vocabulary},  {"merges", json::array()}};
  return file;
}

// A published model with a tokenizer and its authors' configuration of generation, converted.
std::string Blob(const std::string& published, const json& tokenizer, const json& generation,
                 const std::string& weights = "f32") {
  const fs::path folder = Temporary("published-" + published);
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const char* name : {"config.json", "model.safetensors"}) {
    fs::copy_file(InData("hf/" + published) + "/" + name, folder / name);
  }
  std::ofstream(folder / "tokenizer.json") << tokenizer.dump();
  std::ofstream(folder / "generation_config.json") << generation.dump();
  const std::string blob = Temporary(published + "-" + weights + ".fovea");
  const CommandResult made = Fovea({"convert", folder.string(), "-o", blob, "--weights", weights});
  EXPECT_EQ(made.status, 0) << made.err;
  return blob;
}

std::string DecoderOf(const std::string& published, int tokens, const std::string& weights = "f32") {
  return Blob(
      published,
      CharacterTokenizer(
          tokens, {{0, "<pad>"}, {1, "<s>"}, {2, "</s>"}, {3, "<unk>"}, {4, "<|im_start|>"}, {5, "<|im_end|>"}}, {}),
      {{"eos_token_id", 2}, {"bos_token_id", 1}}, weights);
}

const std::string& Decoder() {
  static const std::string blob = DecoderOf("llama", 177);
  return blob;
}

// Texts that end with </s> and have the token of their language in front of them or at the very end.
json LanguageTokenizer(int tokens, bool in_front) {
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
             language = {{"SpecialToken", {{"id", "en_XX"}, {"type_id", 0}}}},
             end = {{"SpecialToken", {{"id", "</s>"}, {"type_id", 0}}}};
  return CharacterTokenizer(
      tokens, {{0, "<s>"}, {1, "<pad>"}, {2, "</s>"}, {3, "<unk>"}, {4, "en_XX"}, {5, "de_DE"}},
      {{"type", "TemplateProcessing"},
       {"single", in_front ? json::array({language, text, end}) : json::array({text, end, language})},
       {"pair", json::array()},
       {"special_tokens",
        {{"en_XX", {{"id", "en_XX"}, {"ids", json::array({4})}, {"tokens", json::array({"en_XX"})}}},
         {"</s>", {{"id", "</s>"}, {"ids", json::array({2})}, {"tokens", json::array({"</s>"})}}}}}});
}

const std::string& Translator() {
  static const std::string blob = Blob("mbart", LanguageTokenizer(71, false),
                                       {{"eos_token_id", 2},
                                        {"decoder_start_token_id", 2},
                                        {"forced_eos_token_id", 2},
                                        {"num_beams", 3},
                                        {"length_penalty", 0.8},
                                        {"early_stopping", true},
                                        {"max_length", 12},
                                        {"bad_words_ids", json::array({json::array({1})})}});
  return blob;
}

CommandResult Invoke(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return Fovea(arguments);
}

CommandResult Generate(const std::vector<std::string>& more) {
  return Invoke({"generate", Decoder(), "--max-tokens", "20"}, more);
}

json GenerateJson(const std::vector<std::string>& more) {
  const CommandResult result = Invoke({"generate", Decoder(), "--max-tokens", "20", "--json"}, more);
  EXPECT_EQ(result.status, 0) << result.err;
  return ParsedJson(result.out);
}

// Redirects standard input during its lifetime.
class Typed {
 public:
  explicit Typed(const std::string& text) : text_(text), before_(std::cin.rdbuf(text_.rdbuf())) { std::cin.clear(); }
  ~Typed() { std::cin.rdbuf(before_), std::cin.clear(); }

 private:
  std::istringstream text_;
  std::streambuf* before_;
};

TEST(Writing, PromptsAreFollowedByWhatComes) {
  const std::string text = GenerateJson({"--prompt", "hello"})[0]["text"];
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(Generate({"--prompt", "hello"}).out, "hello" + text + "\n");
  EXPECT_EQ(Generate({"-p", "hello", "--no-display-prompt"}).out, text + "\n");
  const Typed typed("hello");
  EXPECT_EQ(Generate({"--prompt", "-", "--no-display-prompt"}).out, text + "\n");
  // One after the other or in a batch: the same random numbers.
  const std::vector<std::string> draws = {"--prompt", "ab", "--prompt", "ab", "--temperature", "2", "--seed", "5"};
  const json both = GenerateJson(draws);
  EXPECT_EQ(Generate(draws).out,
            "ab" + both[0]["text"].get<std::string>() + "\nab" + both[1]["text"].get<std::string>() + "\n");
  EXPECT_NE(both[0]["text"], both[1]["text"]);
}

// A prefix has the effect of text at the end of the prompt, except in the output.
TEST(Writing, PrefixesGoOnWithPrompts) {
  const auto tokens = [](const std::vector<std::string>& more) {
    const CommandResult result = Invoke({"generate", Decoder(), "--ignore-stop", "--max-tokens", "9", "--json"}, more);
    EXPECT_EQ(result.status, 0) << result.err;
    return ParsedJson(result.out);
  };
  const json whole = tokens({"--text", "abcd"}), begun = tokens({"--text", "ab", "--target-prefix", "cd"});
  EXPECT_EQ(begun[0]["tokens"], whole[0]["tokens"]);
  EXPECT_EQ(begun[0]["text"], "cd" + whole[0]["text"].get<std::string>());
  const auto beams = [](const std::vector<std::string>& more) { return Generate(more).out; };
  EXPECT_NE(beams({"--text", "ab", "--target-prefix", "cd", "--beams", "2"}).find("ab -> cd"), std::string::npos);
  // A text that is scored is tokenized together with the prompt.
  const json scored = tokens({"--text", "ab", "--score", "cd"});
  EXPECT_EQ(scored[0]["tokens"].size(), 2u);
}

TEST(Writing, StringsEndTexts) {
  const std::string text = GenerateJson({"--prompt", "hello"})[0]["text"];
  const std::vector<std::string> characters = Characters(text);
  ASSERT_GT(characters.size(), 8u);
  const std::string stop = characters[4] + characters[5] + characters[6];
  const std::string before = text.substr(0, text.find(stop));
  EXPECT_EQ(Generate({"--prompt", "hello", "--no-display-prompt", "--stop", stop}).out, before + "\n");
  const json found = GenerateJson({"--text", "hello", "--text", "other", "--stop", stop, "--stop", "never this"});
  EXPECT_EQ(found[0]["text"], before);
  EXPECT_EQ(Generate({"--prompt", "hello", "--stop", stop, "--beams", "2"}).status, 2);
}

// Penalties and rules count the tokens of the whole chat.
TEST(Writing, ChatsRememberTokensOfEarlierTurns) {
  for (const std::vector<std::string>& rule :
       {std::vector<std::string>{"--repetition-penalty", "3"}, {"--no-repeat-ngram-size", "1"}}) {
    std::vector<tools::ChatMessage> messages;
    std::string expected;
    for (const char* said : {"hi", "ok", "so"}) {
      messages.push_back({"user", said});
      std::vector<std::string> alone = {"--prompt", tools::ChatPrompt("chatml", messages), "--no-display-prompt", "-n",
                                        "6"};
      alone.insert(alone.end(), rule.begin(), rule.end());
      const CommandResult fresh = Invoke({"generate", Decoder()}, alone);
      ASSERT_EQ(fresh.status, 0) << fresh.err;
      expected += fresh.out;
      messages.push_back({"assistant", fresh.out.substr(0, fresh.out.size() - 1)});
    }
    std::vector<std::string> chat = {"--chat", "--chat-template", "chatml", "-n", "6"};
    for (const char* said : {"hi", "ok", "so"}) chat.insert(chat.end(), {"--prompt", said});
    chat.insert(chat.end(), rule.begin(), rule.end());
    EXPECT_EQ(Invoke({"generate", Decoder()}, chat).out, expected) << rule[0];
  }
}

TEST(Writing, ChatsGoOnInOneText) {
  const std::vector<std::string> system = {"--chat", "--chat-template", "chatml", "--system", "be brief"};
  const auto chat = [&](std::vector<std::string> more) {
    more.insert(more.begin(), system.begin(), system.end());
    more.insert(more.end(), {"--max-tokens", "6"});
    return Invoke({"generate", Decoder()}, more);
  };
  // The conversation before each turn, as one prompt.
  std::vector<tools::ChatMessage> messages = {{"system", "be brief"}};
  std::string expected;
  for (const char* said : {"hi", "ok"}) {
    messages.push_back({"user", said});
    const CommandResult fresh = Invoke({"generate", Decoder()}, {"--prompt", tools::ChatPrompt("chatml", messages),
                                                                 "--no-display-prompt", "--max-tokens", "6"});
    ASSERT_EQ(fresh.status, 0) << fresh.err;
    expected += fresh.out;
    messages.push_back({"assistant", fresh.out.substr(0, fresh.out.size() - 1)});
  }
  const CommandResult turns = chat({"--prompt", "hi", "--prompt", "ok"});
  EXPECT_EQ(turns.out, expected) << turns.err;
  const Typed typed("hi\n\nok\n");
  if (isatty(STDIN_FILENO) == 0) {  // else it shows where to type
    EXPECT_EQ(chat({}).out, expected);
  }
  EXPECT_NE(chat({"--prompt", std::string(200, 'a')}).err.find("the last message alone has"), std::string::npos);
  EXPECT_EQ(Invoke({"generate", Decoder()}, {"--chat", "--prompt", "hi"}).status, 2);  // it has no template
}

// Decoders that keep whole texts, windows of them, some of each, or what short convolutions read; texts of several
// pages. One draft is always right, the other one, with weights of four bits, not always.
TEST(Writing, DraftsChangeNothing) {
  const std::string text = "a prompt that is longer than a window and than a page of kept rows";
  for (const std::pair<std::string, int>& model : std::vector<std::pair<std::string, int>>{
           {"llama", 177}, {"mistral", 177}, {"qwen2-sliding", 177}, {"gemma3", 160}, {"lfm2", 71}}) {
    const std::string& published = model.first;
    const int tokens = model.second;
    const std::string writer = DecoderOf(published, tokens), close = DecoderOf(published, tokens, "int4");
    for (const std::vector<std::string>& how : std::vector<std::vector<std::string>>{
             {"--text", text, "--text", "hello", "--logprobs", "2", "--json", "--ignore-stop"},
             {"--text", text, "--text", "hello", "--logprobs", "2", "--json", "--temperature", "1", "--seed", "3"},
             {"--chat", "--chat-template", "chatml", "--prompt", "hello", "--prompt", "and then"}}) {
      const auto generate = [&](std::vector<std::string> more) {
        more.insert(more.end(), how.begin(), how.end());
        more.insert(more.end(), {"--max-tokens", "45"});
        const CommandResult result = Invoke({"generate", writer}, more);
        EXPECT_EQ(result.status, 0) << published << ": " << result.err;
        return result.out;
      };
      const std::string expected = generate({});
      for (const std::string& draft : {writer, close}) {
        for (const char* count : {"1", "3", "20"}) {
          EXPECT_EQ(generate({"--draft", draft, "--draft-tokens", count}), expected) << published << " " << count;
        }
      }
    }
  }
  EXPECT_NE(Invoke({"translate", Translator()}, {"--text", "a", "--draft", Decoder()}).status, 0);
}

TEST(Writing, BeamsTellSeveralTexts) {
  const json found = GenerateJson({"--text", "hello", "--text", "b", "--beams", "4", "--hypotheses", "3"});
  for (const json& text : found) {
    ASSERT_EQ(text["hypotheses"].size(), 3u);
    EXPECT_EQ(text["hypotheses"][0]["text"], text["text"]);
    EXPECT_GE(text["hypotheses"][0]["score"], text["hypotheses"][1]["score"]);
    EXPECT_NE(text["hypotheses"][0]["tokens"], text["hypotheses"][1]["tokens"]);
  }
  EXPECT_EQ(GenerateJson({"--text", "b", "--beams", "4", "--hypotheses", "3"})[0]["hypotheses"],
            found[1]["hypotheses"]);
  EXPECT_EQ(Generate({"--text", "a", "--hypotheses", "3"}).status, 2);
  EXPECT_EQ(Generate({"--text", "a", "--length-penalty", "2"}).status, 2);
  EXPECT_EQ(Generate({"--text", "a", "--beams", "2", "--early-stopping", "maybe"}).status, 2);
}

TEST(Writing, RulesHold) {
  const std::vector<int> tokens = GenerateJson({"--text", "hello", "--no-repeat-ngram-size", "2"})[0]["tokens"];
  std::set<std::pair<int, int>> pairs;
  for (size_t i = 1; i < tokens.size(); ++i) EXPECT_TRUE(pairs.insert({tokens[i - 1], tokens[i]}).second) << i;
  const std::string text = GenerateJson({"--text", "hello"})[0]["text"];
  const std::vector<std::string> characters = Characters(text);
  ASSERT_GT(characters.size(), 4u);
  const std::string part = characters[2] + characters[3];
  const std::string other = GenerateJson({"--text", "hello", "--suppress", part})[0]["text"];
  EXPECT_EQ(other.find(part), std::string::npos) << other;
  EXPECT_EQ(other.rfind(text.substr(0, text.find(part) + characters[2].size()), 0), 0u) << text << " " << other;
}

// A stream that is interrupted after the given number of bytes, as by a user at the keyboard.
class Interrupting : public std::stringbuf {
 public:
  explicit Interrupting(size_t after) : after_(after) {}

 protected:
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    const bool before = str().size() < after_;
    const std::streamsize written = std::stringbuf::xsputn(bytes, count);
    if (before && str().size() >= after_) raise(SIGINT);
    return written;
  }

 private:
  size_t after_;
};

TEST(Writing, CtrlCEndsCleanly) {
  const std::string whole = Generate({"--prompt", "hello", "--no-display-prompt"}).out;
  Interrupting buffer(4);
  std::ostream out(&buffer);
  std::ostringstream err;
  const std::vector<const char*> arguments = {"fovea",        "generate", Decoder().c_str(),    "--prompt", "hello",
                                              "--max-tokens", "20",       "--no-display-prompt"};
  EXPECT_EQ(tools::RunCommand(static_cast<int>(arguments.size()), arguments.data(), out, err), 130);
  const std::string part = buffer.str();
  EXPECT_EQ(part.back(), '\n');
  EXPECT_LT(part.size(), whole.size());
  EXPECT_EQ(part.substr(0, part.size() - 1), whole.substr(0, part.size() - 1));
  EXPECT_EQ(err.str(), "");
  EXPECT_EQ(Generate({"--prompt", "hello", "--no-display-prompt"}).out, whole);  // nothing stays of it
}

// T5's authors configure its tasks, the prefix of each, and the search.
TEST(Translating, TasksAreThoseOfTheModel) {
  json generation = {{"decoder_start_token_id", 2}, {"eos_token_id", 2}, {"max_length", 9}, {"num_beams", 3}};
  generation["task_specific_params"] = {
      {"short.one", {{"prefix", "ab "}, {"num_beams", 1}, {"max_length", 5}}},
      {"long", {{"min_length", 7}, {"length_penalty", 2.0}, {"no_repeat_ngram_size", 1}, {"early_stopping", true}}}};
  const std::string blob =
      Blob("bart", CharacterTokenizer(71, {{0, "<s>"}, {1, "<pad>"}, {2, "</s>"}, {3, "<unk>"}}, {}), generation);
  const auto translate = [&](const std::vector<std::string>& arguments) {
    const CommandResult result = Invoke({"translate", blob}, arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  const std::string of_short = translate({"--text", "cd", "--task", "short.one"});
  EXPECT_EQ(of_short, translate({"--text", "ab cd", "--beams", "1", "--max-tokens", "4"}));
  EXPECT_NE(of_short, translate({"--text", "cd"}));
  const std::string of_long = translate({"--text", "cd", "--task", "long"});
  EXPECT_EQ(of_long, translate({"--text", "cd", "--min-tokens", "7", "--length-penalty", "2", "--no-repeat-ngram-size",
                                "1", "--early-stopping", "true"}));
  EXPECT_NE(of_long, translate({"--text", "cd"}));
  // Options of the command line override options of the task.
  EXPECT_EQ(translate({"--text", "cd", "--task", "short.one", "--beams", "2", "--max-tokens", "6"}),
            translate({"--text", "ab cd", "--beams", "2", "--max-tokens", "6"}));
  const CommandResult unknown = Invoke({"translate", blob}, {"--text", "cd", "--task", "none"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("no task 'none'; its tasks: long, short.one"), std::string::npos) << unknown.err;
  EXPECT_NE(Invoke({"translate", Translator()}, {"--text", "cd", "--task", "long"}).err.find("its tasks: none"),
            std::string::npos);
}

// Each of two texts has its own source, with beams and without.
TEST(Translating, NothingOfTheSourceComes) {
  const std::vector<std::string> texts = {"abcdefghijklmnopqrstuvwxyz", "!#$%&'()*+,-./0123456789:;<=>?@ABCDE"};
  const auto common = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--json", "--text", texts[0], "--text", texts[1], "--min-tokens", "8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const json found = ParsedJson(Invoke({"translate", Translator()}, arguments).out);
    size_t count = 0;
    for (size_t i = 0; i < texts.size(); ++i) {
      EXPECT_GE(found[i]["tokens"].size(), 8u);
      for (const char c : found[i]["text"].get<std::string>()) count += texts[i].find(c) != std::string::npos ? 1 : 0;
    }
    return count;
  };
  for (const char* beams : {"1", "3"}) {
    EXPECT_GT(common({"--beams", beams}), 0u);
    EXPECT_EQ(common({"--beams", beams, "--encoder-no-repeat-ngram-size", "1"}), 0u);
  }
}

TEST(Translating, LinesKeepTheirOrder) {
  const auto translate = [](const std::vector<std::string>& more) {
    const CommandResult result = Invoke({"translate", Translator()}, more);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  const std::string one = translate({"--text", "abc"}), two = translate({"--text", "a longer line"});
  EXPECT_NE(one, two);
  const std::string expected = one + "\n" + two + one;
  EXPECT_EQ(translate({"--text", "abc", "--text", "", "--text", "a longer line", "--text", "abc"}), expected);
  for (const char* size : {"1", "2", "32"}) {
    const Typed typed("abc\n\na longer line\r\nabc");
    EXPECT_EQ(translate({"--batch-size", size}), expected) << size;
  }
  const std::string file = Temporary("lines.txt");
  std::ofstream(file) << "abc\n\na longer line\nabc\n";
  EXPECT_EQ(translate({"--file", file}), expected);
  EXPECT_EQ(Invoke({"translate", Translator()}, {"--file", file + ".none"}).status, 2);
  EXPECT_NE(Invoke({"translate", Decoder()}, {"--text", "a"}).err.find("no encoder"), std::string::npos);
  EXPECT_NE(Invoke({"translate", Translator()}, {"--text", std::string(100, 'a')}).err.find("too long"),
            std::string::npos);
}

// Beams, the limit and forced tokens come from the model's authors.
TEST(Translating, AsTheModelSays) {
  const auto found = [](const std::vector<std::string>& more) {
    std::vector<std::string> all = {"--text", "abc", "--json"};
    all.insert(all.end(), more.begin(), more.end());
    const CommandResult result = Invoke({"translate", Translator()}, all);
    EXPECT_EQ(result.status, 0) << result.err;
    return ParsedJson(result.out)[0];
  };
  const json usual = found({});
  EXPECT_EQ(usual,
            found({"--beams", "3", "--length-penalty", "0.8", "--early-stopping", "true", "--max-tokens", "11"}));
  EXPECT_FALSE(usual["hypotheses"].empty());
  const json greedy = found({"--beams", "1"});
  EXPECT_FALSE(greedy.contains("hypotheses"));
  EXPECT_LE(greedy["tokens"].size(), 11u);
  EXPECT_EQ(greedy["tokens"].back(), 2);  // forced, if it is the last one there can be
  EXPECT_EQ(found({"--beams", "3", "--hypotheses", "2"})["hypotheses"].size(), 2u);
}

TEST(Writing, OptionsWithoutEffectAreNamed) {
  const CommandResult idle = Generate({"--prompt", "ab", "--top-p", "0.5", "--seed", "3"});
  EXPECT_EQ(idle.err, "fovea: without a --temperature above 0 the best token is taken; ignored: --top-p, --seed\n");
  EXPECT_EQ(idle.out, Generate({"--prompt", "ab"}).out);
  EXPECT_EQ(Generate({"--prompt", "ab", "--top-p", "0.5", "--temperature", "0.5"}).err, "");
  EXPECT_NE(Generate({"--prompt", "ab", "--draft", Translator()}).err.find("a draft model is a decoder without"),
            std::string::npos);
}

TEST(Writing, FaultsNameTheText) {
  EXPECT_EQ(Invoke({"generate", Decoder()}, {"--text", "ab", "--text", "c\xff"}).err.rfind("fovea: text 2 of 2: ", 0),
            0u);
  EXPECT_EQ(Invoke({"generate", Decoder()}, {"--text", "c\xff"}).err.rfind("fovea: text 'c", 0), 0u);
  EXPECT_EQ(Invoke({"translate", Translator()}, {"--text", "ab", "--text", "c\xff"}).err.rfind("fovea: text 2: ", 0),
            0u);
}

// Special tokens that a text spells are text with --literal; special tokens of the prefix are tokens.
TEST(Translating, LiteralTexts) {
  const auto scores = [](const std::vector<std::string>& command, const std::vector<std::string>& more) {
    const CommandResult result = Invoke(command, more);
    EXPECT_EQ(result.status, 0) << result.err;
    return ParsedJson(result.out)[0]["hypotheses"];
  };
  const std::vector<std::string> literal = {"translate", Translator(), "--json", "--literal", "--source-prefix"};
  const auto of_ids = [&](const std::string& ids) {
    return scores({"generate", Translator(), "--json"}, {"--ids", ids});
  };
  EXPECT_EQ(scores(literal, {"", "--text", "a</s>"}), of_ids("6 61 48 24 63 2 4"));
  EXPECT_EQ(scores(literal, {"b", "--text", "a</s>"}), of_ids("7 6 61 48 24 63 2 4"));
  EXPECT_EQ(scores(literal, {"de_DE", "--text", "a"}), of_ids("5 6 2 4"));
  EXPECT_EQ(scores(literal, {"de_DEb", "--text", "a</s>"}), of_ids("5 7 6 61 48 24 63 2 4"));
  const CommandResult read = Invoke({"translate", Translator(), "--json"}, {"--text", "a</s>"});
  EXPECT_EQ(ParsedJson(read.out)[0]["hypotheses"], of_ids("6 2 2 4"));
  EXPECT_EQ(read.err, "fovea: the text spells special tokens, which are read as such; --literal reads them as text\n");
}

TEST(Translating, LanguagesAreTokens) {
  const auto found = [](const std::vector<std::string>& command, const std::vector<std::string>& more) {
    const CommandResult result = Invoke(command, more);
    EXPECT_EQ(result.status, 0) << result.err;
    return ParsedJson(result.out)[0]["hypotheses"];  // scores distinguish sources with the same translation
  };
  const auto translations = [&](const std::vector<std::string>& more) {
    return found({"translate", Translator(), "--text", "abc", "--json"}, more);
  };
  EXPECT_EQ(translations({"--target-language", "de_DE"})[0]["tokens"][0], 5);
  EXPECT_EQ(translations({"--target-language", "de_DE", "--source-language", "en_XX"}),
            translations({"--target-language", "de_DE"}));
  const json german = translations({"--source-language", "de_DE"});
  EXPECT_EQ(found({"generate", Translator(), "--json"}, {"--ids", "6 7 8 2 5"}), german);
  EXPECT_NE(translations({}), german);
  // A language token in front of the text.
  const std::string front =
      Blob("m2m_100", LanguageTokenizer(120, true),
           {{"eos_token_id", 2}, {"decoder_start_token_id", 2}, {"max_length", 12}, {"num_beams", 2}});
  EXPECT_EQ(found({"translate", front, "--json"}, {"--text", "abc", "--source-language", "de_DE"}),
            found({"generate", front, "--json"}, {"--ids", "5 6 7 8 2"}));
  EXPECT_NE(Invoke({"translate", Translator()}, {"--text", "a", "--target-language", "xx"}).err.find("language 'xx'"),
            std::string::npos);
  const CommandResult begun = Invoke({"translate", Translator()}, {"--text", "abc", "--target-prefix", "hm"});
  EXPECT_EQ(begun.out.rfind("hm", 0), 0u) << begun.out;
}

}  // namespace
}  // namespace fovea::test
