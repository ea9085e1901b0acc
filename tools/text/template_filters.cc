// Filters of chat templates: "x | trim".
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <algorithm>
#include <iterator>

#include "tools/text/template_arithmetic.h"
#include "tools/text/template_builtins.h"
#include "tools/text/template_text.h"

namespace fovea::tools::jinja {
namespace {

using Filter = Value (*)(const Value& value, CallArguments* arguments, Budget* budget);

Value Listed(List list, Budget* budget) { return Sequence(std::move(list), Kind::kList, budget); }
Value Generated(List list, Budget* budget) { return IteratorOf(std::move(list), "", budget); }
Value Made(std::string text, Budget* budget) { return String(std::move(text), budget); }

// item.a.0.b, by the attribute argument of a filter; the item itself without one.
Value Attribute(const Value& item, const Value* path, const Value& absent, Budget* budget) {
  if (path == nullptr || path->Is(Kind::kNone)) return item;
  if (path->IsWhole()) return ItemOf(item, *path, budget);
  Value value = item;
  const std::string dot = ".";
  for (const std::string& part : Split(TextOf(*path, "an attribute"), &dot, -1, false)) {
    const bool number = !part.empty() && part.size() < 9 && part.find_first_not_of("0123456789") == std::string::npos;
    if (value.Is(Kind::kUndefined)) Refuse("uses the attribute {} of an undefined value", part);
    value = ItemOf(value, number ? Int(atoi(part.c_str())) : String(part, budget), budget);
    if (value.Is(Kind::kUndefined) && !absent.Is(Kind::kNone)) value = absent;
  }
  return value;
}

Value WithoutCase(const Value& value, bool keeps, Budget* budget) {
  if (keeps || !value.Is(Kind::kString)) return value;
  budget->SpendCharacters(value.text().size());
  return Made(Lower(value.text()), budget);
}

// The keys that sort by several attributes, "a,b".
Value KeysOf(const Value& item, const Value* paths, bool keeps, Budget* budget) {
  List keys;
  if (paths != nullptr && paths->Is(Kind::kString)) {
    const std::string comma = ",";
    for (const std::string& path : Split(paths->text(), &comma, -1, false)) {
      const Value one = String(path, budget);
      keys.push_back(WithoutCase(Attribute(item, &one, None(), budget), keeps, budget));
    }
  } else {
    keys.push_back(WithoutCase(Attribute(item, paths, None(), budget), keeps, budget));
  }
  return Listed(std::move(keys), budget);
}

// Sorts items by keys, stably.
void SortBy(std::vector<std::pair<Value, Value>>* keyed, bool reverse, Budget* budget) {
  std::stable_sort(keyed->begin(), keyed->end(), [&](const auto& a, const auto& b) {
    return reverse ? Less(b.first, a.first, budget) : Less(a.first, b.first, budget);
  });
}

Value Sorted(const Value& value, CallArguments* arguments, Budget* budget) {
  const bool reverse = arguments->TakeFlag("reverse", false), keeps = arguments->TakeFlag("case_sensitive", false);
  const Value* const path = arguments->Take("attribute");
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& item : Items(value, budget)) {
    keyed.emplace_back(KeysOf(item, path, keeps, budget), item);
  }
  SortBy(&keyed, reverse, budget);
  List list;
  for (const auto& [key, item] : keyed) list.push_back(item);
  return Listed(std::move(list), budget);
}

Value SortedDict(const Value& value, CallArguments* arguments, Budget* budget) {
  if (!value.Is(Kind::kDict)) Refuse("sorts {} as a dict", NameOf(value));
  const bool keeps = arguments->TakeFlag("case_sensitive", false);
  const std::string* const by = arguments->TakeText("by");
  const bool by_value = by != nullptr && *by == "value";
  if (by != nullptr && !by_value && *by != "key") Refuse("sorts a dict by '{}'", *by);
  const bool reverse = arguments->TakeFlag("reverse", false);
  std::vector<std::pair<Value, Value>> keyed;
  for (const Pair& pair : value.dict()) {
    keyed.emplace_back(WithoutCase(by_value ? pair.value : pair.key, keeps, budget),
                       Sequence({pair.key, pair.value}, Kind::kTuple, budget));
  }
  SortBy(&keyed, reverse, budget);
  List list;
  for (const auto& [key, item] : keyed) list.push_back(item);
  return Listed(std::move(list), budget);
}

Value Extreme(const Value& value, bool greatest, CallArguments* arguments, Budget* budget) {
  const bool keeps = arguments->TakeFlag("case_sensitive", false);
  const Value* const path = arguments->Take("attribute");
  Value best = Undefined("item"), best_key;
  bool first = true;
  for (const Value& item : Items(value, budget)) {
    const Value key = WithoutCase(Attribute(item, path, None(), budget), keeps, budget);
    if (first || (greatest ? Less(best_key, key, budget) : Less(key, best_key, budget))) best = item, best_key = key;
    first = false;
  }
  return best;
}

Value Unique(const Value& value, CallArguments* arguments, Budget* budget) {
  const bool keeps = arguments->TakeFlag("case_sensitive", false);
  const Value* const path = arguments->Take("attribute");
  List list, keys;
  for (const Value& item : Items(value, budget)) {
    const Value key = WithoutCase(Attribute(item, path, None(), budget), keeps, budget);
    if (std::any_of(keys.begin(), keys.end(), [&](const Value& known) { return Equal(known, key, budget); })) continue;
    keys.push_back(key);
    list.push_back(item);
  }
  return Generated(std::move(list), budget);
}

Value Mapped(const Value& value, CallArguments* arguments, Budget* budget) {
  List list;
  const List items = IsTrue(value) ? Items(value, budget) : List();
  const auto named = arguments->RestOfNamed();
  const bool by_attribute =
      std::any_of(named.begin(), named.end(), [](const auto& n) { return n.first == "attribute"; });
  CallArguments rest = arguments->Rest("filter map");
  if (by_attribute) {
    const Value path = rest.Need("attribute");
    const Value absent = rest.Take("default", None());
    rest.End();
    for (const Value& item : items) list.push_back(Attribute(item, &path, absent, budget));
  } else {
    const std::string name = rest.NeedText("name");
    for (const Value& item : items) list.push_back(ApplyFilter(name, item, rest.Rest("filter " + name), budget));
  }
  *arguments = CallArguments(arguments->what(), {}, {});
  return Generated(std::move(list), budget);
}

// select, reject, selectattr, rejectattr
Value Selected(const Value& value, bool wanted, bool by_attribute, CallArguments* arguments, Budget* budget) {
  Value path;
  if (by_attribute) path = arguments->Need("attribute");
  const Value* const given = arguments->Take("test");
  const std::string test = given == nullptr ? "" : TextOf(*given, "the name of a test");
  const CallArguments rest = arguments->Rest("test " + test);
  *arguments = CallArguments(arguments->what(), {}, {});
  List list;
  const List items = IsTrue(value) ? Items(value, budget) : List();
  for (const Value& item : items) {
    const Value tested = by_attribute ? Attribute(item, &path, None(), budget) : item;
    const bool holds = test.empty() ? IsTrue(tested) : ApplyTest(test, tested, rest, budget);
    if (holds == wanted) list.push_back(item);
  }
  return Generated(std::move(list), budget);
}

Value Joined(const Value& value, CallArguments* arguments, Budget* budget) {
  const std::string separator = Printed(arguments->Take("d", String("", budget)), budget);
  const Value* const path = arguments->Take("attribute");
  std::string text;
  bool first = true;
  for (const Value& item : Items(value, budget)) {
    if (!first) text += separator;
    first = false;
    text += Printed(Attribute(item, path, None(), budget), budget);
    if (text.size() > kMostBytes) Refuse("makes a string of more than {} bytes", kMostBytes);
  }
  return Made(std::move(text), budget);
}

// transformers' own: json.dumps without escapes for HTML.
Value ToJson(const Value& value, CallArguments* arguments, Budget* budget) {
  JsonStyle style;
  style.ascii = arguments->TakeFlag("ensure_ascii", false);
  style.indent = static_cast<int>(std::clamp<int64_t>(arguments->TakeWhole("indent", -1), -1, 64));
  if (style.indent >= 0) style.item = ",";
  if (const Value* const separators = arguments->Take("separators"); separators && !separators->Is(Kind::kNone)) {
    const List pair = Items(*separators, budget);
    if (pair.size() != 2) Refuse("calls tojson with separators that are not two");
    style.item = TextOf(pair[0], "a separator");
    style.key = TextOf(pair[1], "a separator");
  }
  style.sorted = arguments->TakeFlag("sort_keys", false);
  return Made(JsonOf(value, style, budget), budget);
}

// A number's text without white space around it and "_" between digits.
std::string NumberText(const std::string& given) {
  std::string text;
  const std::string_view all = Strip(given, nullptr, true, true);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto digit = [&](size_t at) { return at < all.size() && isdigit(static_cast<unsigned char>(all[at])) != 0; };
    if (all[i] != '_' || i == 0 || !digit(i - 1) || !digit(i + 1)) text += all[i];
  }
  return text;
}

