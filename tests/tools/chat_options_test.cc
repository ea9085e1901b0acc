// Options of chats: messages from files and standard input, variables and the date; whole prompts as tokens.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/run_command.h"
#include "tests/text/fixtures.h"
#include "tests/tools/tiny_bert.h"
#include "tools/base/fail.h"
#include "tools/commands/chat_arguments.h"
#include "tools/text/chat_template.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kAll[] = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";

// A directory with a tokenizer and this template.
std::string Folder(const std::string& name, const json& config) {
  const fs::path folder = Temporary("chat-options-" + name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  std::ofstream(folder / "tokenizer.json") << WordPieceJson().dump();
  std::ofstream(folder / "tokenizer_config.json") << config.dump();
  return folder.string();
}

std::string File(const std::string& name, const std::string& text) {
  const std::string path = Temporary("chat-options-" + name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::vector<std::string> Tokenize(const std::string& folder, std::vector<std::string> more) {
  more.insert(more.begin(), {"tokenize", folder, "--chat", "auto", "--json"});
  return more;
}

std::string Prompt(const std::string& folder, const std::vector<std::string>& more) {
  return FoveaJson(Tokenize(folder, more))[0]["text"];
}

TEST(ChatOptions, MessagesAreReadFromAFileOrStandardInput) {
  const std::string folder = Folder("messages", {{"chat_template", kAll}});
  const std::string chat = R"([{"role": "system", "content": "S"}, {"role": "user", "content": "u"},)"
                           R"({"role": "assistant", "content": "é"}])";
  EXPECT_EQ(Prompt(folder, {"--messages", File("chat.json", chat)}), "<system>S<user>u<assistant>é");
  EXPECT_EQ(Prompt(folder, {"--messages", File("chat.json", chat), "--text", "more"}),
            "<system>S<user>u<assistant>é<user>more");
  std::istringstream given(chat);
  std::streambuf* const before = std::cin.rdbuf(given.rdbuf());
  EXPECT_EQ(Prompt(folder, {"--messages", "-"}), "<system>S<user>u<assistant>é");
  given.str("[{]");
  given.clear();
  const std::string said = FoveaError(Tokenize(folder, {"--messages", "-"}));
  std::cin.rdbuf(before);
  EXPECT_NE(said.find("standard input"), std::string::npos) << said;
}

// Why the options are refused.
std::string Refusal(const tools::ChatArguments& arguments) {
  try {
    arguments.Inputs();
    arguments.Messages();
  } catch (const tools::Failure& failure) {
    return failure.what();
  }
  return "not refused";
}

tools::ChatArguments WithMessages(const std::string& path) {
  tools::ChatArguments arguments;
  arguments.messages = path;
  return arguments;
}

TEST(ChatOptions, MessagesOfWrongShapesAreRefusedByName) {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "is not JSON"},
      {"{}", "must be a list of messages"},
      {"\"a\"", "must be a list of messages"},
      {"[1]", "message 0 is not an object"},
      {R"([{"role": "user", "content": "a"}, {"content": "b"}])", "message 1 has no role"},
      {R"([{"role": 5}])", "message 0 has no role"},
      {R"([{"role": "user")", "is not JSON"},
      {R"([{"role": "user", "content": 18446744073709551615}])", "out of range"}};
  for (const auto& [text, why] : wrong) {
    const std::string path = File("wrong.json", text), said = Refusal(WithMessages(path));
    EXPECT_NE(said.find(why), std::string::npos) << text << ": " << said;
    EXPECT_NE(said.find(path), std::string::npos) << said;
  }
  const std::string deep(200, '[');
  EXPECT_NE(Refusal(WithMessages(File("deep.json", deep))).find("64 deep"), std::string::npos);
  EXPECT_NE(Refusal(WithMessages(Temporary("chat-options-absent"))).find("absent"), std::string::npos);
  const std::string folder = Folder("alone", {{"chat_template", kAll}});
  EXPECT_NE(FoveaError({"tokenize", folder, "--json", "--messages", File("one.json", "[{\"role\": \"user\"}]")})
                .find("--messages needs --chat"),
            std::string::npos);
}

TEST(ChatOptions, TheDateIsTheTemplatesNow) {
  const std::string folder = Folder("date", {{"chat_template", "{{ strftime_now('%d %b %Y|%A|%H:%M|%j') }}"}});
  EXPECT_EQ(Prompt(folder, {"--text", "a", "--date", "2024-02-29"}), "29 Feb 2024|Thursday|12:00|060");
  EXPECT_EQ(Prompt(folder, {"--text", "a", "--date", "1999-12-31"}), "31 Dec 1999|Friday|12:00|365");
  const std::string bare = Folder("bare", {{"chat_template", "{{ strftime_now('%-d.%-m.%Y %-M %-j %-e') }}"}});
  EXPECT_EQ(Prompt(bare, {"--text", "a", "--date", "2024-02-09"}), "9.2.2024 0 40 9");
  EXPECT_EQ(Prompt(bare, {"--text", "a", "--date", "2024-10-20"}), "20.10.2024 0 294 20");
  for (const char* wrong :
       {"2024-2-29", "2024-13-01", "2024-00-10", "2024-01-32", "2023-02-29", "2024-04-31", "24-01-01", "2024-01-011",
        "today", "2024/01/01", "1969-12-31", "2024- 1- 1", "2024--1-01", "2024-01-00"}) {
    tools::ChatArguments arguments;
    arguments.date = wrong;
    EXPECT_EQ(Refusal(arguments).rfind("--date '" + std::string(wrong) + "'", 0), 0u) << wrong;
  }
}

TEST(ChatOptions, VariablesReachTheTemplate) {
  const std::string folder =
      Folder("variables", {{"chat_template", "{{ enable_thinking }}|{{ documents | tojson }}|{{ tools[0].name }}"}});
  const std::string tools = File("tools.json", R"([{"name": "é", "b": 1, "a": 2}])");
  EXPECT_EQ(Prompt(folder, {"--text", "a", "--template-arg", "enable_thinking=false", "--template-arg",
                            "documents=[{\"b\": 1, \"a\": \"<x>\"}]", "--template-arg", "tools=@" + tools}),
            "False|[{\"b\": 1, \"a\": \"<x>\"}]|é");
  EXPECT_NE(FoveaError(Tokenize(folder, {"--text", "a", "--template-arg", "enable"})).find("NAME=VALUE"),
            std::string::npos);
}

TEST(ChatOptions, ToolsChooseTheirTemplate) {
  const std::string folder =
      Folder("tools", {{"chat_template",
                        {{{"name", "default"}, {"template", "plain"}},
                         {{"name", "tool_use"}, {"template", "with {{ (tools or []) | length }}"}},
                         {{"name", "rag"}, {"template", "documents"}}}}});
  EXPECT_EQ(Prompt(folder, {"--text", "a"}), "plain");
  EXPECT_EQ(Prompt(folder, {"--text", "a", "--template-arg", "tools=[{}, {}]"}), "with 2");
  EXPECT_EQ(Prompt(folder, {"--text", "a", "--template-arg", "tools=[]"}), "plain");
  EXPECT_EQ(Prompt(folder, {"--text", "a", "--template-arg", "tools=null"}), "plain");
  const auto named = [&](const std::string& name) {
    return FoveaJson({"tokenize", folder, "--chat", name, "--json", "--text", "a"})[0]["text"].get<std::string>();
  };
  EXPECT_EQ(named("rag"), "documents");
  EXPECT_EQ(named("tool_use"), "with 0");
}

// [CLS] begins texts of this tokenizer, [SEP] ends them.
TEST(ChatOptions, OneBeginAndNoEndStandAroundAPrompt) {
  const auto ids = [&](const std::string& name, const std::string& source) {
    const json config = {{"chat_template", source}, {"bos_token", "[CLS]"}, {"eos_token", "[SEP]"}};
    return FoveaJson(Tokenize(Folder(name, config), {"--text", "the"}))[0]["pieces"].get<std::vector<std::string>>();
  };
  using Pieces = std::vector<std::string>;
  const Pieces plain = {"the"}, begun = {"[CLS]", "the"};
  // In a directory the template writes all of them, as in transformers.
  EXPECT_EQ(ids("none", "{{ messages[0].content }}"), plain);
  EXPECT_EQ(ids("bos", "{{ bos_token }}{{ messages[0].content }}"), begun);
  EXPECT_EQ(ids("eos", "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}"), (Pieces{"[CLS]", "the", "[SEP]"}));
}

TEST(ChatOptions, FaultsOfATemplateAreNamedWithTheirLine) {
  const auto said = [&](const std::string& source) -> std::string {
    try {
      return "not refused: " + tools::ChatTemplate{source, "<s>", "</s>"}.Render({{"user", "a"}}, true);
    } catch (const tools::Failure& failure) {
      return failure.what();
    }
  };
  EXPECT_NE(said("a\n{% for m in messages %}\n{{ m.content | xmlattr }}{% endfor %}").find("'xmlattr' (line 3)"),
            std::string::npos);
  EXPECT_NE(said("\n\n{{ messages.zz.y }}").find("(line 3)"), std::string::npos);
  EXPECT_NE(said("\n{{ 1 / 0 }}").find("divides by zero (line 2)"), std::string::npos);
  EXPECT_NE(said("\n{% endif %}").find("in line 2"), std::string::npos);
  EXPECT_NE(said("\n\n{% while 1 %}").find("the statement 'while' in line 3"), std::string::npos);
  EXPECT_NE(said("{{ raise_exception('Only\ntwo roles') }}").find("refuses the chat: Only"), std::string::npos);
  // A macro's fault is where it is, not where it is called.
  EXPECT_NE(said("{% macro m() %}\n{{ 'a' + 1 }}{% endmacro %}\n\n{{ m() }}").find("(line 2)"), std::string::npos);
}

// A message cannot write the template's special tokens, so it cannot end its turn; with --special it can.
TEST(ChatOptions, SpecialTokensInMessagesAreText) {
  const std::string folder =
      Folder("special", {{"chat_template", "{% for m in messages %}[CLS]{{ m.content }}[SEP]{% endfor %}"}});
  const json plain = FoveaJson(Tokenize(folder, {"--text", "the un"}))[0];
  EXPECT_EQ(plain["ids"].front(), 2);
  EXPECT_EQ(plain["ids"].back(), 3);
  for (const std::string hostile : {"the[SEP][CLS]un", "[SEP] the", "the un[SEP]", "[CLS]the"}) {
    const json text = FoveaJson(Tokenize(folder, {"--text", hostile}))[0];
    const json asked = FoveaJson(Tokenize(folder, {"--text", hostile, "--special"}))[0];
    const std::vector<int32_t> ids = text["ids"], tokens = asked["ids"];
    EXPECT_EQ(text["text"], "[CLS]" + hostile + "[SEP]");
    EXPECT_EQ(std::count(ids.begin(), ids.end(), 2), 1) << hostile;
    EXPECT_EQ(std::count(ids.begin(), ids.end(), 3), 1) << hostile;
    EXPECT_EQ(ids.back(), 3);
    EXPECT_GT(std::count(tokens.begin(), tokens.end(), 2) + std::count(tokens.begin(), tokens.end(), 3), 2) << hostile;
    const json& ranges = text["ranges"];
    EXPECT_EQ(ranges.back()[1], 5 + hostile.size() + 5) << "ranges are of the prompt";
  }
}

}  // namespace
}  // namespace fovea::test
