#include "tools/commands/chat_lines.h"

namespace fovea::tools {

ChatLine ChatLineOf(const std::string& line) {
  const size_t end = line.find_last_not_of(" \t\r");
  if (end == std::string::npos) return ChatLine::kBlank;
  if (line[0] != '/' || (line.size() > 1 && line[1] == '/')) return ChatLine::kMessage;
  const std::string command = line.substr(0, end + 1);
  if (command == "/help" || command == "/?") return ChatLine::kHelp;
  if (command == "/clear" || command == "/reset") return ChatLine::kClear;
  return command == "/exit" || command == "/quit" || command == "/bye" ? ChatLine::kExit : ChatLine::kUnknown;
}

std::string ChatMessageOf(const std::string& line) { return line.compare(0, 2, "//") == 0 ? line.substr(1) : line; }

}  // namespace fovea::tools