// Digits of a base, with the prefix that Python allows.
bool WholeIn(const std::string& text, int64_t base, int64_t* number) {
  const size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  std::string digits = text.substr(sign);
  const char kind = digits.size() > 2 && digits[0] == '0' ? static_cast<char>(digits[1] | 32) : '0';
  const int64_t meant = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 0;
  if (meant != 0 && (base == 0 || base == meant)) {
    digits.erase(0, 2);
    base = meant;
  } else if (base == 0) {
    if (digits.size() > 1 && digits[0] == '0' && digits.find_first_not_of('0') != std::string::npos) return false;
    base = 10;
  }
  if (digits.empty() || isalnum(static_cast<unsigned char>(digits[0])) == 0) return false;
  char* end = nullptr;
  errno = 0;
  if (sign != 0) digits.insert(0, 1, text[0]);
  *number = strtoll(digits.c_str(), &end, static_cast<int>(base));
  return *end == '\0' && errno == 0;
}

Value ToWhole(const Value& value, CallArguments* arguments, Budget*) {
  const Value absent = arguments->Take("default", Int(0));
  const int64_t base = arguments->TakeWhole("base", 10);
  if (base != 0 && (base < 2 || base > 36)) Refuse("calls int with the base {}", base);
  double real = value.AsReal();
  if (value.IsWhole()) return Int(value.number);
  if (value.Is(Kind::kString)) {
    const std::string text = NumberText(value.text());
    char* end = nullptr;
    if (base != 10) {
      int64_t number = 0;
      if (WholeIn(text, base, &number)) return Int(number);
    } else if (text.size() < 19 && !text.empty()) {
      const int64_t whole = strtoll(text.c_str(), &end, 10);
      if (*end == '\0' && isspace(static_cast<unsigned char>(text[0])) == 0) return Int(whole);
    }
    real = strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || text.find_first_of("xX") != std::string::npos) return absent;
  } else if (!value.Is(Kind::kFloat)) {
    return absent;
  }
  if (!(fabs(real) < 9e18)) return absent;
  return Int(static_cast<int64_t>(real));
}

