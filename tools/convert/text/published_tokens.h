// Special and added tokens of a directory, which are not in the vocabulary's file.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_PUBLISHED_TOKENS_H_
#define FOVEA_TOOLS_CONVERT_TEXT_PUBLISHED_TOKENS_H_

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/base/json.h"
#include "tools/convert/findings.h"
#include "tools/convert/text/model.h"

namespace fovea::tools {

// Default of a class for a token that the directory does not name.
struct DefaultToken {
  const char* key;  // "bos_token"
  const char* content;
  uint32_t flags = 0;  // text::kAddedLstrip, ...
};

// tokenizer_config.json (its special tokens and added_tokens_decoder), else special_tokens_map.json and
// added_tokens.json, as PreTrainedTokenizerBase._from_pretrained reads them.
class PublishedTokens {
 public:
  // `config`: tokenizer_config.json or an empty object; must outlive this.
  PublishedTokens(const std::filesystem::path& model_dir, const JsonView& config);

  // Content of a special token; empty if it is null, or not named and `otherwise` is empty.
  std::string Named(const char* key, const std::string& otherwise = "") const;

  // Adds tokens that the model lacks: listed tokens by their ids, then named ones, which get the next ids unless the
  // vocabulary has them. Fails if an id belongs to another token.
  void AddTo(const std::vector<DefaultToken>& defaults, TextModel* model) const;
  // Adds listed and named tokens that tokenizer.json lacks behind its tokens (PreTrainedTokenizerFast.__init__), with a
  // finding; its own ids stay, flags come from added_tokens_decoder. `defaults`: names of the class for keys that
  // the directory lacks; `findings` may be null.
  void AddBeside(const std::vector<DefaultToken>& defaults, TextModel* model, Findings* findings) const;

 private:
  struct Token {
    AddedToken token;
    bool has_id = false;
    bool whole = false;  // with flags, not only a name
  };
  JsonView Get(const char* key) const;
  static Token Special(const JsonView& value);
  std::optional<Token> Find(const char* key) const;
  std::vector<Token> More() const;  // additional_special_tokens
  std::vector<Token> Listed() const;
  class Known;
  static void Add(Token token, Known* tokens);

  const JsonView config_;
  Json map_ = Json::object(), added_ = Json::object();
};

// Sets the template of texts in the notation of the tokenizers library without its shortcuts: "<s> $A </s>",
// "<s> $A </s> $B:1 </s>:1". Tokens are given by content; $A and $B are the texts; a number after a colon is the token
// type.
void SetTemplate(const std::string& single, const std::string& pair, TextModel* model);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_PUBLISHED_TOKENS_H_
