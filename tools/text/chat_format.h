// Prompts of chat models: messages of each role between the model's markers (chat template).
#ifndef FOVEA_TOOLS_TEXT_CHAT_FORMAT_H_
#define FOVEA_TOOLS_TEXT_CHAT_FORMAT_H_

#include <stdint.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/model/model.h"
#include "tools/text/chat_template.h"
#include "tools/text/tokenizer.h"

namespace fovea::tools {

// The names of all templates, sorted: "chatml", "llama3", ...
std::vector<std::string> ChatTemplates();

// The prompt for the assistant's next message, or, if the last message is the assistant's, up to the end of that one.
// The BOS token is not included: the tokenizer adds it. Fails for unknown template names and roles, and for roles that
// do not alternate where the template requires it.
std::string ChatPrompt(const std::string& name, const std::vector<ChatMessage>& messages);

// Variables of the model's own template, and the time that it shows.
struct ChatInputs {
  std::vector<std::pair<std::string, std::string>> variables = {};  // as ChatTemplate's
  std::optional<int64_t> time = {};
  bool special = false;  // special tokens in messages are tokens, not text
};

// Chat format of a model: a template of the list above, or its own, which the converter stores in the metadata:
//   chat_template             its text
//   chat_template.NAME        other templates; "tool_use" is used if there are tools
//   chat_bos, chat_eos        texts of bos_token and eos_token; also chat_pad, chat_unk, chat_cls, chat_sep
//   chat_special_tokens       "tokenizer": the tokenizer adds its special tokens around a prompt (GGUF files, as in
//                             llama.cpp); else the template writes them all (as in transformers)
//   chat                      instead of these: a name of ChatTemplates()
class ChatFormat {
 public:
  // `asked`: a name of the list above or of the model's other templates, or "auto" for the model's own template; fails
  // if the model has none.
  ChatFormat(const Model& model, const std::string& asked, const ChatInputs& inputs = {});

  // Same as ChatPrompt; the model's own template begins an answer also after a message of the assistant. Fails if it
  // needs a language feature that is not implemented.
  std::string Prompt(const std::vector<ChatMessage>& messages) const;
  // Tokens of the whole prompt: no end-of-text token after it, and exactly one BOS token before it, whether the
  // tokenizer or the template writes it. Special tokens in messages that are not the assistant's are text, so that a
  // message cannot end its turn; unless ChatInputs::special.
  Tokens TokensOf(const std::vector<ChatMessage>& messages) const;
  // The end-of-turn marker after an answer, as "<|im_end|>"; empty if there is none, or if the template refuses the
  // chat that shows it.
  std::string End() const;

 private:
  std::string Masked(const std::string& text) const;
  Tokens Encode(const std::string& prompt) const;

  const Model& model_;
  std::vector<std::string> special_;  // special tokens that messages must not contain
  std::string name_;                  // empty: the model's own
  // The marker of a chat whose last message, the answer, is `answer`.
  std::string EndAfter(const std::string& answer, bool system) const;

  ChatTemplate own_;
  bool tokenizer_begins_ = true;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_CHAT_FORMAT_H_
