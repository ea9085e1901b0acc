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
  // `chat_template`: a name of ChatTemplates(). `system`: what the system says first, if not empty.
  Conversation(const Model& model, const std::string& chat_template, const std::string& system,
               const GenerationRequest& request);

  // What the assistant answers, as far as it got before an interrupt; request.show gets it as it comes.
  Generation Ask(const std::string& user);

 private:
  // Takes back what is kept of the text and not said any more: how many of `tokens` stay.
  size_t Keep(const std::vector<int32_t>& tokens);

  const Model& model_;
  const std::string template_;
  const GenerationRequest request_;
  std::vector<ChatMessage> messages_;
  std::optional<Session> decode_, draft_;
  std::optional<Generator> generator_;
  uint64_t turns_ = 0;
  std::vector<int32_t> tokens_;  // what the decoder was given and has made
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_CONVERSATION_H_
