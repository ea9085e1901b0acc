// Prompts for models that were taught to talk: what each speaker says, between the marks that the model knows.
#ifndef FOVEA_TOOLS_COMMON_CHAT_H_
#define FOVEA_TOOLS_COMMON_CHAT_H_

#include <string>
#include <vector>

#include "tools/common/chat_template.h"
#include "tools/common/model.h"
#include "tools/common/text.h"

namespace fovea::tools {

// The names of all templates, sorted: "chatml", "llama3", ..
std::vector<std::string> ChatTemplates();

// The prompt after which the assistant speaks, or that ends with what it began to say if that is the last message.
// Without the token that begins every text: the tokenizer puts that in front. Fails for names of templates that are
// not known, for roles that are not, and for speakers that do not take turns where the template needs that.
std::string ChatPrompt(const std::string& name, const std::vector<ChatMessage>& messages);

// How a model is spoken to: by a template of the above, or by its own, which the converter keeps in the metadata:
//   chat_template             its text
//   chat_bos, chat_eos        texts of bos_token and eos_token
//   chat_special_tokens       "tokenizer": those that the tokenizer puts around a text are put around a prompt (GGUF
//                             files, as llama.cpp); else the template writes all (as transformers)
//   chat                      instead of these: a name of ChatTemplates()
class ChatFormat {
 public:
  // `asked`: a name, or "auto" for the model's own. Fails if it has none.
  ChatFormat(const Model& model, const std::string& asked);

  // As ChatPrompt. Fails where the model's template needs more of its language than is evaluated.
  std::string Prompt(const std::vector<ChatMessage>& messages) const;
  // Of a prompt, of any length: nothing after it, and one token in front of it that begins texts, be it the
  // tokenizer's or the template's.
  Tokens TokensOf(const std::string& prompt) const;
  // The mark that ends an answer: "<|im_end|>"; empty if there is none.
  std::string End() const;

 private:
  const Model& model_;
  std::string name_;  // empty: the model's own
  ChatTemplate own_;
  bool tokenizer_begins_ = true;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_CHAT_H_
