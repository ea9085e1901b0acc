// Prompts for models that were taught to talk: what each speaker says, between the marks that the model knows.
#ifndef FOVEA_TOOLS_COMMON_CHAT_H_
#define FOVEA_TOOLS_COMMON_CHAT_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/common/model.h"

namespace fovea::tools {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant"
  std::string text;
};

// The names of all templates, sorted: "chatml", "llama3", ..
std::vector<std::string> ChatTemplates();

// The template that a model's own one, in the language of its tokenizer_config.json, amounts to; nothing if it is not
// one of them.
std::optional<std::string> RecognizeChatTemplate(const std::string& jinja);

// The name of the template that was asked for; "auto": the model's own. Fails if it has none that is known.
std::string ChatTemplateOf(const Model& model, const std::string& asked);

// The prompt after which the assistant speaks, or that ends with what it began to say if that is the last message.
// Without the token that begins every text: the tokenizer puts that in front. Fails for names of templates that are
// not known, for roles that are not, and for speakers that do not take turns where the template needs that.
std::string ChatPrompt(const std::string& name, const std::vector<ChatMessage>& messages);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_CHAT_H_
