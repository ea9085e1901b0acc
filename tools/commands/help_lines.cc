#include "tools/commands/help_lines.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <sstream>

#include "tools/base/system.h"

namespace fovea::tools {
namespace {

bool OutputShowsColours() {
  if (!OutputIsTerminal()) return false;
  const char* const none = getenv("NO_COLOR");
  const char* const terminal = getenv("TERM");
  return (none == nullptr || *none == '\0') && terminal != nullptr && strcmp(terminal, "dumb") != 0;
}

}  // namespace

size_t HelpColumns() {
  const size_t columns = TerminalColumns();
  return columns == 0 ? 100 : std::clamp<size_t>(columns, 60, 120);
}

std::string HelpEntry(const std::string& names, const std::string& description, size_t columns) {
  std::string text = "  " + names;
  size_t at = text.size();
  std::istringstream words(description);
  std::string word;
  bool first = true;
  while (words >> word) {
    if (first ? at + 1 >= kHelpColumn : at + 1 + word.size() > columns) {
      text += '\n';
      at = 0;
      first = true;
    }
    if (first) {
      text.append(kHelpColumn - at, ' ');
      at = kHelpColumn;
    } else {
      text += ' ';
      ++at;
    }
    text += word;
    at += word.size();
    first = false;
  }
  return text + "\n";
}

std::string HelpHeading(const std::string& heading) {
  return OutputShowsColours() ? fmt::format("\033[1m{}:\033[0m", heading) : heading + ":";
}

}  // namespace fovea::tools
