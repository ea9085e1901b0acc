#include "tools/text/chat_template.h"

#include "tools/base/fail.h"
#include "tools/text/template_expression.h"
#include "tools/text/template_parts.h"

namespace fovea::tools {
namespace {

// Runs statements part by part.
class Renderer {
 public:
  Renderer(const std::vector<TemplatePart>& parts, const std::vector<ChatMessage>& messages)
      : parts_(parts), messages_(messages) {}

  std::string Render(const TemplateNames& names) {
    const size_t end = Block(0, names, true);
    if (end != parts_.size()) RefuseTemplate("has a misplaced statement: '{}'", parts_[end].text);
    return std::move(out_);
  }

 private:
  static std::string FirstWord(const std::string& statement) {
    return statement.substr(0, statement.find_first_of(" \t\n("));
  }
  TemplateValue ValueOf(const std::string& expression, const TemplateNames& names) const {
    return EvaluateExpression(expression, messages_, names);
  }
  const TemplatePart& At(size_t part) const {
    if (part >= parts_.size()) RefuseTemplate("has a block without an end");
    return parts_[part];
  }

  // Runs parts up to the statement that ends the block; returns that statement's part.
  size_t Block(size_t part, const TemplateNames& names, bool run) {
    if (++depth_ > kMostNestedBlocks) RefuseTemplate("nests blocks more than {} deep", kMostNestedBlocks);
    while (part < parts_.size()) {
      const auto& [kind, text] = parts_[part];
      if (kind == TemplatePart::Kind::kStatement) {
        const std::string word = FirstWord(text);
        if (word.rfind("end", 0) == 0 || word == "else" || word == "elif") break;
        part = Statement(word, part, names, run);
        continue;
      }
      if (run && kind == TemplatePart::Kind::kText) out_ += text;
      if (run && kind == TemplatePart::Kind::kExpression) Write(text, names);
      ++part;
    }
    --depth_;
    return part;
  }

  void Write(const std::string& expression, const TemplateNames& names) {
    const TemplateValue value = ValueOf(expression, names);
    if (value.kind != TemplateValue::Kind::kString)
      RefuseTemplate("outputs a value that is not a string: '{}'", expression);
    out_ += value.text;
  }

  size_t Statement(const std::string& word, size_t part, const TemplateNames& names, bool run) {
    if (word == "if") return If(part, names, run);
    if (word == "for") return For(part, parts_[part].text.substr(word.size()), names, run);
    RefuseTemplate("has an unsupported statement: '{}'", parts_[part].text);
  }

  size_t If(size_t part, const TemplateNames& names, bool run) {
    for (bool done = false;;) {
      const std::string word = FirstWord(At(part).text);
      if (word == "endif") return part + 1;
      if (word != "if" && word != "elif" && word != "else") RefuseTemplate("has a block without an end");
      const std::string condition = At(part).text.substr(word.size());
      const bool now = run && !done && (word == "else" || IsTrue(ValueOf(condition, names)));
      done = done || now;
      part = Block(part + 1, names, now);
    }
  }

  size_t For(size_t part, const std::string& rest, const TemplateNames& names, bool run) {
    const size_t in = rest.find(" in ");
    const std::string name = TrimSpaces(rest.substr(0, in));
    const std::string over = in == std::string::npos ? "" : TrimSpaces(rest.substr(in + 4));
    if (run && over != "messages") RefuseTemplate("has an unsupported loop: '{}'", parts_[part].text);
    size_t end = 0;
    if (!run || messages_.empty()) end = Block(part + 1, names, false);
    for (size_t i = 0; run && i < messages_.size(); ++i) {
      TemplateNames inner = names;
      inner[name] = {TemplateValue::Kind::kMessage, {}, static_cast<long>(i), &messages_[i]};
      inner["loop"] = {TemplateValue::Kind::kLoop, {}, static_cast<long>(i)};
      end = Block(part + 1, inner, true);
    }
    if (FirstWord(At(end).text) != "endfor") RefuseTemplate("has an unsupported loop: '{}'", parts_[part].text);
    return end + 1;
  }

  const std::vector<TemplatePart>& parts_;
  const std::vector<ChatMessage>& messages_;
  std::string out_;
  size_t depth_ = 0;
};

}  // namespace

std::string ChatTemplate::Render(const std::vector<ChatMessage>& messages, bool answers) const {
  if (messages.empty()) Fail("the chat has no messages");
  const std::vector<TemplatePart> parts = SplitTemplate(source);
  const TemplateNames names = {{"messages", {TemplateValue::Kind::kMessages}},
                               {"bos_token", {TemplateValue::Kind::kString, bos}},
                               {"eos_token", {TemplateValue::Kind::kString, eos}},
                               {"add_generation_prompt", {TemplateValue::Kind::kBool, {}, answers ? 1 : 0}}};
  return Renderer(parts, messages).Render(names);
}

}  // namespace fovea::tools
