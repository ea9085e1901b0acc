// Chat templates: a prompt of bounded size, the same each time, or one line that names the fault, in bounded time.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/fuzz/check.h"
#include "tests/fuzz/harness.h"
#include "tests/support/paths.h"
#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/text/chat_template.h"

namespace fovea::fuzz {
namespace {

constexpr size_t kSeedBytes = 8;  // as in all inputs
constexpr size_t kMostPrompt = size_t{16} << 20;

// After the seed: the template, a zero, and the messages as JSON.
Input Joined(const std::string& source, const std::string& messages) {
  const std::string all = std::string(kSeedBytes, '\0') + source + '\0' + messages;
  return Input(all.begin(), all.end());
}

std::pair<std::string, std::string> PartsOf(const Input& input) {
  const std::string all(input.begin() + static_cast<ptrdiff_t>(std::min(kSeedBytes, input.size())), input.end());
  const size_t end = all.find('\0');
  return end == std::string::npos ? std::pair(all, std::string("[]"))
                                  : std::pair(all.substr(0, end), all.substr(end + 1));
}

std::string Outcome(const std::string& source, const std::string& messages) {
  try {
    tools::UnknownParts(source);
    tools::ChatTemplate format = {source, "<s>", "</s>"};
    format.variables = {{"tools", R"([{"type": "function", "function": {"name": "f", "parameters": {"a": 1}}}])"},
                        {"text", "\"a b\""},
                        {"deep", "[[[[[1]]]]]"}};
    format.time = 0;
    const std::string prompt = format.Render(tools::MessagesIn(messages, "messages"), true);
    Check(prompt.size() <= kMostPrompt, "a prompt is larger than the limit");
    return prompt;
  } catch (const tools::Failure& failure) {
    const std::string text = failure.what();
    Check(!text.empty(), "an error without a message");
    for (const char c : text) {
      if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f) Broken("an error's message has control characters: " + text);
    }
    return "refused: " + text;
  }
}

void Use(const uint8_t* data, size_t size) {
  const auto [source, messages] = PartsOf(Input(data, data + size));
  const std::string outcome = Outcome(source, messages);
  if (size < 4096) Check(Outcome(source, messages) == outcome, "a template writes two prompts for one chat");
}

constexpr const char* kPieces[] = {"{{ ",
                                   " }}",
                                   "{% ",
                                   " %}",
                                   "{%- ",
                                   " -%}",
                                   "{# ",
                                   " #}",
                                   "{% for m in messages %}",
                                   "{% endfor %}",
                                   "{% if m %}",
                                   "{% else %}",
                                   "{% elif 1 %}",
                                   "{% endif %}",
                                   "{% macro m(a, b=1) %}",
                                   "{% endmacro %}",
                                   "{% set x = [messages, x] %}",
                                   "{% set n = namespace(l=[]) %}",
                                   "{% set n.l = n.l + n.l + [1] %}",
                                   "{% set x %}",
                                   "{% endset %}",
                                   "{% call(c) m(1) %}",
                                   "{% endcall %}",
                                   "{% filter upper %}",
                                   "{% endfilter %}",
                                   "{% raw %}",
                                   "{% endraw %}",
                                   "{% generation %}",
                                   "{% endgeneration %}",
                                   "{% break %}",
                                   "{% continue %}",
                                   "{{ m(m, *[1]) }}",
                                   "{{ m(**{'a': 1}) }}",
                                   "caller()",
                                   "loop.previtem",
                                   "loop.cycle(1, 2)",
                                   "loop.changed(m)",
                                   "range(99999)",
                                   "'a' * 99999",
                                   "[1] * 99999",
                                   "messages",
                                   "tools",
                                   "text",
                                   "deep",
                                   " | tojson(indent=9)",
                                   " | map('upper')",
                                   " | selectattr('role', 'equalto', 'user')",
                                   " | groupby('role')",
                                   " | sort(attribute='role')",
                                   " | list",
                                   " | last",
                                   " | join('x')",
                                   " | default([])",
                                   " | items",
                                   " | dictsort",
                                   " | batch(2)",
                                   " | slice(3)",
                                   " | truncate(3)",
                                   " | center(99)",
                                   " | int(base=16)",
                                   " | indent(9999)",
                                   ".items()",
                                   ".split('')",
                                   ".replace('', 'ab')",
                                   ".format(1, *[2])",
                                   ".join(messages)",
                                   ".strip()",
                                   ".zfill(99999)",
                                   ".center(99999)",
                                   "[::-1]",
                                   "[-1]",
                                   "[99:1:-7]",
                                   " ** 99",
                                   " // 0",
                                   " % 3",
                                   " ~ ",
                                   " in ",
                                   " not in ",
                                   " is defined",
                                   " is in ",
                                   " if ",
                                   " else ",
                                   " and ",
                                   "not ",
                                   "-",
                                   "(",
                                   ")",
                                   "[",
                                   "]",
                                   "{",
                                   "}",
                                   ",",
                                   ":",
                                   "0x7fffffffffffffff",
                                   "9223372036854775807",
                                   "1e999",
                                   "'\\ud800'",
                                   "\"\\xff\"",
                                   "{'a': 1, 2: [3]}",
                                   "dict(a=1)",
                                   "joiner(',')",
                                   "cycler(1, 2)",
                                   "raise_exception('\n\x1b')",
                                   "strftime_now('%Y %z %-d')",
                                   "\xc3\xa9",
                                   "\xff"};

Input Mutate(const Input& input, Random& random) {
  auto [source, messages] = PartsOf(input);
  for (uint32_t left = 1 + random.Below(6); left > 0; --left) {
    std::string& text = random.OneIn(8) ? messages : source;
    const size_t at = random.Below(static_cast<uint32_t>(text.size() + 1));
    const size_t count = std::min<size_t>(text.size() - at, 1 + random.Below(random.OneIn(4) ? 400 : 20));
    switch (random.Below(6)) {
      case 0:
        text.erase(at, count);
        break;
      case 1:
        text.insert(random.Below(static_cast<uint32_t>(text.size() + 1)), text.substr(at, count));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random.Next());
        break;
      default:
        text.insert(at, random.Pick(kPieces));
    }
  }
  return Joined(source, messages);
}