Value ToReal(const Value& value, CallArguments* arguments, Budget*) {
  const Value absent = arguments->Take("default", Float(0));
  if (value.IsNumber()) return Float(value.AsReal());
  if (!value.Is(Kind::kString)) return absent;
  const std::string text = NumberText(value.text());
  char* end = nullptr;
  const double real = strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' || text.find_first_of("xX") != std::string::npos ? absent : Float(real);
}

Value Rounded(const Value& value, CallArguments* arguments, Budget*) {
  if (!value.IsNumber()) Refuse("rounds {}", NameOf(value));
  const int64_t precision = std::clamp<int64_t>(arguments->TakeWhole("precision", 0), -300, 300);
  const std::string* const method = arguments->TakeText("method");
  if (method != nullptr && *method != "common" && *method != "ceil" && *method != "floor") {
    Refuse("rounds by '{}'", *method);
  }
  if (method == nullptr || *method == "common") {
    if (value.IsWhole() && precision < 0) Refuse("rounds a whole number to tens");
    if (value.IsWhole()) return Int(value.number);
    // The decimal digits of the exact number decide, as in Python.
    return Float(precision >= 0 ? strtod(fmt::format("{:.{}f}", value.real, precision).c_str(), nullptr)
                                : nearbyint(value.real / pow(10, -precision)) * pow(10, -precision));
  }
  const double scale = pow(10, static_cast<double>(precision)), scaled = value.AsReal() * scale;
  return Float((*method == "ceil" ? ceil(scaled) : floor(scaled)) / scale);
}

