// A chat with a decoder: what was said stays in one text, and a turn reads what is new.
#ifndef FOVEA_TOOLS_GENERATE_CONVERSATION_H_
#define FOVEA_TOOLS_GENERATE_CONVERSATION_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/common/chat.h"
#include "tools/generate/generator.h"

namespace fovea::tools {

class Conversation {
 public:
  // `system`: what the system says first, if not empty.
  Conversation(const Model& model, const ChatFormat& format, const std::string& system,
               const GenerationRequest& request);

  // What the assistant answers, as far as it got before an interrupt; request.show gets it as it comes. A chat that is
  // longer than its context loses its oldest turns.
  Generation Ask(const std::string& user);
  // Turns that the last question left out, and the tokens of the context.
  size_t turns_left_out() const { return left_out_; }
  uint32_t context() const { return request_.context; }

 private:
  // The chat's tokens, without its oldest turns where there is no room for them and an answer.
  std::vector<int32_t> Said();
  // Takes back what is kept of the text and not said any more: how many of `tokens` stay.
  size_t Keep(const std::vector<int32_t>& tokens);

  const Model& model_;
  const ChatFormat format_;
  const GenerationRequest request_;
  std::vector<ChatMessage> messages_;
  std::optional<Session> decode_, draft_;
  std::optional<Generator> generator_;
  uint64_t turns_ = 0;
  size_t left_out_ = 0;
  std::vector<int32_t> tokens_;  // what the decoder was given and has made
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_CONVERSATION_H_
