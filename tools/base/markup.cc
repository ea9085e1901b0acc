#include "tools/base/markup.h"

#include "tools/base/printable.h"

namespace fovea::tools {

// Drops control characters and U+FFFE and U+FFFF, which XML does not allow.
std::string Markup(const std::string& raw) {
  std::string out;
  const std::string text = Printable(raw);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.compare(i, 3, "\xef\xbf\xbe") == 0 || text.compare(i, 3, "\xef\xbf\xbf") == 0) {
      out += "?";
      i += 2;
    } else if (c == '<' || c == '>' || c == '&' || c == '"') {
      out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace fovea::tools