Value Sum(const Value& value, CallArguments* arguments, Budget* budget) {
  const Value* const path = arguments->Take("attribute");
  Value sum = arguments->Take("start", Int(0));
  for (const Value& item : Items(value, budget)) {
    sum = Computed("+", sum, Attribute(item, path, None(), budget), budget);
  }
  return sum;
}

Value Indented(const Value& value, CallArguments* arguments, Budget* budget) {
  const Value width = arguments->Take("width", Int(4));
  const bool first = arguments->TakeFlag("first", false), blank = arguments->TakeFlag("blank", false);
  const std::string by =
      width.Is(Kind::kString)
          ? width.text()
          : std::string(static_cast<size_t>(std::clamp<int64_t>(WholeOf(width, "width"), 0, 1000)), ' ');
  const std::vector<std::string> lines = SplitLines(TextOf(value, "the value of indent") + "\n", false);
  std::string text = first ? by : "";
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i != 0) text += "\n";
    if (i != 0 && (blank || !lines[i].empty())) text += by;
    text += lines[i];
  }
  return Made(std::move(text), budget);
}

Value Batched(const Value& value, CallArguments* arguments, Budget* budget) {
  const int64_t count = WholeOf(arguments->Need("linecount"), "linecount");
  const Value fill = arguments->Take("fill_with", None());
  if (count < 1) Refuse("calls batch with {} items", count);
  List batches, batch;
  const List items = Items(value, budget);
  for (size_t i = 0; i < items.size(); ++i) {
    batch.push_back(items[i]);
    if (batch.size() < static_cast<size_t>(count) && i + 1 < items.size()) continue;
    while (!fill.Is(Kind::kNone) && batch.size() < static_cast<size_t>(count)) {
      budget->Spend();
      batch.push_back(fill);
    }
    batches.push_back(Listed(std::move(batch), budget));
    batch.clear();
  }
  return Generated(std::move(batches), budget);
}

// Columns: lists of nearly equal sizes.
Value Sliced(const Value& value, CallArguments* arguments, Budget* budget) {
  const int64_t count = WholeOf(arguments->Need("slices"), "slices");
  const Value fill = arguments->Take("fill_with", None());
  const List items = Items(value, budget);
  if (count < 1 || count > 100000) Refuse("calls slice with {} parts", count);
  const size_t each = items.size() / static_cast<size_t>(count), longer = items.size() % static_cast<size_t>(count);
  List slices;
  for (size_t i = 0, at = 0; i < static_cast<size_t>(count); ++i) {
    const size_t size = each + (i < longer ? 1 : 0);
    List slice(items.begin() + static_cast<ptrdiff_t>(at), items.begin() + static_cast<ptrdiff_t>(at + size));
    at += size;
    if (!fill.Is(Kind::kNone) && i >= longer) slice.push_back(fill);
    slices.push_back(Listed(std::move(slice), budget));
  }
  return Generated(std::move(slices), budget);
}

Value Grouped(const Value& value, CallArguments* arguments, Budget* budget) {
  const Value path = arguments->Need("attribute");
  const Value absent = arguments->Take("default", None());
  const bool keeps = arguments->TakeFlag("case_sensitive", false);
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& item : Items(value, budget)) {
    keyed.emplace_back(WithoutCase(Attribute(item, &path, absent, budget), keeps, budget), item);
  }
  SortBy(&keyed, false, budget);
  List groups;
  for (size_t i = 0; i < keyed.size();) {
    List group;
    const Value& key = keyed[i].first;
    const Value shown = keeps ? key : Attribute(keyed[i].second, &path, absent, budget);
    for (; i < keyed.size() && Equal(keyed[i].first, key, budget); ++i) group.push_back(keyed[i].second);
    groups.push_back(Sequence({shown, Listed(std::move(group), budget)}, Kind::kTuple, budget));
    groups.back().group = true;
  }
  return Listed(std::move(groups), budget);
}

