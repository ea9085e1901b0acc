// Evaluates expressions of a chat template (Jinja).
#ifndef FOVEA_TOOLS_TEXT_TEMPLATE_EXPRESSION_H_
#define FOVEA_TOOLS_TEXT_TEMPLATE_EXPRESSION_H_

#include <map>
#include <string>
#include <vector>

#include "tools/text/chat_template.h"

namespace fovea::tools {

struct TemplateValue {
  enum class Kind { kNone, kBool, kNumber, kString, kMessage, kMessages, kLoop } kind = Kind::kNone;
  std::string text = {};
  long number = 0;                       // loop index of a message or loop
  const ChatMessage* message = nullptr;  // kind message
};

using TemplateNames = std::map<std::string, TemplateValue>;

// Whether a condition with this value holds.
bool IsTrue(const TemplateValue& value);

// Value of an expression with the given names; fails for parts of the language that are not implemented.
TemplateValue EvaluateExpression(const std::string& source, const std::vector<ChatMessage>& messages,
                                 const TemplateNames& names);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_TEMPLATE_EXPRESSION_H_
