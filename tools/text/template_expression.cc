#include "tools/text/template_expression.h"

#include <ctype.h>
#include <string.h>

#include <algorithm>

#include "tools/text/template_parts.h"
#include "tools/text/white_space.h"

namespace fovea::tools {
namespace {

TemplateValue String(const std::string& text) { return {TemplateValue::Kind::kString, text}; }
TemplateValue Bool(bool value) { return {TemplateValue::Kind::kBool, {}, value ? 1 : 0}; }
TemplateValue Number(long number) { return {TemplateValue::Kind::kNumber, {}, number}; }

// Parses and evaluates an expression; `run` false: only parses it.
class Expression {
 public:
  Expression(const std::string& source, const std::vector<ChatMessage>& messages, const TemplateNames& names)
      : source_(source), messages_(messages), names_(names) {}

  TemplateValue Evaluate() {
    const TemplateValue value = Or(true);
    if (Skip() < source_.size()) Refused();
    return value;
  }

 private:
  [[noreturn]] void Refused() const { RefuseTemplate("has an unsupported expression: '{}'", source_); }

  size_t Skip() {
    at_ = std::min(source_.find_first_not_of(kTemplateSpaces, at_), source_.size());
    return at_;
  }
  bool Take(const char* sign) {
    if (source_.compare(Skip(), strlen(sign), sign) != 0) return false;
    at_ += strlen(sign);
    return true;
  }
  void Need(const char* sign) {
    if (!Take(sign)) Refused();
  }
  static bool IsWord(char c) { return isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  std::string Word() {
    const size_t begin = Skip();
    while (at_ < source_.size() && IsWord(source_[at_])) ++at_;
    return source_.substr(begin, at_ - begin);
  }
  bool TakeWord(const char* word) {
    const size_t begin = at_;
    if (Word() == word) return true;
    at_ = begin;
    return false;
  }

  TemplateValue Or(bool run) {
    TemplateValue value = And(run);
    while (TakeWord("or")) {
      const bool known = run && IsTrue(value);
      const TemplateValue next = And(run && !known);
      if (!known) value = next;
    }
    return value;
  }
  TemplateValue And(bool run) {
    TemplateValue value = Not(run);
    while (TakeWord("and")) {
      const bool known = run && !IsTrue(value);
      const TemplateValue next = Not(run && !known);
      if (!known) value = next;
    }
    return value;
  }
  TemplateValue Not(bool run) {
    if (++depth_ > kMostNestedBlocks) Refused();
    const bool inverts = TakeWord("not");
    TemplateValue value = inverts ? Bool(!IsTrue(Not(run))) : Compared(run);
    --depth_;
    return value;
  }

  TemplateValue Compared(bool run) {
    TemplateValue value = Sum(run);
    const bool equal = Take("==");
    if (!equal && !Take("!=")) return value;
    const TemplateValue other = Sum(run);
    const auto plain = [](const TemplateValue& v) { return v.kind <= TemplateValue::Kind::kString; };
    const bool none = value.kind == TemplateValue::Kind::kNone || other.kind == TemplateValue::Kind::kNone;
    if (run && (!plain(value) || !plain(other) || (!none && value.kind != other.kind))) Refused();
    const bool same = value.kind == other.kind && value.text == other.text && value.number == other.number;
    return Bool(same == equal);
  }

  TemplateValue Sum(bool run) {
    TemplateValue value = Filtered(run);
    for (;;) {
      if (source_.compare(Skip(), 1, "+") != 0 && source_.compare(at_, 1, "~") != 0) return value;
      ++at_;
      const TemplateValue next = Filtered(run);
      if (!run) continue;
      if (value.kind != TemplateValue::Kind::kString || next.kind != TemplateValue::Kind::kString) Refused();
      value.text += next.text;
    }
  }

  TemplateValue Filtered(bool run) {
    TemplateValue value = Primary(run);
    for (;;) {
      if (Take("[")) {
        const TemplateValue key = Or(run);
        Need("]");
        value = run ? Member(value, key) : value;
      } else if (Take(".")) {
        const std::string name = Word();
        if (!Take("(")) {
          value = run ? Member(value, String(name)) : value;
          continue;
        }
        if (name != "strip") Refused();
        Need(")");
        value = Strip(run, value);
      } else if (Take("|")) {
        if (Word() != "trim") Refused();
        value = Strip(run, value);
      } else {
        return value;
      }
    }
  }

  TemplateValue Strip(bool run, const TemplateValue& value) const {
    if (!run) return value;
    if (value.kind != TemplateValue::Kind::kString) Refused();
    return String(StripWhiteSpace(value.text));
  }

  TemplateValue Member(const TemplateValue& of, const TemplateValue& key) const {
    const long count = static_cast<long>(messages_.size());
    if (of.kind == TemplateValue::Kind::kMessages && key.kind == TemplateValue::Kind::kNumber) {
      const long index = key.number < 0 ? key.number + count : key.number;
      if (index < 0 || index >= count) Refused();
      return {TemplateValue::Kind::kMessage, {}, index, &messages_[static_cast<size_t>(index)]};
    }
    if (key.kind != TemplateValue::Kind::kString) Refused();
    if (of.kind == TemplateValue::Kind::kMessage) {
      if (key.text == "role") return String(of.message->role);
      if (key.text == "content") return String(of.message->text);
      return {};  // messages of a plain chat have no other members
    }
    if (of.kind != TemplateValue::Kind::kLoop) Refused();
    if (key.text == "first") return Bool(of.number == 0);
    if (key.text == "last") return Bool(of.number + 1 == count);
    if (key.text == "index0") return Number(of.number);
    if (key.text == "index") return Number(of.number + 1);
    if (key.text == "length") return Number(count);
    Refused();
  }

  TemplateValue Primary(bool run) {
    if (Take("(")) {
      if (++depth_ > kMostNestedBlocks) Refused();
      const TemplateValue value = Or(run);
      Need(")");
      --depth_;
      return value;
    }
    const char c = Skip() < source_.size() ? source_[at_] : 0;
    if (c == '\'' || c == '"') return Literal(c);
    const bool minus = Take("-");
    const std::string word = Word();
    if (word.empty()) Refused();
    if (isdigit(static_cast<unsigned char>(word[0])) != 0) {
      if (word.size() > 6 || word.find_first_not_of("0123456789") != std::string::npos) Refused();
      return Number((minus ? -1 : 1) * std::stol(word));
    }
    if (minus) Refused();
    if (word == "true" || word == "True") return Bool(true);
    if (word == "false" || word == "False") return Bool(false);
    if (word == "none" || word == "None") return {};
    if (Take("(")) return Call(run, word);
    const auto found = names_.find(word);
    if (found != names_.end()) return found->second;
    // Variables that transformers defines and that are empty in a plain chat.
    if (word == "tools" || word == "documents" || word == "custom_tools") return {};
    if (run) RefuseTemplate("uses an undefined name: '{}'", word);
    return {};
  }

  TemplateValue Call(bool run, const std::string& name) {
    if (name != "raise_exception") Refused();
    const TemplateValue message = Or(run);
    Need(")");
    if (run) Fail("the model's chat template refuses the chat: {}", message.text);
    return {};
  }

  TemplateValue Literal(char quote) {
    std::string text;
    for (++at_; at_ < source_.size() && source_[at_] != quote; ++at_) {
      if (source_[at_] != '\\') {
        text += source_[at_];
        continue;
      }
      const char *const kNames = "nt\\'\"r", *const kMeant = "\n\t\\'\"\r";
      const char* const name = ++at_ < source_.size() ? strchr(kNames, source_[at_]) : nullptr;
      if (name == nullptr) Refused();
      text += kMeant[name - kNames];
    }
    if (at_ == source_.size()) Refused();
    ++at_;
    // Adjacent strings are concatenated.
    const size_t end = at_;
    const char next = Skip() < source_.size() ? source_[at_] : 0;
    if (next == '\'' || next == '"') return String(text + Literal(next).text);
    at_ = end;
    return String(text);
  }

  const std::string& source_;
  const std::vector<ChatMessage>& messages_;
  const TemplateNames& names_;
  size_t at_ = 0, depth_ = 0;
};

}  // namespace

bool IsTrue(const TemplateValue& value) {
  if (value.kind == TemplateValue::Kind::kString) return !value.text.empty();
  if (value.kind == TemplateValue::Kind::kBool || value.kind == TemplateValue::Kind::kNumber) return value.number != 0;
  return value.kind != TemplateValue::Kind::kNone;
}

TemplateValue EvaluateExpression(const std::string& source, const std::vector<ChatMessage>& messages,
                                 const TemplateNames& names) {
  return Expression(source, messages, names).Evaluate();
}

}  // namespace fovea::tools
