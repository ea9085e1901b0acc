#include "tools/text/template_statement.h"

#include <algorithm>

#include "tools/text/template_expression.h"

namespace fovea::tools::jinja {
namespace {

enum class Flow { kNext, kBreak, kContinue };

class Renderer {
 public:
  explicit Renderer(int64_t seconds)
      : evaluator_(seconds, [this](const Macro& macro, CallArguments arguments) {
          return CallMacro(macro, std::move(arguments));
        }) {}

  std::string Render(const Program& program, const std::vector<std::pair<std::string, Value>>& variables) {
    Scope scope(nullptr);
    for (const auto& [name, value] : variables) scope.Set(name, value);
    return Captured(program.body, &scope);
  }

 private:
  Budget* budget() { return evaluator_.budget(); }

  void Write(const std::string& text) {
    budget()->SpendBytes(text.size());
    if (out_->size() + text.size() > kMostBytes) Refuse("writes more than {} bytes", kMostBytes);
    *out_ += text;
  }

  // The text that a block writes.
  std::string Captured(const Block& block, Scope* scope) {
    std::string text, *const before = out_;
    out_ = &text;
    Run(block, scope);
    out_ = before;
    return text;
  }

  Flow Run(const Block& block, Scope* scope) {
    for (const Statement& statement : block) {
      const Flow flow = RunNamed(statement, scope);
      if (flow != Flow::kNext) return flow;
    }
    return Flow::kNext;
  }

  // A refusal names the line of the innermost statement.
  Flow RunNamed(const Statement& s, Scope* scope) {
    try {
      return Run(s, scope);
    } catch (const Failure& failure) {
      const std::string why = failure.what();
      const size_t advice = why.rfind(kAdvice);
      if (advice == std::string::npos ||
          (why.find(" line ") != std::string::npos || why.find("(line ") != std::string::npos))
        throw;
      Fail("{} (line {}){}", why.substr(0, advice), s.line, why.substr(advice));
    }
  }

  Flow Run(const Statement& s, Scope* scope) {
    const Evaluator::Nested nested(&evaluator_);
    switch (s.kind) {
      case Statement::Kind::kText:
        Write(s.text);
        break;
      case Statement::Kind::kOutput:
        Write(Printed(evaluator_.Of(*s.value, *scope), budget()));
        break;
      case Statement::Kind::kFor:
        For(s, scope);
        break;
      case Statement::Kind::kIf:
        for (const Branch& branch : s.branches) {
          if (branch.condition == nullptr || IsTrue(evaluator_.Of(*branch.condition, *scope))) {
            return Run(branch.body, scope);
          }
        }
        break;
      case Statement::Kind::kSet:
        Set(s, scope);
        break;
      case Statement::Kind::kMacro:
        scope->Set(s.text, MacroOf(s, scope));
        break;
      case Statement::Kind::kCall:
        Write(Printed(evaluator_.CallWith(*s.value, MacroOf(s, scope), *scope), budget()));
        break;
      case Statement::Kind::kFilter: {
        Scope inner(scope);
        const Value text = String(Captured(s.body, &inner), budget());
        Write(Printed(evaluator_.Filtered(*s.filter, text, *scope), budget()));
        break;
      }
      case Statement::Kind::kScope: {
        Scope inner(scope);
        for (const auto& [target, value] : s.variables) Assign(target, evaluator_.Of(*value, *scope), &inner);
        return Run(s.body, &inner);
      }
      case Statement::Kind::kBreak:
        return Flow::kBreak;
      case Statement::Kind::kContinue:
        return Flow::kContinue;
    }
    return Flow::kNext;
  }

  void Set(const Statement& s, Scope* scope) {
    if (s.value != nullptr) return Assign(s.target, evaluator_.Of(*s.value, *scope), scope);
    Scope inner(scope);
    Value text = String(Captured(s.body, &inner), budget());
    if (s.filter != nullptr) text = evaluator_.Filtered(*s.filter, text, *scope);
    Assign(s.target, text, scope);
  }

