// Formats numbers and bytes for people and for programs.
#include "tools/base/print.h"

#include <fmt/format.h>

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

void PrintJson(std::ostream& out, const OrderedJson& json) {
  out << json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) << "\n";
}

}  // namespace fovea::tools
