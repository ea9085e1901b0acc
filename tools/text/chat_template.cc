#include "tools/text/chat_template.h"

#include <ctype.h>
#include <string.h>

#include <algorithm>
#include <map>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

constexpr char kSpaces[] = " \t\n\r\f\v";
constexpr size_t kMostNested = 64;

template <typename... Args>
[[noreturn]] void Refuse(fmt::format_string<Args...> why, Args&&... args) {
  Fail("the model's chat template {}; give --chat-template NAME to use one of fovea's, or --prompt with its markers",
       fmt::format(why, std::forward<Args>(args)...));
}

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(kSpaces);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

// The white space characters of Python's str.strip().
const std::vector<std::string>& WhiteSpace() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> all = {"\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\xa8",
                                    "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};
    for (const char c : std::string(" \t\n\v\f\r\x1c\x1d\x1e\x1f")) all.emplace_back(1, c);
    for (char c = 0; c <= 10; ++c) all.push_back(std::string("\xe2\x80") + static_cast<char>(0x80 + c));
    return all;
  }();
  return kAll;
}

// Text, the expression of {{ }}, or the statement of {% %}.
struct Part {
  enum class Kind { kText, kExpression, kStatement } kind;
  std::string text;
};

// trim_blocks and lstrip_blocks: the line end after a statement is removed, and spaces before one that begins a line.
// "-" next to a brace removes all white space there.
class Splitter {
 public:
  explicit Splitter(const std::string& source) {
    for (size_t i = 0; i < source.size(); ++i) {  // line ends of every kind are "\n"
      if (source[i] != '\r') source_ += source[i];
      if (source[i] == '\r' && source.compare(i + 1, 1, "\n") != 0) source_ += '\n';
    }
    if (!source_.empty() && source_.back() == '\n') source_.pop_back();
  }

  std::vector<Part> Split() {
    for (;;) {
      const size_t open = FindOpen();
      std::string text = source_.substr(at_, open - at_);
      if (open == source_.size()) {
        Add(Part::Kind::kText, text);
        return std::move(parts_);
      }
      const char kind = source_[open + 1];
      const bool strips = source_.compare(open + 2, 1, "-") == 0;
      if (strips) text.erase(text.find_last_not_of(kSpaces) + 1);
      if (!strips && kind != '{') StripLine(open, &text);
      Add(Part::Kind::kText, text);
      Tag(open + 2 + (strips ? 1 : 0), kind);
    }
  }

 private:
  size_t FindOpen() const {
    for (size_t i = at_; i + 1 < source_.size(); ++i) {
      if (source_[i] == '{' && strchr("{%#", source_[i + 1]) != nullptr) return i;
    }
    return source_.size();
  }

  // Removes the spaces before a tag that begins a line.
  void StripLine(size_t open, std::string* text) const {
    size_t begin = open;
    while (begin > 0 && (source_[begin - 1] == ' ' || source_[begin - 1] == '\t')) --begin;
    if (begin != 0 && source_[begin - 1] != '\n') return;
    text->resize(text->size() - std::min(text->size(), open - begin));
  }

  void Tag(size_t begin, char kind) {
    const std::string close = kind == '{' ? "}}" : kind == '%' ? "%}" : "#}";
    size_t end = begin;
    for (char quote = 0; end < source_.size(); ++end) {
      const char c = source_[end];
      if (quote != 0 && c == '\\') {
        ++end;
      } else if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (kind != '#' && (c == '\'' || c == '"')) {
        quote = c;
      } else if (source_.compare(end, 2, close) == 0) {
        break;
      }
    }
    if (end >= source_.size()) Refuse("has a tag without {}", close);
    at_ = end + 2;
    const bool strips = end > begin && source_[end - 1] == '-';
    const std::string inside = Trimmed(source_.substr(begin, end - begin - (strips ? 1 : 0)));
    if (kind != '#') Add(kind == '{' ? Part::Kind::kExpression : Part::Kind::kStatement, inside);
    if (strips) {
      at_ = std::min(source_.find_first_not_of(kSpaces, at_), source_.size());
    } else if (kind != '{' && at_ < source_.size() && source_[at_] == '\n') {
      ++at_;
    }
  }

  void Add(Part::Kind kind, const std::string& text) {
    if (kind != Part::Kind::kText || !text.empty()) parts_.push_back({kind, text});
  }

  std::string source_;
  size_t at_ = 0;
  std::vector<Part> parts_;
};

struct Value {
  enum class Kind { kNone, kBool, kNumber, kString, kMessage, kMessages, kLoop } kind = Kind::kNone;
  std::string text = {};
  long number = 0;                       // loop index of a message or loop
  const ChatMessage* message = nullptr;  // kind message
};

using Names = std::map<std::string, Value>;

