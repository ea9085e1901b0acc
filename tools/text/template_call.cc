// Arguments and functions of chat templates; attributes and items of values.
#include <time.h>

#include <algorithm>

#include "tools/text/template_builtins.h"
#include "tools/text/template_text.h"
#include "tools/text/template_tree.h"

namespace fovea::tools::jinja {

const Value* CallArguments::Take(const char* name) {
  if (taken_ < positional_.size()) return &positional_[taken_++];
  for (auto& [key, value] : named_) {
    if (key != name) continue;
    key.clear();  // taken
    return &value;
  }
  return nullptr;
}

Value CallArguments::Take(const char* name, const Value& absent) {
  const Value* const value = Take(name);
  return value == nullptr ? absent : *value;
}

int64_t CallArguments::TakeWhole(const char* name, int64_t absent) {
  const Value* const value = Take(name);
  return value == nullptr || value->Is(Kind::kNone) ? absent : WholeOf(*value, name);
}

bool CallArguments::TakeFlag(const char* name, bool absent) {
  const Value* const value = Take(name);
  return value == nullptr ? absent : IsTrue(*value);
}

const std::string* CallArguments::TakeText(const char* name) {
  const Value* const value = Take(name);
  return value == nullptr || value->Is(Kind::kNone) ? nullptr : &TextOf(*value, name);
}

const Value& CallArguments::Need(const char* name) {
  const Value* const value = Take(name);
  if (value == nullptr) Refuse("calls {} without {}", what_, name);
  return *value;
}

const std::string& CallArguments::NeedText(const char* name) { return TextOf(Need(name), name); }

List CallArguments::RestOfPositional() {
  List rest(positional_.begin() + static_cast<ptrdiff_t>(taken_), positional_.end());
  taken_ = positional_.size();
  return rest;
}

std::vector<std::pair<std::string, Value>> CallArguments::RestOfNamed() {
  std::vector<std::pair<std::string, Value>> rest;
  for (const auto& entry : named_) {
    if (!entry.first.empty()) rest.push_back(entry);
  }
  return rest;
}

CallArguments CallArguments::Rest(std::string what) const {
  CallArguments copy = *this;
  List positional = copy.RestOfPositional();
  return {std::move(what), std::move(positional), copy.RestOfNamed()};
}

void CallArguments::End() const {
  if (taken_ < positional_.size()) Refuse("calls {} with {} arguments too many", what_, positional_.size() - taken_);
  for (const auto& entry : named_) {
    if (!entry.first.empty()) Refuse("calls {} with the argument '{}'", what_, entry.first);
  }
}

bool IsFunction(const std::string& name) {
  for (const char* known : {"range", "dict", "namespace", "raise_exception", "strftime_now"}) {
    if (name == known) return true;
  }
  return false;
}

namespace {

Value RangeOf(CallArguments arguments, Budget* budget) {
  const int64_t first = WholeOf(arguments.Need("start"), "start");
  const Value* const end = arguments.Take("stop");
  const int64_t step = arguments.TakeWhole("step", 1);
  arguments.End();
  const int64_t from = end == nullptr ? 0 : first, to = end == nullptr ? first : WholeOf(*end, "stop");
  if (step == 0) Refuse("calls range with step 0");
  List items;
  constexpr size_t kMostItems = 100000;  // as in Jinja's sandbox
  for (int64_t i = from; step > 0 ? i < to : i > to;) {
    if (items.size() == kMostItems) Refuse("calls range for more than {} numbers", kMostItems);
    items.push_back(Int(i));
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return Sequence(std::move(items), Kind::kList, budget);
}

Dict NamedPairs(CallArguments* arguments, Budget* budget) {
  Dict pairs;
  const List positional = arguments->RestOfPositional();
  if (positional.size() > 1) Refuse("calls {} with {} arguments", arguments->what(), positional.size());
  if (!positional.empty()) {
    if (positional[0].Is(Kind::kDict)) {
      pairs = positional[0].dict();
    } else {
      for (const Value& item : Items(positional[0], budget)) {
        const List pair = Items(item, budget);
        if (pair.size() != 2) Refuse("calls {} with a list of other things than pairs", arguments->what());
        Put(&pairs, pair[0], pair[1], budget);
      }
    }
  }
  for (const auto& [name, value] : arguments->RestOfNamed()) Put(&pairs, String(name, budget), value, budget);
  return pairs;
}

Value LoopAttribute(const Loop& loop, const Value& self, const std::string& name) {
  const auto at = static_cast<int64_t>(loop.at), count = static_cast<int64_t>(loop.items.size());
  if (name == "index") return Int(at + 1);
  if (name == "index0") return Int(at);
  if (name == "revindex") return Int(count - at);
  if (name == "revindex0") return Int(count - at - 1);
  if (name == "first") return Bool(at == 0);
  if (name == "last") return Bool(at + 1 == count);
  if (name == "length") return Int(count);
  if (name == "depth") return Int(1);
  if (name == "depth0") return Int(0);
  if (name == "previtem") return at == 0 ? Undefined(name) : loop.items[loop.at - 1];
  if (name == "nextitem") return at + 1 >= count ? Undefined(name) : loop.items[loop.at + 1];
  if (name == "cycle" || name == "changed") return MethodOf(self, name);
  Refuse("uses loop.{}", name);
}

}  // namespace

Value CallFunction(const std::string& name, CallArguments arguments, int64_t seconds, Budget* budget) {
  if (name == "range") return RangeOf(std::move(arguments), budget);
  if (name == "dict") return Mapping(NamedPairs(&arguments, budget), budget);
  if (name == "namespace") return Namespace(NamedPairs(&arguments, budget));
  if (name == "strftime_now") {
    const std::string format = arguments.NeedText("format");
    arguments.End();
    return String(FormattedTime(format, seconds), budget);
  }
  if (name != "raise_exception") Refuse("uses the function '{}'", name);
  Fail("the model's chat template refuses the chat: {}", Printed(arguments.Need("message"), budget));
}

std::string FormattedTime(const std::string& format, int64_t seconds) {
  const auto time = static_cast<time_t>(seconds);
  const struct tm* const parts = localtime(&time);
  if (parts == nullptr) Refuse("asks for a time that is out of range");
  constexpr size_t kMostFormat = 200;
  if (format.size() > kMostFormat) Refuse("has a format of the time with more than {} bytes", kMostFormat);
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out += format[i];
      continue;
    }
    // "%-d": without padding, which not every C library offers.
    const bool bare = format[i + 1] == '-' && i + 2 < format.size();
    i += bare ? 2 : 1;
    const char part[] = {'%', format[i], 0};
    if (format[i] == 'f') {  // microseconds
      out += "000000";
      continue;
    }
    if (std::string_view("aAbBcdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ%C").find(format[i]) == std::string_view::npos) {
      Refuse("asks strftime_now for %{}", format[i]);
    }
    if (format[i] == 'z' || format[i] == 'Z') continue;  // a time without zone, as datetime.now()
    char text[128];
    const char* begin = text;
    const char* const end = text + strftime(text, sizeof(text), part, parts);
    while (bare && begin + 1 < end && (*begin == '0' || *begin == ' ')) ++begin;
    out.append(begin, end);
  }
  return out;
}

