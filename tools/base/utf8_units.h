// Bytes of UTF-8 that a console can show: whole characters.
#ifndef FOVEA_TOOLS_BASE_UTF8_UNITS_H_
#define FOVEA_TOOLS_BASE_UTF8_UNITS_H_

#include <stddef.h>

#include <string_view>

namespace fovea::tools {

// Bytes of `text` without the start of a last character whose rest is missing; broken text is whole.
inline size_t WholeCharacters(std::string_view text) {
  for (size_t back = 1; back <= 4 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    const size_t size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return size > back ? text.size() - back : text.size();
  }
  return text.size();
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_UTF8_UNITS_H_
