#include "tools/text/template_parts.h"

#include <string.h>

#include <algorithm>

namespace fovea::tools {
namespace {

class Splitter {
 public:
  explicit Splitter(const std::string& source) {
    for (size_t i = 0; i < source.size(); ++i) {  // line ends of every kind are "\n"
      if (source[i] != '\r') source_ += source[i];
      if (source[i] == '\r' && source.compare(i + 1, 1, "\n") != 0) source_ += '\n';
    }
    if (!source_.empty() && source_.back() == '\n') source_.pop_back();
  }

  std::vector<TemplatePart> Split() {
    for (;;) {
      const size_t open = FindOpen();
      std::string text = source_.substr(at_, open - at_);
      if (open == source_.size()) {
        Add(TemplatePart::Kind::kText, text);
        return std::move(parts_);
      }
      const char kind = source_[open + 1];
      const bool strips = source_.compare(open + 2, 1, "-") == 0;
      if (strips) text.erase(text.find_last_not_of(kTemplateSpaces) + 1);
      if (!strips && kind != '{') StripLine(open, &text);
      Add(TemplatePart::Kind::kText, text);
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
    if (end >= source_.size()) RefuseTemplate("has a tag without {}", close);
    at_ = end + 2;
    const bool strips = end > begin && source_[end - 1] == '-';
    const std::string inside = TrimSpaces(source_.substr(begin, end - begin - (strips ? 1 : 0)));
    if (kind != '#') Add(kind == '{' ? TemplatePart::Kind::kExpression : TemplatePart::Kind::kStatement, inside);
    if (strips) {
      at_ = std::min(source_.find_first_not_of(kTemplateSpaces, at_), source_.size());
    } else if (kind != '{' && at_ < source_.size() && source_[at_] == '\n') {
      ++at_;
    }
  }

  void Add(TemplatePart::Kind kind, const std::string& text) {
    if (kind != TemplatePart::Kind::kText || !text.empty()) parts_.push_back({kind, text});
  }

  std::string source_;
  size_t at_ = 0;
  std::vector<TemplatePart> parts_;
};

}  // namespace

std::string TrimSpaces(const std::string& text) {
  const size_t begin = text.find_first_not_of(kTemplateSpaces);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(kTemplateSpaces) + 1 - begin);
}

std::vector<TemplatePart> SplitTemplate(const std::string& source) { return Splitter(source).Split(); }

}  // namespace fovea::tools
