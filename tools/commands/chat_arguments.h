// Options for the variables of a model's chat template.
#ifndef FOVEA_TOOLS_COMMANDS_CHAT_ARGUMENTS_H_
#define FOVEA_TOOLS_COMMANDS_CHAT_ARGUMENTS_H_

#include <string>
#include <vector>

#include "tools/commands/command_line.h"
#include "tools/text/chat_format.h"

namespace fovea::tools {

struct ChatArguments {
  std::vector<std::string> variables;
  std::string date, messages;
  bool special = false;

  void AddTo(Command command);
  ChatInputs Inputs() const;
  // The messages of the file that --messages names; none without it.
  std::vector<ChatMessage> Messages() const;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMANDS_CHAT_ARGUMENTS_H_
