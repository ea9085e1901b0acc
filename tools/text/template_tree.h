// Syntax tree of a chat template (Jinja).
#ifndef FOVEA_TOOLS_TEXT_TEMPLATE_TREE_H_
#define FOVEA_TOOLS_TEXT_TEMPLATE_TREE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/text/template_value.h"

namespace fovea::tools::jinja {

struct Expression;
using ExpressionPointer = std::unique_ptr<Expression>;

struct Arguments {
  std::vector<ExpressionPointer> positional;
  std::vector<std::pair<std::string, ExpressionPointer>> named;
  ExpressionPointer list, dict;  // *list, **dict; or null
};

struct Expression {
  enum class Kind {
    kConstant,   // constant
    kName,       // text
    kList,       // parts
    kTuple,      // parts
    kDict,       // parts: key, value, key, value, ...
    kAttribute,  // parts[0], text
    kItem,       // parts[0], parts[1]
    kSlice,      // parts: of what, from, to, step; null where absent
    kCall,       // parts[0], arguments
    kFilter,     // parts[0] (null in a filter block), text, arguments
    kTest,       // parts[0], text, arguments
    kUnary,      // text: "-", "+", "not"
    kBinary,     // text: "+", "-", "*", "/", "//", "%", "**", "~", "and", "or"
    kCompare,    // parts[0]; operators[i] between parts[i] and parts[i + 1]
    kIf          // parts: condition, value, else (null: undefined)
  } kind;
  unsigned line = 0;
  unsigned depth = 1;
  std::string text = {};
  Value constant = {};
  std::vector<ExpressionPointer> parts = {};
  std::vector<std::string> operators = {};
  Arguments arguments = {};
};

struct Statement;
using Block = std::vector<Statement>;

// A name, an attribute of a namespace ("ns.x"), or several names.
struct Target {
  std::string name, attribute;
  std::vector<Target> parts;
};

struct Parameter {
  std::string name;
  ExpressionPointer absent;  // its default, or null
};

struct Branch {
  ExpressionPointer condition;  // null: else
  Block body;
};

struct Statement {
  enum class Kind {
    kText,    // text
    kOutput,  // value
    kFor,     // target, value, condition, body, otherwise
    kIf,      // branches
    kSet,     // target; value, or body and filter
    kMacro,   // text: name; parameters, body
    kCall,    // value: the call; parameters and body of the macro "caller"
    kFilter,  // filter, body
    kScope,   // body, with its own variables ({% generation %}); {% with %}: variables, body
    kBreak,
    kContinue
  } kind;
  unsigned line = 0;
  std::string text = {};
  Target target = {};
  ExpressionPointer value = {}, condition = {}, filter = {};
  std::vector<Branch> branches = {};
  std::vector<Parameter> parameters = {};
  bool uses_varargs = false, uses_kwargs = false, uses_caller = false;  // a macro that takes more arguments
  std::vector<std::pair<Target, ExpressionPointer>> variables = {};
  Block body = {}, otherwise = {};
};

// A macro, and what it sees besides its parameters.
class Scope;
struct Macro {
  const Statement* statement;
  Scope* outside;
};

}  // namespace fovea::tools::jinja

#endif  // FOVEA_TOOLS_TEXT_TEMPLATE_TREE_H_
