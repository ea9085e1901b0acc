// Values of a chat template (Jinja): the Python values that templates compute with, and a budget for a rendering.
#ifndef FOVEA_TOOLS_TEXT_TEMPLATE_VALUE_H_
#define FOVEA_TOOLS_TEXT_TEMPLATE_VALUE_H_

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/base/fail.h"

namespace fovea::tools::jinja {

inline constexpr char kAdvice[] = "; give --chat-template NAME to use one of fovea's, or --prompt with its markers";

// Fails, with advice for what to use instead of the model's template.
template <typename... Args>
[[noreturn]] void Refuse(fmt::format_string<Args...> why, Args&&... args) {
  Fail("the model's chat template {}{}", fmt::format(why, std::forward<Args>(args)...), kAdvice);
}

// Limits of a rendering: a template is a program, and it may be hostile.
inline constexpr uint64_t kMostWork = uint64_t{1} << 24;  // operations, and 16 bytes of a copied string or list
inline constexpr size_t kMostBytes = size_t{16} << 20;    // in a string, and in the prompt
inline constexpr unsigned kMostNested = 100;              // lists in lists
inline constexpr unsigned kMostCalls = 600;               // nested evaluations, macros that call macros included

// Counts the work of a rendering.
class Budget {
 public:
  void Spend(uint64_t work = 1) {
    if (work > left_) Refuse("needs more than {} operations", kMostWork);
    left_ -= work;
  }
  void SpendBytes(size_t bytes) { Spend(1 + bytes / 16); }
  // For work on each character of a text of this size.
  void SpendCharacters(size_t bytes) { Spend(1 + 2 * static_cast<uint64_t>(bytes)); }

 private:
  uint64_t left_ = kMostWork;
};

enum class Kind : uint8_t {
  kUndefined,
  kNone,
  kBool,
  kInt,
  kFloat,
  kString,
  kList,
  kTuple,
  kDict,
  kNamespace,
  kLoop,
  kMacro,
  kMethod,
  kFunction,
  kIterator  // the result of map, select and similar filters, or a view of a dict
};

struct Value;
struct Pair;
using List = std::vector<Value>;
using Dict = std::vector<Pair>;  // in the order of insertion
struct Loop;
struct Macro;
struct Method;
struct Iterator;

// A value that does not change, except namespaces and iterators; copies share strings and lists.
struct Value {
  Kind kind = Kind::kUndefined;
  bool markup = false;  // a string that is escaped for HTML
  bool group = false;   // a tuple of the filter groupby, with .grouper and .list
  bool refers = false;  // is or holds a namespace, loop, macro or method, which nothing that outlives it may hold
  uint8_t depth = 0;    // levels of lists in lists
  int64_t number = 0;   // bool, int
  double real = 0;
  std::shared_ptr<const void> held;  // string, name of an undefined value, list, ...

  const std::string& text() const { return *static_cast<const std::string*>(held.get()); }
  const List& list() const { return *static_cast<const List*>(held.get()); }
  const Dict& dict() const { return *static_cast<const Dict*>(held.get()); }
  Dict& names() const { return *static_cast<Dict*>(const_cast<void*>(held.get())); }
  const Loop& loop() const { return *static_cast<const Loop*>(held.get()); }
  const Macro& macro() const { return *static_cast<const Macro*>(held.get()); }
  const Method& method() const { return *static_cast<const Method*>(held.get()); }
  Iterator& iterator() const { return *static_cast<Iterator*>(const_cast<void*>(held.get())); }

  bool Is(Kind other) const { return kind == other; }
  bool IsList() const { return kind == Kind::kList || kind == Kind::kTuple; }
  bool IsWhole() const { return kind == Kind::kBool || kind == Kind::kInt; }
  bool IsNumber() const { return IsWhole() || kind == Kind::kFloat; }
  double AsReal() const { return kind == Kind::kFloat ? real : static_cast<double>(number); }
};

struct Pair {
  Value key, value;
};

// The variable "loop" of a for statement.
struct Loop {
  List items;
  size_t at = 0;
  mutable std::vector<List> changed = {};  // the values of the last call of loop.changed, if there was one
};

// Values that are taken once, as of Python's generators; or a view of a dict, which has them always.
struct Iterator {
  List items;
  std::string view = {};  // "dict_items"; empty: a generator
  size_t at = 0;
  List Take() {
    return view.empty() ? List(items.begin() + static_cast<ptrdiff_t>(std::exchange(at, items.size())), items.end())
                        : items;
  }
};

// A method of a value: "text.strip".
struct Method {
  Value self;
  std::string name;
};

Value Undefined(std::string_view name = "");
Value None();
Value Bool(bool value);
Value Int(int64_t value);
Value Float(double value);
// Counts the string's bytes.
Value String(std::string text, Budget* budget);
Value Sequence(List items, Kind kind, Budget* budget);
Value Mapping(Dict pairs, Budget* budget);
// A generator, or a view of a dict.
Value IteratorOf(List items, std::string_view view, Budget* budget);
Value Namespace(Dict pairs);
Value MethodOf(const Value& self, std::string_view name);
Value Function(std::string_view name);

// The name of the type in messages, as Python's.
const char* NameOf(const Value& value);
bool IsTrue(const Value& value);
// As Python's ==, <.
bool Equal(const Value& a, const Value& b, Budget* budget);
bool Less(const Value& a, const Value& b, Budget* budget);
// The value of a key, or null.
const Value* Find(const Dict& dict, const Value& key, Budget* budget);
const Value* Find(const Dict& dict, std::string_view key);
// Adds or replaces.
void Put(Dict* dict, const Value& key, const Value& value, Budget* budget);
// The values that a loop over this one has; fails if there are none.
List Items(const Value& value, Budget* budget);
// An int: that is no index out of range.
int64_t WholeOf(const Value& value, const char* what);
// A string, or fails.
const std::string& TextOf(const Value& value, const char* what);

// As Python's str() and repr().
std::string Printed(const Value& value, Budget* budget);
std::string Represented(const Value& value, Budget* budget);
std::string Represented(double value);

struct JsonStyle {
  int indent = -1;  // below 0: on one line
  bool ascii = false, sorted = false;
  std::string item = ", ", key = ": ";
};
// As Python's json.dumps().
std::string JsonOf(const Value& value, const JsonStyle& style, Budget* budget);
// Parses JSON of at most 64 levels; fails with a message that begins with `where`.
Value ParsedJson(const std::string& text, const std::string& where, Budget* budget);

}  // namespace fovea::tools::jinja

#endif  // FOVEA_TOOLS_TEXT_TEMPLATE_VALUE_H_