Value String(const std::string& text) { return {Value::Kind::kString, text}; }
Value Bool(bool value) { return {Value::Kind::kBool, {}, value ? 1 : 0}; }
Value Number(long number) { return {Value::Kind::kNumber, {}, number}; }

// Parses and evaluates an expression; `run` false: only parses it.
class Expression {
 public:
  Expression(const std::string& source, const std::vector<ChatMessage>& messages, const Names& names)
      : source_(source), messages_(messages), names_(names) {}

  Value Evaluate() {
    const Value value = Or(true);
    if (Skip() < source_.size()) Refused();
    return value;
  }

  static bool IsTrue(const Value& value) {
    if (value.kind == Value::Kind::kString) return !value.text.empty();
    if (value.kind == Value::Kind::kBool || value.kind == Value::Kind::kNumber) return value.number != 0;
    return value.kind != Value::Kind::kNone;
  }

 private:
  [[noreturn]] void Refused() const { Refuse("has an unsupported expression: '{}'", source_); }

  size_t Skip() {
    at_ = std::min(source_.find_first_not_of(kSpaces, at_), source_.size());
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

  Value Or(bool run) {
    Value value = And(run);
    while (TakeWord("or")) {
      const bool known = run && IsTrue(value);
      const Value next = And(run && !known);
      if (!known) value = next;
    }
    return value;
  }
  Value And(bool run) {
    Value value = Not(run);
    while (TakeWord("and")) {
      const bool known = run && !IsTrue(value);
      const Value next = Not(run && !known);
      if (!known) value = next;
    }
    return value;
  }
  Value Not(bool run) {
    if (++depth_ > kMostNested) Refused();
    const bool inverts = TakeWord("not");
    Value value = inverts ? Bool(!IsTrue(Not(run))) : Compared(run);
    --depth_;
    return value;
  }

  Value Compared(bool run) {
    Value value = Sum(run);
    const bool equal = Take("==");
    if (!equal && !Take("!=")) return value;
    const Value other = Sum(run);
    const auto plain = [](const Value& v) { return v.kind <= Value::Kind::kString; };
    const bool none = value.kind == Value::Kind::kNone || other.kind == Value::Kind::kNone;
    if (run && (!plain(value) || !plain(other) || (!none && value.kind != other.kind))) Refused();
    const bool same = value.kind == other.kind && value.text == other.text && value.number == other.number;
    return Bool(same == equal);
  }

  Value Sum(bool run) {
    Value value = Filtered(run);
    for (;;) {
      if (source_.compare(Skip(), 1, "+") != 0 && source_.compare(at_, 1, "~") != 0) return value;
      ++at_;
      const Value next = Filtered(run);
      if (!run) continue;
      if (value.kind != Value::Kind::kString || next.kind != Value::Kind::kString) Refused();
      value.text += next.text;
    }
  }

  Value Filtered(bool run) {
    Value value = Primary(run);
    for (;;) {
      if (Take("[")) {
        const Value key = Or(run);
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

  Value Strip(bool run, const Value& value) const {
    if (!run) return value;
    if (value.kind != Value::Kind::kString) Refused();
    return String(StripWhiteSpace(value.text));
  }

  Value Member(const Value& of, const Value& key) const {
    const long count = static_cast<long>(messages_.size());
    if (of.kind == Value::Kind::kMessages && key.kind == Value::Kind::kNumber) {
      const long index = key.number < 0 ? key.number + count : key.number;
      if (index < 0 || index >= count) Refused();
      return {Value::Kind::kMessage, {}, index, &messages_[static_cast<size_t>(index)]};
    }
    if (key.kind != Value::Kind::kString) Refused();
    if (of.kind == Value::Kind::kMessage) {
      if (key.text == "role") return String(of.message->role);
      if (key.text == "content") return String(of.message->text);
      return {};  // messages of a plain chat have no other members
    }
    if (of.kind != Value::Kind::kLoop) Refused();
    if (key.text == "first") return Bool(of.number == 0);
    if (key.text == "last") return Bool(of.number + 1 == count);
    if (key.text == "index0") return Number(of.number);
    if (key.text == "index") return Number(of.number + 1);
    if (key.text == "length") return Number(count);
    Refused();
  }

  Value Primary(bool run) {
    if (Take("(")) {
      if (++depth_ > kMostNested) Refused();
      const Value value = Or(run);
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
    if (run) Refuse("uses an undefined name: '{}'", word);
    return {};
  }

  Value Call(bool run, const std::string& name) {
    if (name != "raise_exception") Refused();
    const Value message = Or(run);
    Need(")");
    if (run) Fail("the model's chat template refuses the chat: {}", message.text);
    return {};
  }

  Value Literal(char quote) {
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
  const Names& names_;
  size_t at_ = 0, depth_ = 0;
};

// Runs statements part by part.
class Renderer {
 public:
  Renderer(const std::vector<Part>& parts, const std::vector<ChatMessage>& messages)
      : parts_(parts), messages_(messages) {}

  std::string Render(const Names& names) {
    const size_t end = Block(0, names, true);
    if (end != parts_.size()) Refuse("has a misplaced statement: '{}'", parts_[end].text);
    return std::move(out_);
  }

 private:
  static std::string FirstWord(const std::string& statement) {
    return statement.substr(0, statement.find_first_of(" \t\n("));
  }
  Value ValueOf(const std::string& expression, const Names& names) const {
    return Expression(expression, messages_, names).Evaluate();
  }
  const Part& At(size_t part) const {
    if (part >= parts_.size()) Refuse("has a block without an end");
    return parts_[part];
  }

  // Runs parts up to the statement that ends the block; returns that statement's part.
  size_t Block(size_t part, const Names& names, bool run) {
    if (++depth_ > kMostNested) Refuse("nests blocks more than {} deep", kMostNested);
    while (part < parts_.size()) {
      const auto& [kind, text] = parts_[part];
      if (kind == Part::Kind::kStatement) {
        const std::string word = FirstWord(text);
        if (word.rfind("end", 0) == 0 || word == "else" || word == "elif") break;
        part = Statement(word, part, names, run);
        continue;
      }
      if (run && kind == Part::Kind::kText) out_ += text;
      if (run && kind == Part::Kind::kExpression) Write(text, names);
      ++part;
    }
    --depth_;
    return part;
  }

  void Write(const std::string& expression, const Names& names) {
    const Value value = ValueOf(expression, names);
    if (value.kind != Value::Kind::kString) Refuse("outputs a value that is not a string: '{}'", expression);
    out_ += value.text;
  }

  size_t Statement(const std::string& word, size_t part, const Names& names, bool run) {
    if (word == "if") return If(part, names, run);
    if (word == "for") return For(part, parts_[part].text.substr(word.size()), names, run);
    Refuse("has an unsupported statement: '{}'", parts_[part].text);
  }

  size_t If(size_t part, const Names& names, bool run) {
    for (bool done = false;;) {
      const std::string word = FirstWord(At(part).text);
      if (word == "endif") return part + 1;
      if (word != "if" && word != "elif" && word != "else") Refuse("has a block without an end");
      const std::string condition = At(part).text.substr(word.size());
      const bool now = run && !done && (word == "else" || Expression::IsTrue(ValueOf(condition, names)));
      done = done || now;
      part = Block(part + 1, names, now);
    }
  }

  size_t For(size_t part, const std::string& rest, const Names& names, bool run) {
    const size_t in = rest.find(" in ");
    const std::string name = Trimmed(rest.substr(0, in));
    const std::string over = in == std::string::npos ? "" : Trimmed(rest.substr(in + 4));
    if (run && over != "messages") Refuse("has an unsupported loop: '{}'", parts_[part].text);
    size_t end = 0;
    if (!run || messages_.empty()) end = Block(part + 1, names, false);
    for (size_t i = 0; run && i < messages_.size(); ++i) {
      Names inner = names;
      inner[name] = {Value::Kind::kMessage, {}, static_cast<long>(i), &messages_[i]};
      inner["loop"] = {Value::Kind::kLoop, {}, static_cast<long>(i)};
      end = Block(part + 1, inner, true);
    }
    if (FirstWord(At(end).text) != "endfor") Refuse("has an unsupported loop: '{}'", parts_[part].text);
    return end + 1;
  }

  const std::vector<Part>& parts_;
  const std::vector<ChatMessage>& messages_;
  std::string out_;
  size_t depth_ = 0;
};

}  // namespace

std::string StripWhiteSpace(const std::string& text) {
  size_t begin = 0, end = text.size();
  for (bool found = true; found;) {
    found = false;
    for (const std::string& space : WhiteSpace()) {
      const size_t size = space.size();
      if (end - begin >= size && text.compare(begin, size, space) == 0) begin += size, found = true;
      if (end - begin >= size && text.compare(end - size, size, space) == 0) end -= size, found = true;
    }
  }
  return text.substr(begin, end - begin);
}

std::string ChatTemplate::Render(const std::vector<ChatMessage>& messages, bool answers) const {
  if (messages.empty()) Fail("the chat has no messages");
  const std::vector<Part> parts = Splitter(source).Split();
  const Names names = {{"messages", {Value::Kind::kMessages}},
                       {"bos_token", String(bos)},
                       {"eos_token", String(eos)},
                       {"add_generation_prompt", Bool(answers)}};
  return Renderer(parts, messages).Render(names);
}

}  // namespace fovea::tools
