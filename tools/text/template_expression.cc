#include "tools/text/template_expression.h"

#include <algorithm>
#include <cmath>

#include "tools/text/template_arithmetic.h"
#include "tools/text/template_text.h"

namespace fovea::tools::jinja {
namespace {

using K = Expression::Kind;

// How an expression is called in messages: "message.content".
std::string Shown(const Expression& expression) {
  if (expression.kind == K::kName) return expression.text;
  if (expression.kind == K::kAttribute) return Shown(*expression.parts[0]) + "." + expression.text;
  if (expression.kind == K::kItem && expression.parts[1]->kind == K::kConstant) {
    const Value& key = expression.parts[1]->constant;
    return Shown(*expression.parts[0]) + (key.Is(Kind::kString) ? "['" + key.text() + "']" : "[..]");
  }
  return fmt::format("the value in line {}", expression.line);
}

// Start, end and step of a slice over `count` items, as Python's slice.indices().
struct Range {
  int64_t first, last, step;
};
Range RangeOf(const Value* from, const Value* to, const Value* by, int64_t count) {
  const auto whole = [](const Value* value, int64_t absent) {
    return value == nullptr || value->Is(Kind::kNone) ? absent : WholeOf(*value, "the index of a slice");
  };
  Range range = {0, 0, whole(by, 1)};
  if (range.step == 0) Refuse("has a slice with step 0");
  range.step = std::clamp<int64_t>(range.step, -INT32_MAX, INT32_MAX);
  const bool down = range.step < 0;
  const auto bound = [&](const Value* value, int64_t absent) {
    int64_t index = whole(value, INT64_MIN);
    if (index == INT64_MIN) return absent;
    if (index < 0) index = std::max<int64_t>(index, -count - 1) + count;
    return std::clamp<int64_t>(index, down ? -1 : 0, down ? count - 1 : count);
  };
  range.first = bound(from, down ? count - 1 : 0);
  range.last = bound(to, down ? -1 : count);
  return range;
}

}  // namespace

void Scope::Set(const std::string& name, const Value& value) {
  for (auto& [there, old] : names_) {
    if (there == name) {
      old = value;
      return;
    }
  }
  names_.emplace_back(name, value);
}

const Value* Scope::Find(const std::string& name, Budget* budget) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outside_) {
    budget->Spend(1 + scope->names_.size() / 16);
    for (const auto& [there, value] : scope->names_) {
      if (there == name) return &value;
    }
  }
  return nullptr;
}

Value Evaluator::Of(const Expression& e, const Scope& scope) {
  const Nested nested(this);
  switch (e.kind) {
    case K::kConstant:
      return e.constant;
    case K::kName:
      return NameOf(e, scope);
    case K::kList:
      return Sequence(ListOf(e.parts, scope), Kind::kList, &budget_);
    case K::kTuple:
      return Sequence(ListOf(e.parts, scope), Kind::kTuple, &budget_);
    case K::kDict: {
      Dict dict;
      for (size_t i = 0; i < e.parts.size(); i += 2) {
        const Value key = Of(*e.parts[i], scope);
        Put(&dict, key, Of(*e.parts[i + 1], scope), &budget_);
      }
      return Mapping(std::move(dict), &budget_);
    }
    case K::kAttribute: {
      const Value of = Of(*e.parts[0], scope);
      if (of.Is(Kind::kUndefined)) Refuse("uses {}, but {} is undefined", Shown(e), Shown(*e.parts[0]));
      return AttributeOf(of, e.text, &budget_);
    }
    case K::kItem: {
      const Value of = Of(*e.parts[0], scope);
      if (of.Is(Kind::kUndefined)) Refuse("uses an item of {}, which is undefined", Shown(*e.parts[0]));
      return ItemOf(of, Of(*e.parts[1], scope), &budget_);
    }
    case K::kSlice:
      return Sliced(e, scope);
    case K::kCall:
      return Called(e, nullptr, scope);
    case K::kFilter: {
      const Value value = Of(*e.parts[0], scope);
      return ApplyFilter(e.text, value, ArgumentsOf(e.arguments, "filter " + e.text, scope), &budget_);
    }
    case K::kTest: {
      const Value value = Of(*e.parts[0], scope);
      return Bool(ApplyTest(e.text, value, ArgumentsOf(e.arguments, "test " + e.text, scope), &budget_));
    }
    case K::kUnary:
      return Unary(e, scope);
    case K::kBinary:
      return Binary(e, scope);
    case K::kCompare:
      return Compared(e, scope);
    case K::kIf:
      if (IsTrue(Of(*e.parts[0], scope))) return Of(*e.parts[1], scope);
      return e.parts[2] == nullptr ? Undefined() : Of(*e.parts[2], scope);
  }
  return {};
}

