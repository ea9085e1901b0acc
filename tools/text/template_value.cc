#include "tools/text/template_value.h"

#include <algorithm>
#include <cmath>

#include "tools/text/template_text.h"

namespace fovea::tools::jinja {
namespace {

uint8_t DepthAbove(unsigned inner) {
  if (inner >= kMostNested) Refuse("nests lists more than {} deep", kMostNested);
  return static_cast<uint8_t>(inner + 1);
}

}  // namespace

Value Undefined(std::string_view name) {
  Value value;
  value.held = std::make_shared<const std::string>(name);
  return value;
}

Value None() {
  Value value;
  value.kind = Kind::kNone;
  return value;
}

Value Bool(bool of) {
  Value value;
  value.kind = Kind::kBool;
  value.number = of ? 1 : 0;
  return value;
}

Value Int(int64_t of) {
  Value value;
  value.kind = Kind::kInt;
  value.number = of;
  return value;
}

Value Float(double of) {
  Value value;
  value.kind = Kind::kFloat;
  value.real = of;
  return value;
}

Value String(std::string text, Budget* budget) {
  budget->Spend(4 + text.size() / 16);
  if (text.size() > kMostBytes) Refuse("makes a string of more than {} bytes", kMostBytes);
  Value value;
  value.kind = Kind::kString;
  value.held = std::make_shared<const std::string>(std::move(text));
  return value;
}

Value Sequence(List items, Kind kind, Budget* budget) {
  budget->Spend(1 + 4 * items.size());
  Value value;
  value.kind = kind;
  unsigned depth = 0;
  for (const Value& item : items) {
    depth = std::max<unsigned>(depth, item.depth);
    value.refers = value.refers || item.refers;
  }
  value.depth = DepthAbove(depth);
  value.held = std::make_shared<const List>(std::move(items));
  return value;
}

Value Mapping(Dict pairs, Budget* budget) {
  budget->Spend(1 + 8 * pairs.size());
  Value value;
  value.kind = Kind::kDict;
  unsigned depth = 0;
  for (const Pair& pair : pairs) {
    depth = std::max<unsigned>({depth, pair.value.depth, pair.key.depth});
    value.refers = value.refers || pair.value.refers;
  }
  value.depth = DepthAbove(depth);
  value.held = std::make_shared<const Dict>(std::move(pairs));
  return value;
}

Value IteratorOf(List items, std::string_view view, Budget* budget) {
  Value value = Sequence(items, Kind::kIterator, budget);
  value.held = std::make_shared<Iterator>(Iterator{std::move(items), std::string(view)});
  return value;
}

Value Namespace(Dict pairs) {
  for (const Pair& pair : pairs) {
    if (pair.value.refers) Refuse("stores a namespace, macro or loop in a namespace");
  }
  Value value;
  value.kind = Kind::kNamespace;
  value.refers = true;
  value.held = std::make_shared<Dict>(std::move(pairs));
  return value;
}

Value MethodOf(const Value& self, std::string_view name) {
  Value value;
  value.kind = Kind::kMethod;
  value.refers = true;
  value.depth = DepthAbove(self.depth);
  value.held = std::make_shared<const Method>(Method{self, std::string(name)});
  return value;
}

Value Function(std::string_view name) {
  Value value;
  value.kind = Kind::kFunction;
  value.held = std::make_shared<const std::string>(name);
  return value;
}

const char* NameOf(const Value& value) {
  switch (value.kind) {
    case Kind::kUndefined:
      return "an undefined value";
    case Kind::kNone:
      return "none";
    case Kind::kBool:
      return "a bool";
    case Kind::kInt:
      return "an int";
    case Kind::kFloat:
      return "a float";
    case Kind::kString:
      return "a string";
    case Kind::kList:
      return "a list";
    case Kind::kTuple:
      return "a tuple";
    case Kind::kDict:
      return "a dict";
    case Kind::kNamespace:
      return "a namespace";
    case Kind::kLoop:
      return "a loop";
    case Kind::kMacro:
      return "a macro";
    case Kind::kMethod:
      return "a method";
    case Kind::kFunction:
      return "a function";
    case Kind::kIterator:
      return value.iterator().view.empty() ? "a generator" : "a view of a dict";
  }
  return "";
}

bool IsTrue(const Value& value) {
  switch (value.kind) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInt:
      return value.number != 0;
    case Kind::kFloat:
      return value.real != 0;
    case Kind::kString:
      return !value.text().empty();
    case Kind::kList:
    case Kind::kTuple:
      return !value.list().empty();
    case Kind::kDict:
      return !value.dict().empty();
    case Kind::kIterator:
      return value.iterator().view.empty() || !value.iterator().items.empty();
    default:
      return true;
  }
}

