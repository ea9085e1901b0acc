// Lines that a person types in a chat: messages, and commands that begin with "/".
#ifndef FOVEA_TOOLS_COMMANDS_CHAT_LINES_H_
#define FOVEA_TOOLS_COMMANDS_CHAT_LINES_H_

#include <string>

namespace fovea::tools {

enum class ChatLine { kMessage, kBlank, kHelp, kClear, kExit, kUnknown };

// Commands such as "/help"; a message that begins with a slash is typed with two of them.
ChatLine ChatLineOf(const std::string& line);
// The message of such a line.
std::string ChatMessageOf(const std::string& line);

// Printed for /help.
inline constexpr const char kChatHelp[] =
    "/help   print this list\n"
    "/clear  forget all turns but the system message\n"
    "/exit   end the chat, as Ctrl-D does\n"
    "A message that begins with a slash is typed with two. Ctrl-C ends the answer that is being generated.\n";

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMANDS_CHAT_LINES_H_
