// Methods of strings, dicts and lists in chat templates.
#include <algorithm>
#include <array>

#include "tools/text/template_builtins.h"
#include "tools/text/template_text.h"

namespace fovea::tools::jinja {
namespace {

using Name = const char*;
constexpr Name kOfStrings[] = {
    "strip",   "lstrip",     "rstrip",       "split",        "rsplit",    "splitlines", "startswith", "endswith",
    "upper",   "lower",      "title",        "replace",      "find",      "rfind",      "join",       "count",
    "format",  "capitalize", "removeprefix", "removesuffix", "index",     "isdigit",    "isalpha",    "isspace",
    "isupper", "islower",    "partition",    "rpartition",   "casefold",  "encode",     "center",     "ljust",
    "rjust",   "zfill",      "isalnum",      "isdecimal",    "isnumeric", "isascii",    "rindex",     "swapcase"};
// Those that look at each character.
constexpr Name kOfCharacters[] = {"upper",   "lower",   "title",   "capitalize", "casefold", "swapcase",  "isdigit",
                                  "isalpha", "isspace", "isupper", "islower",    "isalnum",  "isdecimal", "isnumeric"};
constexpr Name kOfDicts[] = {"items", "keys", "values", "get", "copy"};
constexpr Name kOfLists[] = {"count", "index"};
// Methods that change a value, which Jinja's sandbox of transformers refuses as well.
constexpr Name kChangeDicts[] = {"clear", "pop", "popitem", "setdefault", "update"};
constexpr Name kChangeLists[] = {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"};

template <typename Names>
bool Has(const Names& names, const std::string& name) {
  return std::any_of(std::begin(names), std::end(names), [&](Name known) { return name == known; });
}

Value ListOf(const std::vector<std::string>& parts, Budget* budget) {
  List list;
  for (const std::string& part : parts) list.push_back(String(part, budget));
  return Sequence(std::move(list), Kind::kList, budget);
}

// A part of a text by its first and last character, as startswith(prefix, start, end) has it.
std::string_view Part(const std::string& text, CallArguments* arguments, size_t* skipped) {
  const int64_t count = static_cast<int64_t>(CountCharacters(text));
  const auto bound = [&](const char* name, int64_t absent) {
    int64_t at = arguments->TakeWhole(name, absent);
    if (at < 0) at = std::max<int64_t>(at, -count) + count;
    return std::min(at, count);
  };
  const int64_t first = bound("start", 0), last = bound("end", count);
  *skipped = static_cast<size_t>(first);
  if (first == 0 && last == count) return text;
  const auto offset = [&](int64_t at) { return OffsetOf(text, static_cast<size_t>(at)); };
  if (last <= first) return {};
  return std::string_view(text).substr(offset(first), offset(last) - offset(first));
}

bool Begins(std::string_view text, std::string_view affix, bool at_end) {
  if (affix.size() > text.size()) return false;
  return text.substr(at_end ? text.size() - affix.size() : 0, affix.size()) == affix;
}

Value BeginsWith(const std::string& text, bool at_end, CallArguments* arguments) {
  const Value affix = arguments->Need("prefix");
  size_t skipped = 0;
  const std::string_view part = Part(text, arguments, &skipped);
  if (!affix.Is(Kind::kTuple)) return Bool(Begins(part, TextOf(affix, "a prefix"), at_end));
  const List& all = affix.list();
  return Bool(std::any_of(all.begin(), all.end(),
                          [&](const Value& one) { return Begins(part, TextOf(one, "a prefix"), at_end); }));
}

Value Found(const std::string& text, const std::string& name, CallArguments* arguments) {
  const std::string wanted = arguments->NeedText("sub");
  size_t skipped = 0;
  const std::string_view part = Part(text, arguments, &skipped);
  const size_t at = name[0] == 'r' ? FindLastPart(part, wanted) : FindPart(part, wanted);
  if (at == std::string_view::npos) {
    if (name == "index" || name == "rindex") Refuse("looks for '{}', which is not in the string", wanted);
    return Int(-1);
  }
  return Int(static_cast<int64_t>(skipped + CountCharacters(part.substr(0, at))));
}

Value Counted(const std::string& text, CallArguments* arguments) {
  const std::string wanted = arguments->NeedText("sub");
  size_t skipped = 0;
  const std::string_view part = Part(text, arguments, &skipped);
  if (wanted.empty()) return Int(static_cast<int64_t>(CountCharacters(part) + 1));
  int64_t count = 0;
  for (size_t at = 0; (at = FindPart(part, wanted, at)) != std::string_view::npos; at += wanted.size()) ++count;
  return Int(count);
}

// The largest number of parts that split() and splitlines() make.
uint64_t CountSeparators(std::string_view text, const std::string* separator) {
  if (separator != nullptr && separator->size() > 1) return text.size() / separator->size();
  if (separator != nullptr && separator->size() == 1) {
    return static_cast<uint64_t>(std::count(text.begin(), text.end(), (*separator)[0]));
  }
  const auto ends = [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0xc2;
  };
  return static_cast<uint64_t>(std::count_if(text.begin(), text.end(), ends));
}

// `side`: 'l' for ljust, 'r' for rjust, 'c' for center.
std::string Padded(const std::string& text, int64_t width, const Value& fill, char side) {
  const std::string& with = TextOf(fill, "fillchar");
  const auto size = static_cast<int64_t>(CountCharacters(text));
  if (CountCharacters(with) != 1) Refuse("fills with '{}', which is not one character", with);
  if (width > static_cast<int64_t>(kMostBytes / with.size()))
    Refuse("makes a string of more than {} bytes", kMostBytes);
  const int64_t missing = std::max<int64_t>(width - size, 0);
  const int64_t left = side == 'l' ? 0 : side == 'r' ? missing : missing / 2 + (missing & width & 1);
  std::string out;
  for (int64_t i = 0; i < left; ++i) out += with;
  out += text;
  for (int64_t i = left; i < missing; ++i) out += with;
  return out;
}

Value Partitioned(const std::string& text, bool from_right, CallArguments* arguments, Budget* budget) {
  const std::string separator = arguments->NeedText("sep");
  if (separator.empty()) Refuse("splits at an empty string");
  const size_t at = from_right ? FindLastPart(text, separator) : FindPart(text, separator);
  const auto string = [&](std::string part) { return String(std::move(part), budget); };
  if (at == std::string::npos) {
    return Sequence(
        from_right ? List{string(""), string(""), string(text)} : List{string(text), string(""), string("")},
        Kind::kTuple, budget);
  }
  return Sequence({string(text.substr(0, at)), string(separator), string(text.substr(at + separator.size()))},
                  Kind::kTuple, budget);
}

// "{}", "{0}" and "{name}", without conversions.
std::string Formatted(const std::string& format, CallArguments* arguments, Budget* budget) {
  const List values = arguments->RestOfPositional();
  const auto named = arguments->RestOfNamed();
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    if ((c == '{' || c == '}') && format.compare(i + 1, 1, std::string(1, c)) == 0) {
      out += format[++i];
      continue;
    }
    if (c != '{') {
      out += c;
      continue;
    }
    const size_t end = format.find('}', i);
    if (end == std::string::npos) Refuse("has a format without '}}'");
    const std::string field = format.substr(i + 1, end - i - 1);
    i = end;
    const Value* value = nullptr;
    if (field.empty()) {
      if (next < values.size()) value = &values[next++];
    } else if (field.size() < 4 && field.find_first_not_of("0123456789") == std::string::npos) {
      const auto at = static_cast<size_t>(std::stoi(field));
      if (at < values.size()) value = &values[at];
    } else {
      for (const auto& [name, given] : named) {
        if (name == field) value = &given;
      }
    }
    if (value == nullptr) Refuse("formats the field '{{{}}}'", field);
    out += Printed(*value, budget);
    if (out.size() > kMostBytes) Refuse("makes a string of more than {} bytes", kMostBytes);
  }
  return out;
}

Value Tested(const std::string& text, const std::string& name) {
  const std::vector<std::string_view> characters = Characters(text);
  if (name == "isupper") return Bool(Upper(text) == text && Lower(text) != text);
  if (name == "islower") return Bool(Lower(text) == text && Upper(text) != text);
  return Bool(!text.empty() && std::all_of(characters.begin(), characters.end(), [&](std::string_view character) {
    const uint32_t code = CodeOf(character);
    if (name == "isspace") return IsSpace(code);
    if (name == "isalpha") return IsLetter(code);
    return IsNumeral(code, name == "isdigit" || name == "isdecimal") || (name == "isalnum" && IsLetter(code));
  }));
}

Value Joined(const std::string& separator, const Value& parts, Budget* budget) {
  std::string text;
  bool first = true;
  for (const Value& part : Items(parts, budget)) {
    if (!first) text += separator;
    first = false;
    text += TextOf(part, "a part of join");
    if (text.size() > kMostBytes) Refuse("makes a string of more than {} bytes", kMostBytes);
  }
  return String(std::move(text), budget);
}

Value OfString(const Value& self, const std::string& name, CallArguments* arguments, Budget* budget) {
  const std::string& text = self.text();
  const auto string = [&](std::string_view made) { return String(std::string(made), budget); };
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    const std::string* const set = arguments->TakeText("chars");
    return string(Strip(text, set, name != "rstrip", name != "lstrip"));
  }
  if (name == "split" || name == "rsplit") {
    const std::string* const separator = arguments->TakeText("sep");
    budget->Spend(8 * CountSeparators(text, separator));
    return ListOf(Split(text, separator, arguments->TakeWhole("maxsplit", -1), name == "rsplit"), budget);
  }
  if (name == "splitlines") budget->Spend(8 * CountSeparators(text, nullptr));
  if (name == "splitlines") return ListOf(SplitLines(text, arguments->TakeFlag("keepends", false)), budget);
  if (name == "startswith" || name == "endswith") return BeginsWith(text, name == "endswith", arguments);
  if (name == "upper") return string(Upper(text));
  if (name == "lower" || name == "casefold") return string(Lower(text));
  if (name == "title") return string(Title(text));
  if (name == "capitalize") return string(Capitalized(text));
  if (name == "replace") {
    const std::string old = arguments->NeedText("old"), with = arguments->NeedText("new");
    if (old.empty()) budget->SpendCharacters(text.size());
    return string(Replaced(text, old, with, arguments->TakeWhole("count", -1)));
  }
  if (name == "find" || name == "rfind" || name == "index" || name == "rindex") return Found(text, name, arguments);
  if (name == "count") return Counted(text, arguments);
  if (name == "join") return Joined(text, arguments->Need("iterable"), budget);
  if (name == "format") {
    Value made = string(Formatted(text, arguments, budget));
    *arguments = CallArguments(arguments->what(), {}, {});
    return made;
  }
  if (name == "removeprefix" || name == "removesuffix") {
    const bool at_end = name == "removesuffix";
    const std::string affix = arguments->NeedText("prefix");
    if (!Begins(text, affix, at_end)) return self;
    return string(std::string_view(text).substr(at_end ? 0 : affix.size(), text.size() - affix.size()));
  }
  if (name == "partition" || name == "rpartition") return Partitioned(text, name == "rpartition", arguments, budget);
  if (name == "center" || name == "ljust" || name == "rjust") {
    const int64_t width = WholeOf(arguments->Need("width"), "width");
    return string(Padded(text, width, arguments->Take("fillchar", String(" ", budget)), name[0]));
  }
  if (name == "zfill") {
    const int64_t width = WholeOf(arguments->Need("width"), "width");
    const bool sign = !text.empty() && (text[0] == '-' || text[0] == '+');
    const std::string digits = Padded(text.substr(sign ? 1 : 0), width - (sign ? 1 : 0), String("0", budget), 'r');
    return string((sign ? text.substr(0, 1) : "") + digits);
  }
  if (name == "swapcase") {
    std::string swapped;
    for (const std::string_view c : Characters(text)) swapped += Upper(c) == c ? Lower(c) : Upper(c);
    return string(swapped);
  }
  if (name == "isascii") {
    return Bool(std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  }
  if (name == "encode") Refuse("uses the method 'encode'");
  return Tested(text, name);
}

Value OfDict(const Value& self, const std::string& name, CallArguments* arguments, Budget* budget) {
  if (name == "copy") return self;
  if (name == "get") {
    const Value key = arguments->Need("key");
    const Value absent = arguments->Take("default", None());
    const Value* const found = Find(self.dict(), key, budget);
    return found == nullptr ? absent : *found;
  }
  List list;
  for (const Pair& pair : self.dict()) {
    list.push_back(name == "items"  ? Sequence({pair.key, pair.value}, Kind::kTuple, budget)
                   : name == "keys" ? pair.key
                                    : pair.value);
  }
  return IteratorOf(std::move(list), "dict_" + name, budget);
}

Value OfList(const Value& self, const std::string& name, CallArguments* arguments, Budget* budget) {
  const Value wanted = arguments->Need("value");
  const List& list = self.list();
  const auto same = [&](const Value& item) { return Equal(item, wanted, budget); };
  if (name == "count") return Int(std::count_if(list.begin(), list.end(), same));
  const auto found = std::find_if(list.begin(), list.end(), same);
  if (found == list.end()) Refuse("looks for a value that is not in the list");
  return Int(found - list.begin());
}

}  // namespace

bool IsMethod(const std::string& name) {
  return name == "cycle" || name == "changed" || (name != "encode" && Has(kOfStrings, name)) || Has(kOfDicts, name) ||
         Has(kOfLists, name);
}

bool HasMethod(const Value& value, const std::string& name) {
  switch (value.kind) {
    case Kind::kString:
      return Has(kOfStrings, name);
    case Kind::kDict:
      return Has(kOfDicts, name) || Has(kChangeDicts, name);
    case Kind::kList:
      return Has(kOfLists, name) || Has(kChangeLists, name);
    case Kind::kTuple:
      return Has(kOfLists, name);
    default:
      return false;
  }
}

Value CallMethod(const Method& method, CallArguments arguments, Budget* budget) {
  budget->Spend();
  const Value& self = method.self;
  if ((self.Is(Kind::kDict) && Has(kChangeDicts, method.name)) ||
      (self.Is(Kind::kList) && Has(kChangeLists, method.name))) {
    Refuse("uses the method '{}', which the original library refuses in templates as well", method.name);
  }
  if (self.Is(Kind::kLoop)) {
    const List values = arguments.RestOfPositional();
    if (method.name == "changed") {
      std::vector<List>& last = self.loop().changed;
      const auto same = [&](const Value& a, const Value& b) { return Equal(a, b, budget); };
      const bool is_same = !last.empty() && last[0].size() == values.size() &&
                           std::equal(values.begin(), values.end(), last[0].begin(), same);
      if (std::any_of(values.begin(), values.end(), [](const Value& value) { return value.refers; })) {
        Refuse("calls loop.changed with a namespace, macro or loop");
      }
      last = {values};
      return Bool(!is_same);
    }
    if (values.empty()) Refuse("calls loop.cycle without values");
    return values[self.loop().at % values.size()];
  }
  if (self.Is(Kind::kString)) {
    budget->SpendBytes(self.text().size());
    if (Has(kOfCharacters, method.name)) budget->SpendCharacters(self.text().size());
  }
  Value result = self.Is(Kind::kString) ? OfString(self, method.name, &arguments, budget)
                 : self.Is(Kind::kDict) ? OfDict(self, method.name, &arguments, budget)
                                        : OfList(self, method.name, &arguments, budget);
  arguments.End();
  return result;
}

std::string PercentFormatted(const std::string& format, const List& values, Budget* budget) {
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    const char kind = ++i < format.size() ? format[i] : 0;
    if (kind == '%') {
      out += '%';
      continue;
    }
    if (next >= values.size()) Refuse("formats more values than it has");
    const Value& value = values[next++];
    if (kind == 's') {
      out += Printed(value, budget);
    } else if (kind == 'r') {
      out += Represented(value, budget);
    } else if ((kind == 'd' || kind == 'i') && value.IsNumber()) {
      out += std::to_string(value.IsWhole() ? value.number : WholeOf(value, "a value of %d"));
    } else {
      Refuse("formats '%{}'", kind == 0 ? ' ' : kind);
    }
    if (out.size() > kMostBytes) Refuse("makes a string of more than {} bytes", kMostBytes);
  }
  if (next != values.size() && !(values.size() == 1 && (values[0].Is(Kind::kDict) || values[0].Is(Kind::kList)))) {
    Refuse("formats fewer values than it has");
  }
  return out;
}

}  // namespace fovea::tools::jinja
