// Evaluates expressions of a chat template (Jinja).
#ifndef FOVEA_TOOLS_TEXT_TEMPLATE_EXPRESSION_H_
#define FOVEA_TOOLS_TEXT_TEMPLATE_EXPRESSION_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tools/text/template_builtins.h"
#include "tools/text/template_tree.h"

namespace fovea::tools::jinja {

// Variables of a block, over those around it.
class Scope {
 public:
  explicit Scope(const Scope* outside) : outside_(outside) {}
  void Set(const std::string& name, const Value& value);
  const Value* Find(const std::string& name, Budget* budget) const;

 private:
  const Scope* const outside_;
  std::vector<std::pair<std::string, Value>> names_;
};

class Evaluator {
 public:
  // `call_macro`: renders a macro.
  Evaluator(int64_t seconds, std::function<Value(const Macro&, CallArguments)> call_macro)
      : seconds_(seconds), call_macro_(std::move(call_macro)) {}

  Value Of(const Expression& expression, const Scope& scope);
  // The value of a filter of a block, whose innermost value is `value`.
  Value Filtered(const Expression& filter, const Value& value, const Scope& scope);
  // Calls `call` with one more argument, "caller".
  Value CallWith(const Expression& call, const Value& caller, const Scope& scope);
  Budget* budget() { return &budget_; }

  // Counts nested calls for the limit, while it lives.
  class Nested {
   public:
    explicit Nested(Evaluator* evaluator) : evaluator_(evaluator) {
      evaluator->budget_.Spend();
      if (++evaluator->nested_ > kMostCalls) Refuse("nests macros, blocks and expressions too deep");
    }
    ~Nested() { --evaluator_->nested_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Evaluator* const evaluator_;
  };

 private:
  Value NameOf(const Expression& name, const Scope& scope);
  Value Sliced(const Expression& slice, const Scope& scope);
  Value Unary(const Expression& expression, const Scope& scope);
  Value Binary(const Expression& expression, const Scope& scope);
  Value Compared(const Expression& expression, const Scope& scope);
  Value Called(const Expression& call, const Value* caller, const Scope& scope);
  CallArguments ArgumentsOf(const Arguments& arguments, std::string what, const Scope& scope);
  List ListOf(const std::vector<ExpressionPointer>& parts, const Scope& scope);

  Budget budget_;
  unsigned nested_ = 0;
  const int64_t seconds_;
  const std::function<Value(const Macro&, CallArguments)> call_macro_;
};

}  // namespace fovea::tools::jinja

#endif  // FOVEA_TOOLS_TEXT_TEMPLATE_EXPRESSION_H_
