// Values of a chat template as text: str(), repr() and JSON as Python writes them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/text/template_text.h"
#include "tools/text/template_value.h"

namespace fovea::tools::jinja {
namespace {

// A text that grows up to the longest that a rendering may make.
class Text {
 public:
  explicit Text(Budget* budget) : budget_(budget) {}
  void Add(std::string_view part) {
    budget_->SpendBytes(part.size());
    text_ += part;
    if (text_.size() > kMostBytes) Refuse("makes a string of more than {} bytes", kMostBytes);
  }
  std::string Take() { return std::move(text_); }
  Budget* budget() { return budget_; }

 private:
  Budget* const budget_;
  std::string text_;
};

// Quoted as by repr().
std::string Quoted(std::string_view text) {
  const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string out(1, quote);
  for (const std::string_view character : Characters(text)) {
    const uint32_t code = CodeOf(character);
    const auto c = static_cast<char>(code);
    if (code == static_cast<unsigned char>(quote) || code == '\\') {
      out += '\\';
      out += c;
    } else if (code == '\n' || code == '\r' || code == '\t') {
      out += code == '\n' ? "\\n" : code == '\r' ? "\\r" : "\\t";
    } else if (code < 0x20 || (code >= 0x7f && code <= 0xa0) || code == 0xad) {
      out += fmt::format("\\x{:02x}", code);
    } else if (code != ' ' && IsSpace(code)) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += character;
    }
  }
  return out + quote;
}

void Represent(const Value& value, Text* out);

void RepresentList(const List& list, const char* open, const char* close, Text* out) {
  out->Add(open);
  for (size_t i = 0; i < list.size(); ++i) {
    if (i != 0) out->Add(", ");
    Represent(list[i], out);
  }
  out->Add(close);
}

void Represent(const Value& value, Text* out) {
  switch (value.kind) {
    case Kind::kUndefined:
      return out->Add("Undefined");
    case Kind::kNone:
      return out->Add("None");
    case Kind::kBool:
      return out->Add(value.number != 0 ? "True" : "False");
    case Kind::kInt:
      return out->Add(std::to_string(value.number));
    case Kind::kFloat:
      return out->Add(Represented(value.real));
    case Kind::kString:
      out->budget()->Spend(value.text().size());
      return out->Add(Quoted(value.text()));
    case Kind::kList:
      return RepresentList(value.list(), "[", "]", out);
    case Kind::kTuple:
      return RepresentList(value.list(), "(", value.list().size() == 1 ? ",)" : ")", out);
    case Kind::kDict: {
      out->Add("{");
      for (size_t i = 0; i < value.dict().size(); ++i) {
        if (i != 0) out->Add(", ");
        Represent(value.dict()[i].key, out);
        out->Add(": ");
        Represent(value.dict()[i].value, out);
      }
      return out->Add("}");
    }
    case Kind::kNamespace: {
      Value names;
      names.kind = Kind::kDict;
      names.held = value.held;
      out->Add("<Namespace ");
      Represent(names, out);
      return out->Add(">");
    }
    case Kind::kIterator:
      if (value.iterator().view.empty()) Refuse("writes {}, which has no text (| list makes it a list)", NameOf(value));
      out->Add(value.iterator().view + "(");
      RepresentList(value.iterator().items, "[", "]", out);
      return out->Add(")");
    default:
      Refuse("writes {}", NameOf(value));
  }
}

std::string JsonQuoted(std::string_view text, bool ascii) {
  std::string out = "\"";
  for (const std::string_view character : Characters(text)) {
    const uint32_t code = CodeOf(character);
    const char* const kNamed = "\"\\\n\r\t\b\f";
    const char* const named = code != 0 && code < 0x80 ? strchr(kNamed, static_cast<int>(code)) : nullptr;
    if (named != nullptr) {
      out += '\\';
      out += "\"\\nrtbf"[named - kNamed];
    } else if (code < 0x20 || (ascii && code >= 0x7f && code < 0x10000)) {
      out += fmt::format("\\u{:04x}", code);
    } else if (ascii && code >= 0x10000) {
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff));
    } else {
      out += character;
    }
  }
  return out + '"';
}

void Write(const Value& value, const JsonStyle& style, int level, Text* out);

void NewLine(const JsonStyle& style, int level, Text* out) {
  if (style.indent >= 0) out->Add("\n" + std::string(static_cast<size_t>(style.indent * level), ' '));
}

void WriteDict(const Dict& dict, const JsonStyle& style, int level, Text* out) {
  if (dict.empty()) return out->Add("{}");
  std::vector<const Pair*> pairs;
  for (const Pair& pair : dict) pairs.push_back(&pair);
  if (style.sorted) {
    std::stable_sort(pairs.begin(), pairs.end(),
                     [&](const Pair* a, const Pair* b) { return Less(a->key, b->key, out->budget()); });
  }
  out->Add("{");
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (i != 0) out->Add(style.item);
    NewLine(style, level + 1, out);
    const Value& key = pairs[i]->key;
    if (key.Is(Kind::kString)) {
      out->Add(JsonQuoted(key.text(), style.ascii));
    } else if (key.IsNumber() || key.Is(Kind::kNone)) {
      out->Add("\"");
      Write(key, style, level, out);
      out->Add("\"");
    } else {
      Refuse("writes {} as a key of JSON", NameOf(key));
    }
    out->Add(style.key);
    Write(pairs[i]->value, style, level + 1, out);
  }
  NewLine(style, level, out);
  out->Add("}");
}

