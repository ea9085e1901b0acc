// Escapes foreign strings for terminals.
#include "tools/base/printable.h"

#include <fmt/format.h>

#include "runtime/text/utf8.h"

namespace fovea::tools {
namespace {

// Whether a terminal would act on it: control characters, line and paragraph separators, bidirectional overrides.
bool Acts(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string Printable(const std::string& raw) {
  std::string line;
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(raw.data());
  for (size_t at = 0; at < raw.size();) {
    const text::Char c = text::ReadChar(bytes + at, raw.size() - at);
    const bool broken = c.code == text::kReplacement && c.size == 1;
    if (c.code == '\n') {
      line += "\\n";
    } else if (c.code == '\t') {
      line += "\\t";
    } else if (broken || (Acts(c.code) && c.code < 0x100)) {
      line += fmt::format("\\x{:02x}", broken ? bytes[at] : c.code);
    } else if (Acts(c.code)) {
      line += fmt::format("\\u{:04x}", c.code);
    } else {
      line.append(raw, at, c.size);
    }
    at += c.size;
  }
  return line;
}

std::string Shortened(const std::string& text, size_t bytes) {
  if (text.size() <= bytes) return Printable(text);
  while (bytes > 0 && (static_cast<uint8_t>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return Printable(text.substr(0, bytes)) + " ..";
}

}  // namespace fovea::tools
