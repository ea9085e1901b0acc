// Renders a prompt with a model's own chat template. Of the template language (Jinja, as set up by transformers: blocks
// are trimmed) it implements the part that templates of plain chats use: loops over messages, conditions, string
// concatenation. Anything else that is met during rendering is refused by name; no prompt is guessed.
#ifndef FOVEA_TOOLS_TEXT_CHAT_TEMPLATE_H_
#define FOVEA_TOOLS_TEXT_CHAT_TEMPLATE_H_

#include <string>
#include <vector>

namespace fovea::tools {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant"
  std::string text;
};

struct ChatTemplate {
  std::string source;    // as in tokenizer_config.json, chat_template.jinja or a GGUF file
  std::string bos, eos;  // the texts of bos_token and eos_token

  // `answers`: end with the beginning of the assistant's turn (add_generation_prompt).
  std::string Render(const std::vector<ChatMessage>& messages, bool answers) const;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_CHAT_TEMPLATE_H_
