#include "tools/commands/chat_arguments.h"

#include <stdio.h>
#include <time.h>

#include "tools/base/fail.h"
#include "tools/base/input_file.h"
#include "tools/commands/commands.h"

namespace fovea::tools {

void ChatArguments::AddTo(Command command) {
  const Options chat = command.Under(Heading::kChat);
  chat.AddRepeated("--template-arg", &variables,
                   "Set a variable of the model's chat template: enable_thinking=false, tools=@tools.json\n"
                   "(VALUE is JSON or text, @FILE a file with JSON)")
      .Placeholder("NAME=VALUE");
  chat.Add("--messages", &messages,
           "Begin the chat with the messages of FILE, a JSON list of {\"role\", \"content\"};\n-: standard input")
      .Placeholder("FILE");
  chat.AddFlag("--special", &special, "Special tokens in messages are tokens; without it they are text");
  chat.Add("--date", &date, "Date that the chat template writes, YYYY-MM-DD; default: now").Placeholder("DATE");
}

ChatInputs ChatArguments::Inputs() const {
  ChatInputs inputs;
  inputs.special = special;
  for (const std::string& variable : variables) inputs.variables.push_back(TemplateVariable(variable));
  if (date.empty()) return inputs;
  struct tm parts = {};
  char end = 0;
  const bool digits = date.find_first_not_of("0123456789-") == std::string::npos;
  if (!digits || date.size() != 10 ||
      sscanf(date.c_str(), "%4d-%2d-%2d%c", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &end) != 3 ||
      parts.tm_year < 1970) {
    Fail("--date '{}': must be a date as 2026-01-31", date);
  }
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  parts.tm_hour = 12;
  parts.tm_isdst = -1;
  const int month = parts.tm_mon, day = parts.tm_mday;
  inputs.time = static_cast<int64_t>(mktime(&parts));
  // A day that the month does not have became one of another month.
  if (parts.tm_mon != month || parts.tm_mday != day) Fail("--date '{}': the calendar has no such day", date);
  return inputs;
}

std::vector<ChatMessage> ChatArguments::Messages() const {
  if (messages.empty()) return {};
  const InputFile file(messages);
  return MessagesIn({reinterpret_cast<const char*>(file.data()), static_cast<size_t>(file.size())},
                    messages == "-" ? "standard input" : messages);
}

}  // namespace fovea::tools
