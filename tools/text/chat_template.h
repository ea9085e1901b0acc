// Renders a prompt with a model's own chat template: an interpreter for the part of Jinja that published templates use,
// set up as in transformers (trim_blocks, lstrip_blocks, its functions and filters). What it does not have is refused
// by name; no prompt is guessed. The interpreter is in template_*.
#ifndef FOVEA_TOOLS_TEXT_CHAT_TEMPLATE_H_
#define FOVEA_TOOLS_TEXT_CHAT_TEMPLATE_H_

#include <stdint.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fovea::tools {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant"
  std::string text;
  std::string json = {};  // the whole message as JSON, with members besides role and content; empty: it has none
};

// Reads messages from JSON, a list of objects with "role". `where` begins messages of failures.
std::vector<ChatMessage> MessagesIn(const std::string& json, const std::string& where);

struct ChatTemplate {
  std::string source;    // as in tokenizer_config.json, chat_template.jinja or a GGUF file
  std::string bos, eos;  // the texts of bos_token and eos_token
  std::vector<std::pair<std::string, std::string>> tokens = {};  // other special tokens: pad_token, ...
  // Further variables, as JSON: tools, documents, enable_thinking, ...
  std::vector<std::pair<std::string, std::string>> variables = {};
  std::optional<int64_t> time = {};  // for strftime_now, in seconds since 1970; absent: now

  // `answers`: end with the beginning of the assistant's turn (add_generation_prompt).
  std::string Render(const std::vector<ChatMessage>& messages, bool answers) const;
};

// NAME=VALUE as a variable: VALUE is JSON (true, 3, ["a"]) or text; "@FILE" reads JSON from a file.
std::pair<std::string, std::string> TemplateVariable(const std::string& given);

// Parts that a template uses and that cannot be rendered, by name ("filter x"); empty: none. Fails if it cannot be
// parsed.
std::vector<std::string> UnknownParts(const std::string& source);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_CHAT_TEMPLATE_H_