Value Truncated(const Value& value, CallArguments* arguments, Budget* budget) {
  const int64_t length = arguments->TakeWhole("length", 255);
  const bool kills = arguments->TakeFlag("killwords", false);
  const std::string* const given = arguments->TakeText("end");
  const std::string end = given == nullptr ? "..." : *given;
  const int64_t leeway = arguments->TakeWhole("leeway", 5), ends = static_cast<int64_t>(CountCharacters(end));
  if (length < ends || leeway < 0) Refuse("truncates to {} characters with an end of {}", length, ends);
  const std::string text = TextOf(value, "the value of truncate");
  const std::vector<std::string_view> characters = Characters(text);
  if (static_cast<int64_t>(characters.size()) - leeway <= length) return Made(text, budget);
  std::string cut;
  for (int64_t i = 0; i < length - ends; ++i) cut += characters[static_cast<size_t>(i)];
  if (!kills) cut.resize(std::min(cut.size(), cut.rfind(' ')));
  return Made(cut + end, budget);
}

Value Default(const Value& value, CallArguments* arguments, Budget* budget) {
  const Value absent = arguments->Take("default_value", String("", budget));
  const bool also_false = arguments->TakeFlag("boolean", false);
  return value.Is(Kind::kUndefined) || (also_false && !IsTrue(value)) ? absent : value;
}

Value ItemsOf(const Value& value, Budget* budget) {
  if (value.Is(Kind::kUndefined)) return Generated({}, budget);
  if (!value.Is(Kind::kDict)) Refuse("asks for the items of {}", NameOf(value));
  List list;
  for (const Pair& pair : value.dict()) list.push_back(Sequence({pair.key, pair.value}, Kind::kTuple, budget));
  return Generated(std::move(list), budget);
}

Value Reversed(const Value& value, Budget* budget) {
  List list = Items(value, budget);
  std::reverse(list.begin(), list.end());
  if (value.Is(Kind::kIterator) && value.iterator().view.empty()) return Listed(std::move(list), budget);
  if (!value.Is(Kind::kString)) return Generated(std::move(list), budget);
  std::string text;
  for (const Value& character : list) text += character.text();
  return Made(std::move(text), budget);
}

Value Markup(std::string text, Budget* budget) {
  Value value = Made(std::move(text), budget);
  value.markup = true;
  return value;
}

// As the filter, which is not str.title(): a capital after white space and - ( { [ <.
std::string Titled(std::string_view text) {
  std::string out;
  bool begins = true;
  for (const std::string_view c : Characters(text)) {
    out += begins ? Upper(c) : Lower(c);
    begins = IsSpace(CodeOf(c)) || (c.size() == 1 && std::string_view("-({[<").find(c[0]) != std::string_view::npos);
  }
  return out;
}

int64_t CountWords(std::string_view text) {
  int64_t count = 0;
  bool inside = false;
  for (const std::string_view c : Characters(text)) {
    const uint32_t code = CodeOf(c);
    const bool word = IsLetter(code) || code == '_' || (code >= '0' && code <= '9');
    if (word && !inside) ++count;
    inside = word;
  }
  return count;
}

