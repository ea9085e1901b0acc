// Splits a chat template (Jinja) into text, expressions and statements.
#ifndef FOVEA_TOOLS_TEXT_TEMPLATE_PARTS_H_
#define FOVEA_TOOLS_TEXT_TEMPLATE_PARTS_H_

#include <stddef.h>

#include <string>
#include <utility>
#include <vector>

#include "tools/base/fail.h"

namespace fovea::tools {

inline constexpr char kTemplateSpaces[] = " \t\n\r\f\v";
inline constexpr size_t kMostNestedBlocks = 64;  // also of parentheses in an expression

// Fails, with advice for what to use instead of the model's template.
template <typename... Args>
[[noreturn]] void RefuseTemplate(fmt::format_string<Args...> why, Args&&... args) {
  Fail("the model's chat template {}; give --chat-template NAME to use one of fovea's, or --prompt with its markers",
       fmt::format(why, std::forward<Args>(args)...));
}

// Without white space at both ends.
std::string TrimSpaces(const std::string& text);

// Text, the expression of {{ }}, or the statement of {% %}.
struct TemplatePart {
  enum class Kind { kText, kExpression, kStatement } kind;
  std::string text;
};

// As with trim_blocks and lstrip_blocks: the line end after a statement is removed, and spaces before one that begins a
// line. "-" next to a brace removes all white space there.
std::vector<TemplatePart> SplitTemplate(const std::string& source);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_TEMPLATE_PARTS_H_
