// Splits a chat template (Jinja) into tokens.
#ifndef FOVEA_TOOLS_TEXT_TEMPLATE_LEXER_H_
#define FOVEA_TOOLS_TEXT_TEMPLATE_LEXER_H_

#include <string>
#include <vector>

namespace fovea::tools::jinja {

struct Token {
  enum class Kind {
    kText,  // between tags
    kBeginOutput,
    kEndOutput,
    kBeginStatement,
    kEndStatement,
    kName,
    kString,
    kInteger,
    kReal,
    kSign,
    kEnd
  } kind;
  std::string text;
  unsigned line = 0;

  bool Is(const char* sign) const { return kind == Kind::kSign && text == sign; }
  bool IsName(const char* name) const { return kind == Kind::kName && text == name; }
};

// With trim_blocks and lstrip_blocks, as transformers sets them: the line end after a statement is removed, and spaces
// before a statement that begins a line. "-" next to a brace removes all white space there, "+" none. The last token is
// kEnd.
std::vector<Token> Tokens(const std::string& source);

}  // namespace fovea::tools::jinja

#endif  // FOVEA_TOOLS_TEXT_TEMPLATE_LEXER_H_