struct Named {
  const char* name;
  Filter filter;
};
using A = CallArguments*;
constexpr Named kFilters[] = {
    {"abs",
     [](const Value& v, A, Budget*) {
       if (!v.IsNumber() || v.number == INT64_MIN) Refuse("takes the absolute value of {}", NameOf(v));
       return v.Is(Kind::kFloat) ? Float(fabs(v.real)) : Int(v.number < 0 ? -v.number : v.number);
     }},
    {"attr", [](const Value& v, A a, Budget* b) { return AttributeOf(v, a->NeedText("name"), b); }},
    {"batch", Batched},
    {"capitalize", [](const Value& v, A, Budget* b) { return Made(Capitalized(Printed(v, b)), b); }},
    {"center",
     [](const Value& v, A a, Budget* b) {
       CallArguments width("filter center", {Int(a->TakeWhole("width", 80))}, {});
       return CallMethod(Method{Made(Printed(v, b), b), "center"}, std::move(width), b);
     }},
    {"count", [](const Value& v, A, Budget* b) { return LengthOf(v, b); }},
    {"d", Default},
    {"default", Default},
    {"dictsort", SortedDict},
    {"e", [](const Value& v, A, Budget* b) { return v.markup ? v : Markup(Escaped(Printed(v, b)), b); }},
    {"escape", [](const Value& v, A, Budget* b) { return v.markup ? v : Markup(Escaped(Printed(v, b)), b); }},
    {"first",
     [](const Value& v, A, Budget* b) {
       if (v.Is(Kind::kIterator) && v.iterator().view.empty()) {  // other iterators stay
         Iterator& left = v.iterator();
         return left.at < left.items.size() ? left.items[left.at++] : Undefined("item");
       }
       const List items = Items(v, b);
       return items.empty() ? Undefined("item") : items[0];
     }},
    {"float", ToReal},
    {"forceescape", [](const Value& v, A, Budget* b) { return Markup(Escaped(Printed(v, b)), b); }},
    {"format",
     [](const Value& v, A a, Budget* b) { return Made(PercentFormatted(Printed(v, b), a->RestOfPositional(), b), b); }},
    {"groupby", Grouped},
    {"indent", Indented},
    {"int", ToWhole},
    {"items", [](const Value& v, A, Budget* b) { return ItemsOf(v, b); }},
    {"join", Joined},
    {"last",
     [](const Value& v, A, Budget* b) {
       if (v.Is(Kind::kIterator) && v.iterator().view.empty()) Refuse("takes the last item of {}", NameOf(v));
       const List items = Items(v, b);
       return items.empty() ? Undefined("item") : items.back();
     }},
    {"length", [](const Value& v, A, Budget* b) { return LengthOf(v, b); }},
    {"list", [](const Value& v, A, Budget* b) { return Listed(Items(v, b), b); }},
    {"lower", [](const Value& v, A, Budget* b) { return Made(Lower(Printed(v, b)), b); }},
    {"map", Mapped},
    {"max", [](const Value& v, A a, Budget* b) { return Extreme(v, true, a, b); }},
    {"min", [](const Value& v, A a, Budget* b) { return Extreme(v, false, a, b); }},
    {"reject", [](const Value& v, A a, Budget* b) { return Selected(v, false, false, a, b); }},
    {"rejectattr", [](const Value& v, A a, Budget* b) { return Selected(v, false, true, a, b); }},
    {"replace",
     [](const Value& v, A a, Budget* b) {
       const std::string old = Printed(a->Need("old"), b), with = Printed(a->Need("new"), b);
       const std::string text = Printed(v, b);
       if (old.empty()) b->SpendCharacters(text.size());
       return Made(Replaced(text, old, with, a->TakeWhole("count", -1)), b);
     }},
    {"reverse", [](const Value& v, A, Budget* b) { return Reversed(v, b); }},
    {"round", Rounded},
    {"safe", [](const Value& v, A, Budget* b) { return v.markup ? v : Markup(Printed(v, b), b); }},
    {"select", [](const Value& v, A a, Budget* b) { return Selected(v, true, false, a, b); }},
    {"selectattr", [](const Value& v, A a, Budget* b) { return Selected(v, true, true, a, b); }},
    {"slice", Sliced},
    {"sort", Sorted},
    {"string", [](const Value& v, A, Budget* b) { return v.Is(Kind::kString) ? v : Made(Printed(v, b), b); }},
    {"sum", Sum},
    {"title", [](const Value& v, A, Budget* b) { return Made(Titled(Printed(v, b)), b); }},
    {"tojson", ToJson},
    {"trim", [](const Value& v, A a,
                Budget* b) { return Made(std::string(Strip(Printed(v, b), a->TakeText("chars"), true, true)), b); }},
    {"truncate", Truncated},
    {"unique", Unique},
    {"upper", [](const Value& v, A, Budget* b) { return Made(Upper(Printed(v, b)), b); }},
    {"wordcount", [](const Value& v, A, Budget* b) { return Int(CountWords(Printed(v, b))); }},
};

const Named* FindFilter(const std::string& name) {
  for (const Named& filter : kFilters) {
    if (name == filter.name) return &filter;
  }
  return nullptr;
}

}  // namespace

bool IsFilter(const std::string& name) { return FindFilter(name) != nullptr; }

Value ApplyFilter(const std::string& name, const Value& value, CallArguments arguments, Budget* budget) {
  const Named* const filter = FindFilter(name);
  if (filter == nullptr) Refuse("uses the filter '{}'", name);
  if (value.Is(Kind::kString)) {
    budget->SpendBytes(value.text().size());
    for (const char* each : {"capitalize", "lower", "title", "truncate", "upper", "wordcount"}) {
      if (name == each) budget->SpendCharacters(value.text().size());
    }
  }
  Value result = filter->filter(value, &arguments, budget);
  arguments.End();
  return result;
}

}  // namespace fovea::tools::jinja
