// Tests of chat templates: "x is defined".
#include <cmath>
#include <iterator>

#include "tools/text/template_arithmetic.h"
#include "tools/text/template_builtins.h"
#include "tools/text/template_text.h"

namespace fovea::tools::jinja {
namespace {

using Test = bool (*)(const Value& value, CallArguments* arguments, Budget* budget);

template <Kind... kinds>
bool IsOneOf(const Value& value, CallArguments*, Budget*) {
  return ((value.kind == kinds) || ...);
}

bool RestIs(const Value& value, const Value& by, int64_t rest, Budget* budget) {
  return Equal(Computed("%", value, by, budget), Int(rest), budget);
}

bool IsEqual(const Value& value, CallArguments* arguments, Budget* budget) {
  return Equal(value, arguments->Need("other"), budget);
}
bool IsLess(const Value& value, CallArguments* arguments, Budget* budget) {
  return Less(value, arguments->Need("other"), budget);
}
bool IsGreater(const Value& value, CallArguments* arguments, Budget* budget) {
  return Less(arguments->Need("other"), value, budget);
}

struct Named {
  const char* name;
  Test test;
};
constexpr Named kTests[] = {
    {"defined", [](const Value& v, CallArguments*, Budget*) { return !v.Is(Kind::kUndefined); }},
    {"undefined", IsOneOf<Kind::kUndefined>},
    {"none", IsOneOf<Kind::kNone>},
    {"boolean", IsOneOf<Kind::kBool>},
    {"true", [](const Value& v, CallArguments*, Budget*) { return v.Is(Kind::kBool) && v.number != 0; }},
    {"false", [](const Value& v, CallArguments*, Budget*) { return v.Is(Kind::kBool) && v.number == 0; }},
    {"integer", IsOneOf<Kind::kInt>},
    {"float", IsOneOf<Kind::kFloat>},
    {"number", IsOneOf<Kind::kBool, Kind::kInt, Kind::kFloat>},
    {"string", IsOneOf<Kind::kString>},
    {"mapping", IsOneOf<Kind::kDict>},
    {"sequence", IsOneOf<Kind::kUndefined, Kind::kString, Kind::kList, Kind::kTuple, Kind::kDict>},
    {"iterable",
     IsOneOf<Kind::kUndefined, Kind::kString, Kind::kList, Kind::kTuple, Kind::kDict, Kind::kLoop, Kind::kIterator>},
    // An undefined value has a method to call it, which fails.
    {"callable", IsOneOf<Kind::kUndefined, Kind::kMacro, Kind::kMethod, Kind::kFunction>},
    {"odd", [](const Value& v, CallArguments*, Budget* b) { return RestIs(v, Int(2), 1, b); }},
    {"even", [](const Value& v, CallArguments*, Budget* b) { return RestIs(v, Int(2), 0, b); }},
    {"divisibleby", [](const Value& v, CallArguments* a, Budget* b) { return RestIs(v, a->Need("num"), 0, b); }},
    {"in", [](const Value& v, CallArguments* a, Budget* b) { return Contains(a->Need("seq"), v, b); }},
    {"eq", IsEqual},
    {"equalto", IsEqual},
    {"==", IsEqual},
    {"ne", [](const Value& v, CallArguments* a, Budget* b) { return !IsEqual(v, a, b); }},
    {"!=", [](const Value& v, CallArguments* a, Budget* b) { return !IsEqual(v, a, b); }},
    {"lt", IsLess},
    {"<", IsLess},
    {"lessthan", IsLess},
    {"gt", IsGreater},
    {">", IsGreater},
    {"greaterthan", IsGreater},
    {"ge", [](const Value& v, CallArguments* a, Budget* b) { return !IsLess(v, a, b); }},
    {">=", [](const Value& v, CallArguments* a, Budget* b) { return !IsLess(v, a, b); }},
    {"le", [](const Value& v, CallArguments* a, Budget* b) { return !IsGreater(v, a, b); }},
    {"<=", [](const Value& v, CallArguments* a, Budget* b) { return !IsGreater(v, a, b); }},
    {"lower",
     [](const Value& v, CallArguments*, Budget* b) {
       const std::string text = Printed(v, b);
       b->SpendCharacters(text.size());
       return Lower(text) == text && Upper(text) != text;
     }},
    {"upper",
     [](const Value& v, CallArguments*, Budget* b) {
       const std::string text = Printed(v, b);
       b->SpendCharacters(text.size());
       return Upper(text) == text && Lower(text) != text;
     }},
    {"sameas",
     [](const Value& v, CallArguments* a, Budget*) {
       const Value& other = a->Need("other");
       if (v.kind != other.kind) return false;
       return v.held != nullptr ? v.held == other.held : v.number == other.number && v.real == other.real;
     }},
    {"escaped", [](const Value& v, CallArguments*, Budget*) { return v.markup; }},
    {"filter", [](const Value& v, CallArguments*, Budget*) { return v.Is(Kind::kString) && IsFilter(v.text()); }},
    {"test", [](const Value& v, CallArguments*, Budget*) { return v.Is(Kind::kString) && IsTest(v.text()); }},
};

const Named* FindTest(const std::string& name) {
  for (const Named& test : kTests) {
    if (name == test.name) return &test;
  }
  return nullptr;
}

}  // namespace

bool IsTest(const std::string& name) { return FindTest(name) != nullptr; }

bool ApplyTest(const std::string& name, const Value& value, CallArguments arguments, Budget* budget) {
  const Named* const test = FindTest(name);
  if (test == nullptr) Refuse("uses the test '{}'", name);
  const bool holds = test->test(value, &arguments, budget);
  arguments.End();
  return holds;
}

}  // namespace fovea::tools::jinja