bool Equal(const Value& a, const Value& b, Budget* budget) {
  budget->Spend();
  if (a.IsNumber() && b.IsNumber()) {
    return a.IsWhole() && b.IsWhole() ? a.number == b.number : a.AsReal() == b.AsReal();
  }
  if (a.kind != b.kind) return false;
  const auto same = [&](const Value& x, const Value& y) { return Equal(x, y, budget); };
  switch (a.kind) {
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    case Kind::kString:
      budget->SpendBytes(std::min(a.text().size(), b.text().size()));
      return a.text() == b.text();
    case Kind::kList:
    case Kind::kTuple:
      return a.list().size() == b.list().size() && std::equal(a.list().begin(), a.list().end(), b.list().begin(), same);
    case Kind::kDict: {
      if (a.dict().size() != b.dict().size()) return false;
      return std::all_of(a.dict().begin(), a.dict().end(), [&](const Pair& pair) {
        const Value* const other = Find(b.dict(), pair.key, budget);
        return other != nullptr && Equal(pair.value, *other, budget);
      });
    }
    case Kind::kIterator: {
      const Iterator &x = a.iterator(), &y = b.iterator();
      if (x.view.empty() || y.view.empty()) return a.held == b.held;
      return x.items.size() == y.items.size() && std::equal(x.items.begin(), x.items.end(), y.items.begin(), same);
    }
    case Kind::kFunction:
      return a.text() == b.text();
    default:
      return a.held == b.held;
  }
}

bool Less(const Value& a, const Value& b, Budget* budget) {
  budget->Spend();
  if (a.IsNumber() && b.IsNumber()) {
    return a.IsWhole() && b.IsWhole() ? a.number < b.number : a.AsReal() < b.AsReal();
  }
  if (a.Is(Kind::kString) && b.Is(Kind::kString)) {
    budget->SpendBytes(std::min(a.text().size(), b.text().size()));
    return a.text() < b.text();  // the order of UTF-8's bytes is that of characters
  }
  if (a.IsList() && a.kind == b.kind) {
    const List &x = a.list(), &y = b.list();
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      if (!Equal(x[i], y[i], budget)) return Less(x[i], y[i], budget);
    }
    return x.size() < y.size();
  }
  Refuse("compares the order of {} and {}", NameOf(a), NameOf(b));
}

const Value* Find(const Dict& dict, const Value& key, Budget* budget) {
  for (const Pair& pair : dict) {
    if (Equal(pair.key, key, budget)) return &pair.value;
  }
  return nullptr;
}

const Value* Find(const Dict& dict, std::string_view key) {
  for (const Pair& pair : dict) {
    if (pair.key.Is(Kind::kString) && pair.key.text() == key) return &pair.value;
  }
  return nullptr;
}

void Put(Dict* dict, const Value& key, const Value& value, Budget* budget) {
  if (key.Is(Kind::kList) || key.Is(Kind::kDict) || key.refers) Refuse("has {} as the key of a dict", NameOf(key));
  if (const Value* const there = Find(*dict, key, budget)) {
    *const_cast<Value*>(there) = value;
  } else {
    dict->push_back({key, value});
  }
}

List Items(const Value& value, Budget* budget) {
  switch (value.kind) {
    case Kind::kUndefined:
      return {};
    case Kind::kList:
    case Kind::kTuple:
      budget->Spend(4 * value.list().size());
      return value.list();
    case Kind::kString: {
      List characters;
      budget->Spend(8 * CountCharacters(value.text()));
      for (const std::string_view character : Characters(value.text())) {
        characters.push_back(String(std::string(character), budget));
      }
      return characters;
    }
    case Kind::kDict: {
      List keys;
      for (const Pair& pair : value.dict()) keys.push_back(pair.key);
      budget->Spend(4 * keys.size());
      return keys;
    }
    case Kind::kIterator: {
      List items = value.iterator().Take();
      budget->Spend(4 * items.size());
      return items;
    }
    default:
      Refuse("loops over {}", NameOf(value));
  }
}

int64_t WholeOf(const Value& value, const char* what) {
  if (!value.IsWhole()) Refuse("has {} as {}, which must be a whole number", NameOf(value), what);
  return value.number;
}

const std::string& TextOf(const Value& value, const char* what) {
  if (!value.Is(Kind::kString)) Refuse("has {} as {}, which must be a string", NameOf(value), what);
  return value.text();
}

}  // namespace fovea::tools::jinja
