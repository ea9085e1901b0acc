// Formats numbers and bytes for people and for programs.
#include "tools/base/print.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "fovea/model.h"

namespace fovea::tools {

std::string Grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string ShortBytes(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double size = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (size < 1024) break;
    size /= 1024;
    unit = next;
  }
  return fmt::format("{:.{}f} {}", size, size < 10 ? 2 : 1, unit);
}

namespace {

// The shortest decimal number that identifies the f32, or nine digits of an f64.
double Rounded(double number) {
  if (!std::isfinite(number)) return number;
  const auto single = static_cast<float>(number);
  fmt::memory_buffer text;
  if (static_cast<double>(single) == number) {
    fmt::format_to(std::back_inserter(text), "{}", single);
  } else {
    fmt::format_to(std::back_inserter(text), "{:.9g}", number);
  }
  text.push_back('\0');
  return strtod(text.data(), nullptr);
}

void RoundNumbers(OrderedJson& json) {
  if (json.is_number_float()) {
    json = Rounded(json.get<double>());
  } else if (json.is_structured()) {
    for (OrderedJson& part : json) RoundNumbers(part);
  }
}

}  // namespace

std::string JsonText(OrderedJson json, int indent) {
  RoundNumbers(json);
  return json.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

void PrintJson(std::ostream& out, const OrderedJson& json) { out << JsonText(json, 2) << "\n"; }

}  // namespace fovea::tools
