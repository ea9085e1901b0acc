#include "tools/text/template_lexer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "tools/text/template_text.h"
#include "tools/text/template_value.h"

namespace fovea::tools::jinja {
namespace {

constexpr size_t kMostSource = size_t{1} << 20;
constexpr const char* kSigns[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
                                  "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};

class Lexer {
 public:
  explicit Lexer(const std::string& source) {
    if (source.size() > kMostSource) Refuse("has more than {} bytes", kMostSource);
    for (size_t i = 0; i < source.size(); ++i) {  // line ends of every kind are "\n"
      if (source[i] != '\r') source_ += source[i];
      if (source[i] == '\r' && source.compare(i + 1, 1, "\n") != 0) source_ += '\n';
    }
    if (!source_.empty() && source_.back() == '\n') source_.pop_back();
  }

  std::vector<Token> Run() {
    for (;;) {
      const size_t open = FindTag();
      std::string text = source_.substr(at_, open - at_);
      if (open == source_.size()) {
        AddText(text);
        Add(Token::Kind::kEnd, "");
        return std::move(tokens_);
      }
      const char kind = source_[open + 1];
      const char sign = open + 2 < source_.size() ? source_[open + 2] : 0;
      const bool signs = sign == '-' || sign == '+';
      if (sign == '-') {
        text = Strip(text, nullptr, false, true);
      } else if (sign != '+' && kind != '{') {
        StripLine(&text);
      }
      AddText(text);
      at_ = open + 2 + (signs ? 1 : 0);
      Tag(kind);
      line_begins_ = at_ > 0 && source_[at_ - 1] == '\n';
    }
  }

 private:
  size_t FindTag() const {
    for (size_t i = at_; i + 1 < source_.size(); ++i) {
      if (source_[i] == '{' && strchr("{%#", source_[i + 1]) != nullptr) return i;
    }
    return source_.size();
  }
  unsigned Line() {
    line_ += static_cast<unsigned>(std::count(source_.begin() + static_cast<ptrdiff_t>(counted_),
                                              source_.begin() + static_cast<ptrdiff_t>(std::max(counted_, at_)), '\n'));
    counted_ = std::max(counted_, at_);
    return line_;
  }
  void Add(Token::Kind kind, std::string text) { tokens_.push_back({kind, std::move(text), Line()}); }
  void AddText(const std::string& text) {
    if (!text.empty()) Add(Token::Kind::kText, text);
  }
  bool At(std::string_view sign) const { return source_.compare(at_, sign.size(), sign) == 0; }
  void SkipSpace() { at_ = source_.size() - Strip(std::string_view(source_).substr(at_), nullptr, true, false).size(); }

  // Removes the spaces of a line before a tag that begins it.
  void StripLine(std::string* text) const {
    const size_t line = text->rfind('\n') + 1;  // npos + 1 is 0
    if (line == 0 && !line_begins_) return;
    if (Strip(std::string_view(*text).substr(line), nullptr, true, true).empty()) text->resize(line);
  }

  // Takes the end of a tag, if it is here.
  bool TakeEnd(std::string_view close, bool trims, bool keeps) {
    if (At("-") && source_.compare(at_ + 1, 2, close) == 0) {
      at_ += 3;
      SkipSpace();
      return true;
    }
    if (keeps && At("+") && source_.compare(at_ + 1, 2, close) == 0) return at_ += 3, true;
    if (!At(close)) return false;
    at_ += 2;
    if (trims && At("\n")) ++at_;
    return true;
  }

  void Tag(char kind) {
    if (kind == '#') return Comment();
    if (kind == '%' && TakeRaw()) return Raw();
    const bool output = kind == '{';
    Add(output ? Token::Kind::kBeginOutput : Token::Kind::kBeginStatement, "");
    std::string open;
    for (;;) {
      SkipSpace();
      if (at_ >= source_.size()) Refuse("has a tag without {} that begins in line {}", output ? "}}" : "%}", Line());
      if (open.empty() && TakeEnd(output ? "}}" : "%}", !output, !output)) break;
      Inside(&open);
    }
    Add(output ? Token::Kind::kEndOutput : Token::Kind::kEndStatement, "");
  }

  void Comment() {
    for (; at_ < source_.size(); ++at_) {
      if (TakeEnd("#}", true, true)) return;
    }
    Refuse("has a comment without an end");
  }

  // {% raw %}, of which "{%" and a sign are taken.
  bool TakeRaw() {
    const size_t begin = at_;
    SkipSpace();
    if (At("raw")) {
      at_ += 3;
      SkipSpace();
      if (TakeEnd("%}", false, false)) return true;
    }
    at_ = begin;
    return false;
  }

  void Raw() {
    const size_t begin = at_;
    for (; at_ < source_.size(); ++at_) {
      if (!At("{%")) continue;
      const size_t open = at_;
      at_ += 2;
      const char sign = At("-") || At("+") ? source_[at_++] : 0;
      SkipSpace();
      if (At("endraw")) {
        at_ += 6;
        SkipSpace();
        if (TakeEnd("%}", true, true)) {
          std::string text = source_.substr(begin, open - begin);
          if (sign == '-') {
            text = Strip(text, nullptr, false, true);
          } else if (sign == 0) {
            StripLine(&text);
          }
          return AddText(text);
        }
      }
      at_ = open;
    }
    Refuse("has a raw block without an end");
  }

  // One token inside a tag. `open`: brackets that are not closed.
  void Inside(std::string* open) {
    const char c = source_[at_];
    if (c == '\'' || c == '"') return Literal(c);
    if (isdigit(static_cast<unsigned char>(c)) != 0) return Number();
    if (isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<unsigned char>(c) >= 0x80) {
      const size_t begin = at_;
      while (at_ < source_.size() && (isalnum(static_cast<unsigned char>(source_[at_])) != 0 || source_[at_] == '_' ||
                                      static_cast<unsigned char>(source_[at_]) >= 0x80)) {
        ++at_;
      }
      return Add(Token::Kind::kName, source_.substr(begin, at_ - begin));
    }
    for (const char* sign : kSigns) {
      if (!At(sign)) continue;
      if (strchr("([{", c) != nullptr) {
        open->push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
      } else if (strchr(")]}", c) != nullptr) {
        if (open->empty() || open->back() != c) Refuse("has an unexpected '{}' in line {}", c, Line());
        open->pop_back();
      }
      at_ += strlen(sign);
      return Add(Token::Kind::kSign, sign);
    }
    Refuse("has an unexpected '{}' in line {}", c, Line());
  }

  void Number() {
    const size_t begin = at_;
    const auto digits = [&](const char* set) {
      size_t end = at_;
      while (end < source_.size() && strchr(set, source_[end]) != nullptr && source_[end] != 0) ++end;
      return end;
    };
    constexpr char kDecimal[] = "0123456789_";
    bool real = false;
    if (At("0x") || At("0X") || At("0b") || At("0B") || At("0o") || At("0O")) {
      const char kind = static_cast<char>(source_[at_ + 1] | 32);
      at_ += 2;
      at_ = digits(kind == 'x' ? "0123456789abcdefABCDEF_" : kind == 'o' ? "01234567_" : "01_");
      std::string text = source_.substr(begin + 2, at_ - begin - 2);
      text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
      errno = 0;
      const int64_t number = strtoll(text.c_str(), nullptr, kind == 'x' ? 16 : kind == 'o' ? 8 : 2);
      if (text.empty() || errno != 0) Refuse("has a broken number in line {}", Line());
      return Add(Token::Kind::kInteger, std::to_string(number));
    }
    at_ = digits(kDecimal);
    const bool after_point = begin > 0 && source_[begin - 1] == '.';
    const auto digit = [&](size_t i) { return i < source_.size() && isdigit(static_cast<unsigned char>(source_[i])); };
    if (!after_point && At(".") && digit(at_ + 1)) {
      real = true, ++at_;
      at_ = digits(kDecimal);
    }
    if (!after_point && (At("e") || At("E"))) {
      const size_t sign = source_.compare(at_ + 1, 1, "+") == 0 || source_.compare(at_ + 1, 1, "-") == 0 ? 1 : 0;
      if (digit(at_ + 1 + sign)) {
        real = true;
        at_ += 1 + sign;
        at_ = digits(kDecimal);
      }
    }
    std::string text = source_.substr(begin, at_ - begin);
    text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
    Add(real ? Token::Kind::kReal : Token::Kind::kInteger, text);
  }

  uint32_t Hex(size_t count) {
    uint32_t code = 0;
    for (size_t i = 0; i < count; ++i) {
      const char c = ++at_ < source_.size() ? source_[at_] : 0;
      if (isxdigit(static_cast<unsigned char>(c)) == 0) Refuse("has a broken escape in line {}", Line());
      code = code * 16 +
             static_cast<uint32_t>(isdigit(static_cast<unsigned char>(c)) != 0 ? c - '0' : (c | 32) - 'a' + 10);
    }
    return code;
  }

  // After a backslash.
  void Escape(std::string* text) {
    const char c = source_[at_];
    constexpr char kNames[] = "nt\\'\"rabfv", kMeant[] = "\n\t\\'\"\r\a\b\f\v";
    if (const char* const name = strchr(kNames, c)) {
      *text += kMeant[name - kNames];
    } else if (c == 'x' || c == 'u' || c == 'U') {
      uint32_t code = Hex(c == 'x' ? 2 : c == 'u' ? 4 : 8);
      if (code >= 0xd800 && code < 0xdc00 && source_.compare(at_ + 1, 2, "\\u") == 0) {
        at_ += 2;
        code = 0x10000 + ((code - 0xd800) << 10) + (Hex(4) - 0xdc00);
      }
      if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) Refuse("has a broken escape in line {}", Line());
      AppendCode(code, text);
    } else if (c == '\n') {  // the line continues
    } else if (c >= '0' && c <= '7') {
      uint32_t code = 0;
      size_t count = 0;
      for (; count < 3 && at_ < source_.size() && source_[at_] >= '0' && source_[at_] <= '7'; ++count, ++at_) {
        code = code * 8 + static_cast<uint32_t>(source_[at_] - '0');
      }
      --at_;
      AppendCode(code, text);
    } else {
      *text += '\\';
      *text += c;
    }
  }

  void Literal(char quote) {
    std::string text;
    const unsigned line = Line();
    for (++at_; at_ < source_.size() && source_[at_] != quote; ++at_) {
      if (source_[at_] != '\\') {
        text += source_[at_];
      } else if (++at_ < source_.size()) {
        Escape(&text);
      }
    }
    if (at_ >= source_.size()) Refuse("has a string without an end in line {}", line);
    ++at_;
    Add(Token::Kind::kString, text);
  }

  std::string source_;
  size_t at_ = 0, counted_ = 0;
  unsigned line_ = 1;
  bool line_begins_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> Tokens(const std::string& source) { return Lexer(source).Run(); }

}  // namespace fovea::tools::jinja
