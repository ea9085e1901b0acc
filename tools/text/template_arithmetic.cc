#include "tools/text/template_arithmetic.h"

#include <algorithm>
#include <cmath>

#include "tools/text/template_builtins.h"
#include "tools/text/template_text.h"

namespace fovea::tools::jinja {
namespace {

[[noreturn]] void TooLarge() { Refuse("computes a whole number that is out of range"); }

Value Power(int64_t base, int64_t exponent) {
  if (exponent < 0) return Float(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  int64_t product = 1;
  if (base == 0 || base == 1) return Int(exponent == 0 ? 1 : base);
  if (base == -1) return Int(exponent % 2 == 0 ? 1 : -1);
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(product, base, &product)) TooLarge();
  }
  return Int(product);
}

Value Whole(const std::string& sign, int64_t a, int64_t b) {
  int64_t result = 0;
  if (sign == "**") return Power(a, b);
  if (sign == "+"   ? __builtin_add_overflow(a, b, &result)
      : sign == "-" ? __builtin_sub_overflow(a, b, &result)
      : sign == "*" ? __builtin_mul_overflow(a, b, &result)
                    : false) {
    TooLarge();
  }
  if (sign == "+" || sign == "-" || sign == "*") return Int(result);
  if (b == 0) Refuse("divides by zero");
  if (sign == "/") return Float(static_cast<double>(a) / static_cast<double>(b));
  if (a == INT64_MIN && b == -1) TooLarge();
  const int64_t rest = a % b, down = rest != 0 && (rest < 0) != (b < 0) ? 1 : 0;
  return Int(sign == "//" ? a / b - down : rest + down * b);
}

Value Real(const std::string& sign, double a, double b) {
  if (sign == "+") return Float(a + b);
  if (sign == "-") return Float(a - b);
  if (sign == "*") return Float(a * b);
  if (sign == "**") return Float(std::pow(a, b));
  if (b == 0) Refuse("divides by zero");
  if (sign == "/") return Float(a / b);
  double rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  return Float(sign == "//" ? std::floor((a - rest) / b + 0.5) : rest);
}

Value Repeated(const Value& of, int64_t count, Budget* budget) {
  count = std::max<int64_t>(count, 0);
  const size_t size = of.IsList() ? of.list().size() : of.text().size();
  if (size != 0 && static_cast<uint64_t>(count) > kMostBytes / size) {
    Refuse("repeats {} more than {} times", NameOf(of), kMostBytes / size);
  }
  if (of.IsList()) {
    budget->Spend(4 * size * static_cast<size_t>(count));
    List items;
    for (int64_t i = 0; size != 0 && i < count; ++i) items.insert(items.end(), of.list().begin(), of.list().end());
    return Sequence(std::move(items), of.kind, budget);
  }
  std::string text;
  for (int64_t i = 0; size != 0 && i < count; ++i) text += of.text();
  return String(std::move(text), budget);
}

}  // namespace

Value Computed(const std::string& sign, const Value& a, const Value& b, Budget* budget) {
  if (a.IsNumber() && b.IsNumber()) {
    return a.IsWhole() && b.IsWhole() ? Whole(sign, a.number, b.number) : Real(sign, a.AsReal(), b.AsReal());
  }
  if (sign == "+" && a.Is(Kind::kString) && b.Is(Kind::kString)) {
    const bool markup = a.markup || b.markup;  // the other is escaped
    Value sum = String(
        (markup && !a.markup ? Escaped(a.text()) : a.text()) + (markup && !b.markup ? Escaped(b.text()) : b.text()),
        budget);
    sum.markup = markup;
    return sum;
  }
  if (sign == "+" && a.IsList() && a.kind == b.kind) {
    List items = a.list();
    items.insert(items.end(), b.list().begin(), b.list().end());
    return Sequence(std::move(items), a.kind, budget);
  }
  if (sign == "*" && b.IsWhole() && (a.Is(Kind::kString) || a.IsList())) return Repeated(a, b.number, budget);
  if (sign == "*" && a.IsWhole() && (b.Is(Kind::kString) || b.IsList())) return Repeated(b, a.number, budget);
  if (sign == "%" && a.Is(Kind::kString)) {
    return String(PercentFormatted(a.text(), b.Is(Kind::kTuple) ? b.list() : List{b}, budget), budget);
  }
  Refuse("computes {} {} {}", NameOf(a), sign, NameOf(b));
}

}  // namespace fovea::tools::jinja