Value AttributeOf(const Value& value, const std::string& name, Budget* budget) {
  switch (value.kind) {
    case Kind::kLoop:
      return LoopAttribute(value.loop(), value, name);
    case Kind::kNamespace: {
      const Value* const found = Find(value.names(), name);
      return found == nullptr ? Undefined(name) : *found;
    }
    case Kind::kDict: {
      if (HasMethod(value, name)) return MethodOf(value, name);
      budget->Spend(value.dict().size());
      const Value* const found = Find(value.dict(), name);
      return found == nullptr ? Undefined(name) : *found;
    }
    case Kind::kTuple:
      if (value.group && (name == "grouper" || name == "list")) return value.list()[name == "list" ? 1 : 0];
      [[fallthrough]];
    default:
      return HasMethod(value, name) ? MethodOf(value, name) : Undefined(name);
  }
}

Value ItemOf(const Value& value, const Value& key, Budget* budget) {
  if (value.Is(Kind::kDict)) {
    if (const Value* const found = Find(value.dict(), key, budget)) return *found;
  } else if (key.IsWhole() && (value.IsList() || value.Is(Kind::kString))) {
    const auto at = [&](size_t count) {
      const int64_t index = key.number < 0 ? key.number + static_cast<int64_t>(count) : key.number;
      return index < 0 || index >= static_cast<int64_t>(count) ? SIZE_MAX : static_cast<size_t>(index);
    };
    if (value.IsList()) {
      const size_t index = at(value.list().size());
      return index == SIZE_MAX ? Undefined("item") : value.list()[index];
    }
    budget->SpendBytes(value.text().size());
    const size_t index = at(CountCharacters(value.text()));
    if (index == SIZE_MAX) return Undefined("item");
    const size_t begin = OffsetOf(value.text(), index);
    return String(value.text().substr(begin, OffsetOf(std::string_view(value.text()).substr(begin), 1)), budget);
  }
  if (!key.Is(Kind::kString)) return Undefined("item");
  return value.Is(Kind::kDict) && !HasMethod(value, key.text()) ? Undefined(key.text())
                                                                : AttributeOf(value, key.text(), budget);
}

bool Contains(const Value& all, const Value& part, Budget* budget) {
  switch (all.kind) {
    case Kind::kString:
      budget->SpendBytes(all.text().size());
      if (!part.Is(Kind::kString)) Refuse("looks for {} in a string", NameOf(part));
      return FindPart(all.text(), part.text()) != std::string_view::npos;
    case Kind::kUndefined:
      return false;
    case Kind::kList:
    case Kind::kTuple: {
      const List& items = all.list();
      return std::any_of(items.begin(), items.end(), [&](const Value& item) { return Equal(item, part, budget); });
    }
    case Kind::kDict:
      if (part.Is(Kind::kList) || part.Is(Kind::kDict)) Refuse("looks for {} in a dict", NameOf(part));
      return Find(all.dict(), part, budget) != nullptr;
    case Kind::kIterator: {
      Iterator& iterator = all.iterator();
      const bool view = !iterator.view.empty();
      for (size_t i = iterator.at; i < iterator.items.size(); ++i) {
        if (!view) iterator.at = i + 1;
        if (Equal(iterator.items[i], part, budget)) return true;
      }
      return false;
    }
    default:
      Refuse("looks for something in {}", NameOf(all));
  }
}

Value LengthOf(const Value& value, Budget* budget) {
  switch (value.kind) {
    case Kind::kUndefined:
      return Int(0);
    case Kind::kString:
      budget->SpendBytes(value.text().size());
      return Int(static_cast<int64_t>(CountCharacters(value.text())));
    case Kind::kList:
    case Kind::kTuple:
      return Int(static_cast<int64_t>(value.list().size()));
    case Kind::kDict:
      return Int(static_cast<int64_t>(value.dict().size()));
    case Kind::kLoop:
      return Int(static_cast<int64_t>(value.loop().items.size()));
    case Kind::kIterator:
      if (!value.iterator().view.empty()) return Int(static_cast<int64_t>(value.iterator().items.size()));
      [[fallthrough]];
    default:
      Refuse("asks for the length of {}", NameOf(value));
  }
}

}  // namespace fovea::tools::jinja