  void Assign(const Target& target, const Value& value, Scope* scope) {
    if (!target.parts.empty()) {
      const List items = Items(value, budget());
      if (items.size() != target.parts.size()) {
        Refuse("assigns {} values to {} names", items.size(), target.parts.size());
      }
      for (size_t i = 0; i < items.size(); ++i) Assign(target.parts[i], items[i], scope);
    } else if (target.attribute.empty()) {
      scope->Set(target.name, value);
    } else {
      const Value* const space = scope->Find(target.name, budget());
      if (space == nullptr || !space->Is(Kind::kNamespace)) {
        Refuse("assigns to {}.{}, but {} is no namespace", target.name, target.attribute, target.name);
      }
      if (value.refers) Refuse("stores {} in a namespace", NameOf(value));
      Put(&space->names(), String(target.attribute, budget()), value, budget());
    }
  }

  void For(const Statement& s, Scope* scope) {
    auto loop = std::make_shared<Loop>();
    loop->items = Items(evaluator_.Of(*s.value, *scope), budget());
    if (s.condition != nullptr) {
      List kept;
      for (const Value& item : loop->items) {
        Scope inner(scope);
        Assign(s.target, item, &inner);
        if (IsTrue(evaluator_.Of(*s.condition, inner))) kept.push_back(item);
      }
      loop->items = std::move(kept);
    }
    Value variable;
    variable.kind = Kind::kLoop;
    variable.refers = true;
    variable.held = loop;
    for (loop->at = 0; loop->at < loop->items.size(); ++loop->at) {
      budget()->Spend(8);  // a scope and its names
      Scope inner(scope);
      inner.Set("loop", variable);
      Assign(s.target, loop->items[loop->at], &inner);
      if (Run(s.body, &inner) == Flow::kBreak) break;
    }
    if (loop->items.empty()) Run(s.otherwise, scope);
  }

  static Value MacroOf(const Statement& s, Scope* scope) {
    Value macro;
    macro.kind = Kind::kMacro;
    macro.refers = true;
    macro.held = std::make_shared<const Macro>(Macro{&s, scope});
    return macro;
  }

  Value CallMacro(const Macro& macro, CallArguments arguments) {
    const Evaluator::Nested nested(&evaluator_);
    const Statement& s = *macro.statement;
    Scope inner(macro.outside);
    for (const Parameter& parameter : s.parameters) {
      const Value* const given = arguments.Take(parameter.name.c_str());
      if (given != nullptr) {
        inner.Set(parameter.name, *given);
      } else {
        inner.Set(parameter.name,
                  parameter.absent == nullptr ? Undefined(parameter.name) : evaluator_.Of(*parameter.absent, inner));
      }
    }
    auto named = arguments.RestOfNamed();
    const auto caller = std::find_if(named.begin(), named.end(), [](const auto& n) { return n.first == "caller"; });
    if (s.uses_caller && caller != named.end()) {
      inner.Set("caller", caller->second);
      named.erase(caller);
    }
    if (s.uses_varargs) inner.Set("varargs", Sequence(arguments.RestOfPositional(), Kind::kTuple, budget()));
    if (s.uses_kwargs) {
      Dict pairs;
      for (auto& [name, value] : named) Put(&pairs, String(name, budget()), value, budget());
      inner.Set("kwargs", Mapping(std::move(pairs), budget()));
      named.clear();
    }
    CallArguments(arguments.what(), arguments.RestOfPositional(), std::move(named)).End();
    return String(Captured(s.body, &inner), budget());
  }

  Evaluator evaluator_;
  std::string* out_ = nullptr;
};

}  // namespace

std::string Rendered(const Program& program, const std::vector<std::pair<std::string, Value>>& variables,
                     int64_t seconds) {
  return Renderer(seconds).Render(program, variables);
}

}  // namespace fovea::tools::jinja
