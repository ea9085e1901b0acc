// Foreign strings as a terminal may show them.
#include "tools/base/printable.h"

#include <nlohmann/json.hpp>

namespace fovea::tools {

std::string Printable(const std::string& text) {
  // The JSON writer does both; its quotes and their escapes are not wanted.
  const std::string quoted = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string plain;
  for (size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] == '\\' && (quoted[i + 1] == '"' || quoted[i + 1] == '\\')) ++i;
    plain += quoted[i] == '\x7f' ? '?' : quoted[i];
  }
  return plain;
}

std::string Shortened(const std::string& text, size_t bytes) {
  if (text.size() <= bytes) return Printable(text);
  while (bytes > 0 && (static_cast<uint8_t>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return Printable(text.substr(0, bytes)) + " ..";
}

}  // namespace fovea::tools
