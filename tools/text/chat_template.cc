#include "tools/text/chat_template.h"

#include <time.h>

#include "tools/base/fail.h"
#include "tools/base/mapped_file.h"
#include "tools/text/template_parser.h"
#include "tools/text/template_statement.h"

namespace fovea::tools {
namespace {

using jinja::Budget;
using jinja::Kind;
using jinja::Value;

Value MessageOf(const ChatMessage& message, Budget* budget) {
  if (!message.json.empty()) return jinja::ParsedJson(message.json, "a message", budget);
  jinja::Dict pairs;
  Put(&pairs, String("role", budget), String(message.role, budget), budget);
  Put(&pairs, String("content", budget), String(message.text, budget), budget);
  return Mapping(std::move(pairs), budget);
}

}  // namespace

std::string ChatTemplate::Render(const std::vector<ChatMessage>& messages, bool answers) const {
  const jinja::Program program = jinja::Parse(source);
  Budget budget;
  jinja::List list;
  for (const ChatMessage& message : messages) list.push_back(MessageOf(message, &budget));
  std::vector<std::pair<std::string, Value>> names = {
      {"messages", Sequence(std::move(list), Kind::kList, &budget)},
      {"add_generation_prompt", jinja::Bool(answers)},
      {"tools", jinja::None()},
      {"documents", jinja::None()},
      {"bos_token", String(bos, &budget)},
      {"eos_token", String(eos, &budget)},
  };
  for (const auto& [name, text] : tokens) names.emplace_back(name, String(text, &budget));
  for (const auto& [name, json] : variables) {
    const Value value = jinja::ParsedJson(json, "the template's variable " + name, &budget);
    bool known = false;
    for (auto& [there, old] : names) {
      if (there == name) old = value, known = true;
    }
    if (!known) names.emplace_back(name, value);
  }
  return jinja::Rendered(program, names, time.value_or(static_cast<int64_t>(::time(nullptr))));
}

std::vector<ChatMessage> MessagesIn(const std::string& json, const std::string& where) {
  Budget budget;
  const Value list = jinja::ParsedJson(json, where, &budget);
  if (!list.Is(Kind::kList)) Fail("{}: must be a list of messages", where);
  std::vector<ChatMessage> messages;
  for (const Value& value : list.list()) {
    const size_t number = messages.size();
    if (!value.Is(Kind::kDict)) Fail("{}: message {} is not an object", where, number);
    const Value *const role = Find(value.dict(), "role"), *const content = Find(value.dict(), "content");
    if (role == nullptr || !role->Is(Kind::kString)) Fail("{}: message {} has no role", where, number);
    const bool text = content != nullptr && content->Is(Kind::kString);
    messages.push_back({role->text(), text ? content->text() : "", JsonOf(value, {}, &budget)});
  }
  return messages;
}

std::pair<std::string, std::string> TemplateVariable(const std::string& given) {
  const size_t sign = given.find('=');
  if (sign == std::string::npos || sign == 0) Fail("--template-arg '{}': must be NAME=VALUE", given);
  const std::string name = given.substr(0, sign), value = given.substr(sign + 1);
  const std::string where = "--template-arg " + name;
  Budget budget;
  const auto json = [&](const Value& of) { return std::pair(name, JsonOf(of, {}, &budget)); };
  if (value.rfind('@', 0) == 0) return json(jinja::ParsedJson(ReadFile(value.substr(1)), value.substr(1), &budget));
  // Python's spelling means the same.
  if (value == "True" || value == "False") return json(jinja::Bool(value == "True"));
  if (value == "None") return json(jinja::None());
  const bool is_json = value == "true" || value == "false" || value == "null" ||
                       (!value.empty() && std::string("[{\"").find(value[0]) != std::string::npos) ||
                       (!value.empty() && value.find_first_not_of("0123456789.-") == std::string::npos);
  if (!is_json) return json(String(value, &budget));
  try {
    return json(jinja::ParsedJson(value, where, &budget));
  } catch (const Failure&) {
    // 2024-07-26 and 1.2.3 are texts.
    if (value.find_first_not_of("0123456789.-") == std::string::npos) return json(String(value, &budget));
    throw;
  }
}

std::vector<std::string> UnknownParts(const std::string& source) { return jinja::Parse(source).unknown; }

}  // namespace fovea::tools
