// Writes a record as a self-contained HTML page.
#include "tools/attend/page.h"

#include <string_view>

#include "tools/attend/page_template.h"
#include "tools/base/fail.h"

namespace fovea::tools {

std::string PageOf(const std::string& record) {
  static constexpr std::string_view kMark = "@RECORD@";
  const std::string_view page(kAttentionPage, kAttentionPageSize);
  const size_t at = page.find(kMark);
  if (at == std::string_view::npos) Fail("this build contains no page template");
  std::string whole(page.substr(0, at));
  whole.reserve(page.size() + record.size() + record.size() / 16);
  // In JSON these characters occur only in strings, where they can be escaped.
  for (const char c : record) {
    if (c == '<' || c == '>' || c == '&') {
      whole += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026";
    } else {
      whole += c;
    }
  }
  return whole.append(page.substr(at + kMark.size()));
}

}  // namespace fovea::tools