Value Evaluator::NameOf(const Expression& name, const Scope& scope) {
  if (const Value* const found = scope.Find(name.text, &budget_)) return *found;
  return IsFunction(name.text) ? Function(name.text) : Undefined(name.text);
}

List Evaluator::ListOf(const std::vector<ExpressionPointer>& parts, const Scope& scope) {
  List list;
  for (const ExpressionPointer& part : parts) list.push_back(Of(*part, scope));
  return list;
}

CallArguments Evaluator::ArgumentsOf(const Arguments& arguments, std::string what, const Scope& scope) {
  List positional = ListOf(arguments.positional, scope);
  std::vector<std::pair<std::string, Value>> named;
  for (const auto& [name, value] : arguments.named) named.emplace_back(name, Of(*value, scope));
  if (arguments.list != nullptr) {
    for (Value& item : Items(Of(*arguments.list, scope), &budget_)) positional.push_back(std::move(item));
  }
  if (arguments.dict == nullptr) return {std::move(what), std::move(positional), std::move(named)};
  const Value all = Of(*arguments.dict, scope);
  if (!all.Is(Kind::kDict)) Refuse("calls {} with {} after '**'", what, jinja::NameOf(all));
  budget_.Spend(all.dict().size() * (1 + named.size()));
  for (const Pair& pair : all.dict()) {
    const std::string& name = TextOf(pair.key, "the name of an argument");
    const auto twice = [&](const auto& argument) { return argument.first == name; };
    if (name.empty() || std::any_of(named.begin(), named.end(), twice)) Refuse("calls {} with '{}' twice", what, name);
    named.emplace_back(name, pair.value);
  }
  return {std::move(what), std::move(positional), std::move(named)};
}

Value Evaluator::Filtered(const Expression& filter, const Value& value, const Scope& scope) {
  const Value inner = filter.parts[0] == nullptr ? value : Filtered(*filter.parts[0], value, scope);
  return ApplyFilter(filter.text, inner, ArgumentsOf(filter.arguments, "filter " + filter.text, scope), &budget_);
}

Value Evaluator::CallWith(const Expression& call, const Value& caller, const Scope& scope) {
  return Called(call, &caller, scope);
}

Value Evaluator::Called(const Expression& call, const Value* caller, const Scope& scope) {
  const Expression& what = *call.parts[0];
  const Value of = Of(what, scope);
  const std::string name = what.kind == K::kAttribute || what.kind == K::kName ? what.text : Shown(what);
  switch (of.kind) {
    case Kind::kMethod:
      return CallMethod(of.method(), ArgumentsOf(call.arguments, "method " + name, scope), &budget_);
    case Kind::kFunction:
      return CallFunction(of.text(), ArgumentsOf(call.arguments, "function " + name, scope), seconds_, &budget_);
    case Kind::kMacro: {
      CallArguments arguments = ArgumentsOf(call.arguments, "macro " + name, scope);
      if (caller != nullptr) {
        auto named = arguments.RestOfNamed();
        named.emplace_back("caller", *caller);
        arguments = CallArguments(arguments.what(), arguments.RestOfPositional(), std::move(named));
      }
      return call_macro_(of.macro(), std::move(arguments));
    }
    case Kind::kUndefined:
      if (what.kind == K::kAttribute && !IsMethod(what.text)) Refuse("uses the method '{}'", what.text);
      Refuse("calls {}, which is undefined", Shown(what));
    default:
      Refuse("calls {}, which is {}", Shown(what), jinja::NameOf(of));
  }
}