void WriteList(const List& list, const JsonStyle& style, int level, Text* out) {
  if (list.empty()) return out->Add("[]");
  out->Add("[");
  for (size_t i = 0; i < list.size(); ++i) {
    if (i != 0) out->Add(style.item);
    NewLine(style, level + 1, out);
    Write(list[i], style, level + 1, out);
  }
  NewLine(style, level, out);
  out->Add("]");
}

void Write(const Value& value, const JsonStyle& style, int level, Text* out) {
  switch (value.kind) {
    case Kind::kNone:
      return out->Add("null");
    case Kind::kBool:
      return out->Add(value.number != 0 ? "true" : "false");
    case Kind::kInt:
      return out->Add(std::to_string(value.number));
    case Kind::kFloat:
      if (std::isnan(value.real)) return out->Add("NaN");
      if (std::isinf(value.real)) return out->Add(value.real > 0 ? "Infinity" : "-Infinity");
      return out->Add(Represented(value.real));
    case Kind::kString:
      out->budget()->Spend(value.text().size());
      return out->Add(JsonQuoted(value.text(), style.ascii));
    case Kind::kList:
    case Kind::kTuple:
      return WriteList(value.list(), style, level, out);
    case Kind::kDict:
      return WriteDict(value.dict(), style, level, out);
    default:
      Refuse("writes {} as JSON", NameOf(value));
  }
}

// Makes values of a parser's events.
class Builder {
 public:
  Builder(const std::string& where, Budget* budget) : where_(where), budget_(budget) {}

  bool null() { return Add(None()); }
  bool boolean(bool value) { return Add(Bool(value)); }
  bool number_integer(int64_t value) { return Add(Int(value)); }
  bool number_unsigned(uint64_t value) {
    if (value > INT64_MAX) Fail("{}: the number {} is out of range", where_, value);
    return Add(Int(static_cast<int64_t>(value)));
  }
  bool number_float(double value, const std::string&) { return Add(Float(value)); }
  bool string(std::string& value) { return Add(String(std::move(value), budget_)); }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool start_object(size_t) { return Open(true); }
  bool start_array(size_t) { return Open(false); }
  bool key(std::string& name) {
    open_.back().key = String(std::move(name), budget_);
    return true;
  }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }
  bool parse_error(size_t at, const std::string&, const nlohmann::json::exception&) {
    Fail("{}: is not JSON at byte {}", where_, at);
  }
  const Value& value() const { return value_; }

 private:
  struct Open_ {
    bool is_dict;
    Value key;
    Dict dict;
    List list;
  };
  bool Open(bool is_dict) {
    if (open_.size() >= 64) Fail("{}: nests lists more than 64 deep", where_);
    open_.push_back({is_dict, {}, {}, {}});
    return true;
  }
  bool Close() {
    Open_ last = std::move(open_.back());
    open_.pop_back();
    return Add(last.is_dict ? Mapping(std::move(last.dict), budget_)
                            : Sequence(std::move(last.list), Kind::kList, budget_));
  }
  bool Add(const Value& value) {
    if (open_.empty()) {
      value_ = value;
    } else if (open_.back().is_dict) {
      Put(&open_.back().dict, open_.back().key, value, budget_);
    } else {
      open_.back().list.push_back(value);
    }
    return true;
  }

  const std::string& where_;
  Budget* const budget_;
  std::vector<Open_> open_;
  Value value_;
};

}  // namespace

std::string Represented(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  // The shortest digits that give the number, in the notation that Python chooses by the exponent.
  char digits[64];
  int precision = 0;
  do {
    snprintf(digits, sizeof(digits), "%.*e", precision, value);
  } while (strtod(digits, nullptr) != value && ++precision < 17);
  const int exponent = atoi(strchr(digits, 'e') + 1);
  if (exponent >= -4 && exponent < 16) {
    snprintf(digits, sizeof(digits), "%.*f", std::max(precision - exponent, 1), value);
    return digits;
  }
  const std::string mantissa(digits, strchr(digits, 'e'));
  return fmt::format("{}e{}{:02}", mantissa, exponent < 0 ? '-' : '+', std::abs(exponent));
}

std::string Represented(const Value& value, Budget* budget) {
  Text out(budget);
  Represent(value, &out);
  return out.Take();
}

std::string Printed(const Value& value, Budget* budget) {
  budget->Spend();
  if (value.Is(Kind::kUndefined)) return "";
  if (value.Is(Kind::kString)) return value.text();
  return Represented(value, budget);
}

std::string JsonOf(const Value& value, const JsonStyle& style, Budget* budget) {
  Text out(budget);
  Write(value, style, 0, &out);
  return out.Take();
}

Value ParsedJson(const std::string& text, const std::string& where, Budget* budget) {
  if (text.size() > kMostBytes) Fail("{}: has {} bytes; at most {} are possible", where, text.size(), kMostBytes);
  Builder builder(where, budget);
  if (!nlohmann::json::sax_parse(text, &builder)) Fail("{}: is not JSON", where);
  return builder.value();
}

}  // namespace fovea::tools::jinja