std::string Repeated(const std::string& text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

std::vector<Input> Seeds() {
  const std::string chat = R"([{"role": "system", "content": "S"}, {"role": "user", "content": "a"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "abcdefghi", "type": "function",
     "function": {"name": "f", "arguments": {"a": [1, null, 2.5]}}}]},
    {"role": "tool", "content": "1", "tool_call_id": "abcdefghi"}, {"role": "user", "content": "b"}])";
  std::vector<Input> seeds;
  for (const char* name : {"chatml", "command-r", "gemma3", "gpt-oss", "granite4", "llama3-tools", "mistral-v3",
                           "qwen3", "qwen3-coder", "smollm3"}) {
    seeds.push_back(Joined(tools::ReadFile(test::InData(std::string("chat/") + name + ".jinja")), chat));
  }
  const std::string lines = tools::ReadFile(test::InData("chat/expressions.txt"));
  std::string some;
  for (size_t begin = 0, end = 0; (end = lines.find('\n', begin)) != std::string::npos; begin = end + 1) {
    some += lines.substr(begin, end - begin + 1);
    if (some.size() < 2000) continue;
    seeds.push_back(Joined(some, chat));
    some.clear();
  }
  // Templates that would take all memory or time, or the stack.
  for (const std::string& hard :
       {std::string("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"),
        std::string("{% macro m(f) %}{{ f(f) }}{% endmacro %}{{ m(m) }}"),
        std::string("{% macro m(x) %}{{ m(x + [x]) }}{% endmacro %}{{ m([1]) }}"),
        std::string("{% set n = namespace(s='ab') %}{% for a in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}"),
        std::string("{% set n = namespace(s=[1]) %}{% for a in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}"),
        std::string("{{ ('a' * 9999999).replace('', 'b' * 999999) }}"),
        std::string("{{ [[1] * 99999] * 99999 }}"),
        std::string("{{ ('%s' * 99999) % (('a' * 9999,) * 99999) }}"),
        std::string("{{ 'a'.center(99999999999) }}"),
        std::string("{{ ('a ' * 999999).split() | map('upper') | join }}"),
        std::string("{% for a in range(999) %}{{ deep | tojson(indent=64) }}{% endfor %}"),
        "{{ " + Repeated("[", 9999) + Repeated("]", 9999) + " }}",
        "{{ " + Repeated("{1:", 9999) + " }}",
        "{{ x" + Repeated(" | upper", 9999) + " }}",
        "{{ x" + Repeated("[0]", 9999) + " }}",
        "{{ x" + Repeated("()", 9999) + " }}",
        Repeated("{% for a in b %}", 9999),
        Repeated("{% filter upper %}", 99),
        Repeated("{% if 1 %}{% else %}", 999),
        "{{ 1" + Repeated(" < 1", 9999) + " }}",
        Repeated("{{ a }}", 99999)}) {
    seeds.push_back(Joined(hard, chat));
  }
  seeds.push_back(Joined("{{ messages }}", Repeated("[", 9999)));
  return seeds;
}

}  // namespace

const Harness kTemplateHarness = {"template", &Use, &Mutate, &Seeds};

}  // namespace fovea::fuzz