Value Evaluator::Sliced(const Expression& slice, const Scope& scope) {
  const Value of = Of(*slice.parts[0], scope);
  Value bounds[3];
  const Value* given[3] = {};
  for (size_t i = 0; i < 3; ++i) {
    if (slice.parts[i + 1] == nullptr) continue;
    bounds[i] = Of(*slice.parts[i + 1], scope);
    given[i] = &bounds[i];
  }
  const auto walk = [&](size_t count, const auto& add) {
    const Range range = RangeOf(given[0], given[1], given[2], static_cast<int64_t>(count));
    for (int64_t i = range.first; range.step > 0 ? i < range.last : i > range.last; i += range.step) {
      add(static_cast<size_t>(i));
    }
  };
  if (of.IsList()) {
    List items;
    walk(of.list().size(), [&](size_t i) { items.push_back(of.list()[i]); });
    return Sequence(std::move(items), of.kind, &budget_);
  }
  if (of.Is(Kind::kString)) {
    budget_.Spend(1 + of.text().size());
    const std::vector<std::string_view> characters = Characters(of.text());
    std::string text;
    walk(characters.size(), [&](size_t i) { text += characters[i]; });
    return String(std::move(text), &budget_);
  }
  Refuse("slices {}, which is {}", Shown(*slice.parts[0]), jinja::NameOf(of));
}

Value Evaluator::Unary(const Expression& e, const Scope& scope) {
  const Value value = Of(*e.parts[0], scope);
  if (e.text == "not") return Bool(!IsTrue(value));
  if (!value.IsNumber()) Refuse("has the sign {} before {}", e.text, jinja::NameOf(value));
  if (value.Is(Kind::kFloat)) return Float(e.text == "-" ? -value.real : value.real);
  return Int(e.text == "-" ? -value.number : value.number);
}

Value Evaluator::Binary(const Expression& e, const Scope& scope) {
  const Value left = Of(*e.parts[0], scope);
  if (e.text == "and") return IsTrue(left) ? Of(*e.parts[1], scope) : left;
  if (e.text == "or") return IsTrue(left) ? left : Of(*e.parts[1], scope);
  const Value right = Of(*e.parts[1], scope);
  if (e.text == "~") return String(Printed(left, &budget_) + Printed(right, &budget_), &budget_);
  for (size_t i = 0; i < 2; ++i) {
    if ((i == 0 ? left : right).Is(Kind::kUndefined)) {
      Refuse("computes with {}, which is undefined (line {})", Shown(*e.parts[i]), e.line);
    }
  }
  return Computed(e.text, left, right, &budget_);
}

Value Evaluator::Compared(const Expression& e, const Scope& scope) {
  Value left = Of(*e.parts[0], scope);
  for (size_t i = 0; i < e.operators.size(); ++i) {
    const std::string& sign = e.operators[i];
    Value right = Of(*e.parts[i + 1], scope);
    bool holds = false;
    if (sign == "==" || sign == "!=") {
      holds = Equal(left, right, &budget_) == (sign == "==");
    } else if (sign == "in" || sign == "not in") {
      holds = Contains(right, left, &budget_) == (sign == "in");
    } else if (sign == "<") {
      holds = Less(left, right, &budget_);
    } else if (sign == ">") {
      holds = Less(right, left, &budget_);
    } else if (sign == "<=") {
      holds = Less(left, right, &budget_) || Equal(left, right, &budget_);
    } else {
      holds = Less(right, left, &budget_) || Equal(left, right, &budget_);
    }
    if (!holds) return Bool(false);
    left = std::move(right);
  }
  return Bool(true);
}

}  // namespace fovea::tools::jinja
