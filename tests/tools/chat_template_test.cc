// Prompts of published chat templates' shapes, and the language that they are written in, against Jinja2 set up as in
// transformers (tests/data/chat/expected.py); and templates that are hostile.
#include "tools/text/chat_template.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/paths.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/text/template_statement.h"

namespace fovea::tools {
namespace {

using OrderedJson = nlohmann::ordered_json;

// 4 March 2026, 05:06:07 in the time zone of the machine.
int64_t Now() {
  struct tm parts = {};
  parts.tm_year = 126, parts.tm_mon = 2, parts.tm_mday = 4;
  parts.tm_hour = 5, parts.tm_min = 6, parts.tm_sec = 7, parts.tm_isdst = -1;
  return mktime(&parts);
}

OrderedJson Expected() { return OrderedJson::parse(ReadFile(test::InData("chat/expected.json"))); }

std::string Rendered(const ChatTemplate& format, const std::vector<ChatMessage>& messages, bool answers) {
  try {
    return format.Render(messages, answers);
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("chat template"), std::string::npos) << failure.what();
    return std::string("refused: ") + failure.what();
  }
}

TEST(ChatTemplate, PromptsOfPublishedShapes) {
  const OrderedJson expected = Expected();
  size_t rendered = 0;
  for (const OrderedJson& entry : expected["cases"]) {
    const std::string name = entry[0], chat = entry[1];
    ChatTemplate format = {ReadFile(test::InData("chat/" + name + ".jinja")), "<s>", "</s>"};
    for (const auto& [key, value] : expected["variables"][entry[2].get<size_t>()].items()) {
      format.variables.emplace_back(key, value.dump());
    }
    format.time = Now();
    const std::vector<ChatMessage> messages = MessagesIn(expected["chats"][chat].dump(), chat);
    const std::string prompt = Rendered(format, messages, entry[3] == 1);
    const int number = entry[4];
    if (number < 0) {
      EXPECT_EQ(prompt.rfind("refused: ", 0), 0u) << entry << "\n" << prompt;
    } else {
      EXPECT_EQ(prompt, expected["prompts"][static_cast<size_t>(number)].get<std::string>()) << entry;
      ++rendered;
    }
    EXPECT_TRUE(UnknownParts(format.source).empty()) << name;
  }
  EXPECT_GT(rendered, 400u);
}

std::string Expression(const std::string& source, const OrderedJson& data) {
  try {
    jinja::Budget budget;
    std::vector<std::pair<std::string, jinja::Value>> variables;
    for (const auto& [key, value] : data.items()) {
      variables.emplace_back(key, jinja::ParsedJson(value.dump(), key, &budget));
    }
    return jinja::Rendered(jinja::Parse(source), variables, Now());
  } catch (const Failure& failure) {
    return std::string("refused: ") + failure.what();
  }
}

TEST(ChatTemplate, ComputesAsJinja) {
  const OrderedJson expected = Expected();
  for (const OrderedJson& entry : expected["expressions"]) {
    const std::string result = Expression(entry[0], expected["data"]);
    if (entry[1].is_null()) {
      EXPECT_EQ(result.rfind("refused: ", 0), 0u) << entry[0] << "\n" << result;
    } else {
      EXPECT_EQ(result, entry[1].get<std::string>()) << entry[0];
    }
  }
}

std::string Refusal(const std::string& source) {
  const std::string result = Expression(source, {});
  return result.rfind("refused: the model's chat template ", 0) == 0 ? result : "not refused: " + result.substr(0, 99);
}

std::string Repeat(const std::string& text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(ChatTemplate, HostileTemplatesEnd) {
  EXPECT_NE(
      Refusal("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}").find("operations"),
      std::string::npos);
  EXPECT_NE(Refusal("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}").find("too deep"), std::string::npos);
  EXPECT_NE(Refusal("{% set n = namespace(s='aaaaaaaaaaaaaaaa') %}{% for a in range(99) %}{% set n.s = n.s + n.s %}"
                    "{% endfor %}")
                .find("bytes"),
            std::string::npos);
  EXPECT_NE(Refusal("{% for a in range(99999) %}{{ 'a' * 99999 }}{% endfor %}").find("bytes"), std::string::npos);
  EXPECT_NE(
      Refusal("{% set n = namespace(l=[]) %}{% for a in range(9999) %}{% set n.l = [n.l] %}{% endfor %}").find("deep"),
      std::string::npos);
  EXPECT_NE(Refusal("{% set n = namespace(l=[1, 2, 3, 4]) %}{% for a in range(99) %}{% set n.l = n.l + n.l %}"
                    "{% endfor %}")
                .find("operations"),
            std::string::npos);
  EXPECT_NE(Refusal("{{ [1] * 99999999999 }}").find("repeats"), std::string::npos);
  EXPECT_NE(Refusal("{{ 9 ** 99 }}").find("out of range"), std::string::npos);
  EXPECT_NE(Refusal("{{ 9223372036854775807 + 1 }}").find("out of range"), std::string::npos);
  EXPECT_NE(Refusal("{{ 900000000000000000 * 99 }}").find("out of range"), std::string::npos);
  EXPECT_NE(Refusal("{% set n = namespace() %}{% set n.n = n %}").find("stores"), std::string::npos);
  EXPECT_NE(Refusal("{% set n = namespace() %}{% set n.n = [{'a': n}] %}").find("stores"), std::string::npos);
  EXPECT_NE(Refusal("{{ " + Repeat("(", 10000) + "1" + Repeat(")", 10000) + " }}").find("deep"), std::string::npos);
  EXPECT_NE(Refusal("{{ " + Repeat("not ", 10000) + "1 }}").find("deep"), std::string::npos);
  EXPECT_NE(Refusal("{{ " + Repeat("- ", 10000) + "1 }}").find("deep"), std::string::npos);
  EXPECT_NE(Refusal("{{ 1" + Repeat(" + 1", 10000) + " }}").find("deep"), std::string::npos);
  EXPECT_NE(Refusal("{{ x" + Repeat(".x", 10000) + " }}").find("deep"), std::string::npos);
  EXPECT_NE(Refusal("{{ 1" + Repeat(" if 1 else 1", 10000) + " }}").find("deep"), std::string::npos);
  EXPECT_NE(Refusal(Repeat("{% if 1 %}", 10000)).find("deep"), std::string::npos);
  EXPECT_NE(Refusal("{% for " + Repeat("(", 10000) + "a in b %}").find("unexpected"), std::string::npos);
  EXPECT_NE(Refusal(std::string(2000000, 'a')).find("has more than"), std::string::npos);
  EXPECT_NE(Refusal("{{ 'a'.replace('', 'b' * 999999).replace('b', 'c' * 999999) }}").find("bytes"), std::string::npos);
  EXPECT_EQ(Expression("{% for a in range(9999) %}x{% endfor %}", {}).size(), 9999u);
}

// Every beginning of a template ends in a text or in a refusal.
TEST(ChatTemplate, CutTemplatesEnd) {
  for (const char* name : {"gpt-oss", "qwen3", "exaone"}) {
    const std::string source = ReadFile(test::InData(std::string("chat/") + name + ".jinja"));
    for (size_t size = 0; size < source.size(); size += 7) Expression(source.substr(0, size), {});
    for (size_t at = 0; at < source.size(); at += 11) {
      std::string broken = source;
      broken[at] = static_cast<char>(broken[at] ^ (1 << (at % 8)));
      Expression(broken, {});
    }
  }
}

TEST(ChatTemplate, NamesWhatItDoesNotHave) {
  EXPECT_EQ(UnknownParts("{{ a | frobnicate }}{% if a is frob %}{% endif %}{{ f(1) }}{{ a.maketrans(2) }}{{ m() }}"
                         "{% macro m() %}{% endmacro %}"),
            (std::vector<std::string>{"filter frobnicate", "function f", "method maketrans", "test frob"}));
  EXPECT_NE(Refusal("{% include 'x' %}").find("uses the statement 'include' in line 1"), std::string::npos);
  EXPECT_NE(Refusal("\n{% for x in y recursive %}{% endfor %}").find("a recursive loop in line 2"), std::string::npos);
  EXPECT_NE(Refusal("{{ 'a' | xmlattr }}").find("the filter 'xmlattr' (line 1)"), std::string::npos);
  EXPECT_NE(Refusal("{{ 'a'.maketrans(3) }}").find("the method 'maketrans' (line 1)"), std::string::npos);
  EXPECT_NE(Refusal("{{ 'a' | trim(charz='x') }}").find("'charz'"), std::string::npos);
  EXPECT_NE(Refusal("{{ [].append(1) }}").find("the original library refuses"), std::string::npos);
  // A part that is not reached does no harm.
  EXPECT_EQ(Expression("{% if 0 %}{{ 'a' | xmlattr }}{% endif %}b", {}), "b");
}

TEST(ChatTemplate, VariablesOfOptions) {
  using Variable = std::pair<std::string, std::string>;
  EXPECT_EQ(TemplateVariable("enable_thinking=false"), (Variable{"enable_thinking", "false"}));
  EXPECT_EQ(TemplateVariable("enable_thinking=False"), (Variable{"enable_thinking", "false"}));
  EXPECT_EQ(TemplateVariable("n=3"), (Variable{"n", "3"}));
  EXPECT_EQ(TemplateVariable("d=2026-03-04"), (Variable{"d", "\"2026-03-04\""}));
  EXPECT_EQ(TemplateVariable("l=[1,\"a\"]"), (Variable{"l", "[1, \"a\"]"}));
  EXPECT_EQ(TemplateVariable("t=a=b"), (Variable{"t", "\"a=b\""}));
  EXPECT_EQ(TemplateVariable("t="), (Variable{"t", "\"\""}));
  for (const char* wrong : {"x", "=1", "l=[1", "f=@/does/not/exist"}) EXPECT_THROW(TemplateVariable(wrong), Failure);
  for (const char* wrong : {"{}", "[1]", "[{}]", "[{\"role\": 1}]", "["}) EXPECT_THROW(MessagesIn(wrong, "x"), Failure);
}

}  // namespace
}  // namespace fovea::tools
