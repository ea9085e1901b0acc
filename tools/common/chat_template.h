// The prompt that a model's own chat template writes. Of the template language (Jinja, as transformers sets it up:
// blocks are trimmed) the part that templates of plain chats use is evaluated: loops over messages, conditions, strings
// put together. What else is met while a prompt is written is refused by name: no prompt is guessed.
#ifndef FOVEA_TOOLS_COMMON_CHAT_TEMPLATE_H_
#define FOVEA_TOOLS_COMMON_CHAT_TEMPLATE_H_

#include <string>
#include <vector>

namespace fovea::tools {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant"
  std::string text;
};

// Without the white space around it, in Unicode's sense.
std::string StripWhiteSpace(const std::string& text);

struct ChatTemplate {
  std::string source;    // as in tokenizer_config.json, chat_template.jinja or a GGUF file
  std::string bos, eos;  // the texts of bos_token and eos_token

  // `answers`: the assistant is to speak next (add_generation_prompt).
  std::string Render(const std::vector<ChatMessage>& messages, bool answers) const;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_CHAT_TEMPLATE_H_
