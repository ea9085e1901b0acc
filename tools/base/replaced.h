// Replacement of parts of texts that are trusted and short enough for it; text/template_text.h has limits as well.
#ifndef FOVEA_TOOLS_BASE_REPLACED_H_
#define FOVEA_TOOLS_BASE_REPLACED_H_

#include <string>
#include <string_view>

namespace fovea::tools {

// Replaces every `old`, which must not be empty.
inline std::string ReplacedAll(std::string_view text, std::string_view old, std::string_view with) {
  std::string out;
  size_t begin = 0;
  for (size_t at = 0; (at = text.find(old, begin)) != std::string_view::npos; begin = at + old.size()) {
    out += text.substr(begin, at - begin);
    out += with;
  }
  return out += text.substr(begin);
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_BASE_REPLACED_H_
