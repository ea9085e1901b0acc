// A chat with a decoder: the conversation stays in the KV cache, so a turn reads only the new tokens.
#ifndef FOVEA_TOOLS_GENERATE_CONVERSATION_H_
#define FOVEA_TOOLS_GENERATE_CONVERSATION_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/generate/generator.h"
#include "tools/text/chat_format.h"

namespace fovea::tools {

class Conversation {
 public:
  // `system`: the system message; may be empty. `history`: messages with which the chat begins.
  Conversation(const Model& model, const ChatFormat& format, const std::string& system,
               const GenerationRequest& request, const std::vector<ChatMessage>& history = {});

  // Generates the assistant's answer; until an interrupt, the part generated so far. request.show receives it as it is
  // generated. Oldest turns are dropped if the chat exceeds its context.
  Generation Ask(const std::string& user);
  // Forgets all turns but the system message.
  void Clear();
  // Whether the history ends with a message that waits for an answer: Ask("") gives it.
  bool Waits() const { return !messages_.empty() && messages_.back().role != "assistant" && !is_only_system_; }
  // Turns dropped for the last question, and the size of the context in tokens.
  size_t turns_left_out() const { return left_out_; }
  uint32_t context() const { return request_.context; }

 private:
  // Tokens of the chat, without the oldest turns if they and an answer do not fit.
  std::vector<int32_t> Said();
  // Rewinds the KV cache to the common prefix of its rows and `tokens`; returns the prefix's length.
  size_t Keep(const std::vector<int32_t>& tokens);

  const Model& model_;
  const ChatFormat format_;
  const GenerationRequest request_;
  std::vector<ChatMessage> messages_;
  bool is_only_system_ = true;  // no message but the system's
  std::optional<Session> decode_, draft_;
  std::optional<Generator> generator_;
  uint64_t turns_ = 0;
  size_t left_out_ = 0;
  std::vector<int32_t> tokens_;  // in the KV cache: prompts and generated tokens
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_CONVERSATION_H_
