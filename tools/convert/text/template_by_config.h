// Special tokens around texts, where tokenizer_config.json can override tokenizer.json.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_TEMPLATE_BY_CONFIG_H_
#define FOVEA_TOOLS_CONVERT_TEXT_TEMPLATE_BY_CONFIG_H_

#include <string>
#include <vector>

#include "tools/base/json.h"
#include "tools/convert/text/model.h"
#include "tools/convert/text/published_tokens.h"

namespace fovea::tools {

// The default names of special tokens of classes that build the template anew; empty for other classes.
std::vector<DefaultToken> NamesOfClass(const std::string& type);

// Follows add_bos_token and add_eos_token as the original library does:
// - LlamaTokenizerFast, CodeLlamaTokenizerFast, GemmaTokenizerFast and CohereTokenizerFast build the template anew
//   (update_post_processor), regardless of tokenizer.json; add_bos_token is true if it is absent.
// - In a directory that version 5 wrote ("backend" in tokenizer_config.json, or class TokenizersBackend), every class
//   does so, but only if one of the keys is present or tokenizer.json has no template.
// - Other classes of version 4 keep the template of tokenizer.json; a warning reports keys that request another one.
void FollowAddedEnds(const std::string& type, const JsonView& config, const PublishedTokens& tokens, TextModel* model,
                     std::vector<std::string>* warnings);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_TEMPLATE_BY_CONFIG_H_
