// Language tokens of multilingual tokenizers.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_LANGUAGE_CODES_H_
#define FOVEA_TOOLS_CONVERT_TEXT_LANGUAGE_CODES_H_

#include <string>
#include <vector>

#include "tools/base/json.h"
#include "tools/convert/text/published_tokens.h"

namespace fovea::tools {

// The codes of a class of the original library, in the order of their ids: MBartTokenizer ("en_XX"), MBart50Tokenizer,
// NllbTokenizer ("eng_Latn"), M2M100Tokenizer ("__en__"; `set`: its language_codes, "m2m100" or "wmt21"). Empty for
// other classes. Fails for an unknown set.
std::vector<std::string> LanguageCodes(const std::string& type, const std::string& set = "m2m100");

// Sets the tokens around a text as the class does: the source's language (src_lang of tokenizer_config.json, else the
// class's default) before it or, with MBartTokenizer and legacy_behaviour of NllbTokenizer, after its end. Returns
// false for classes without languages.
bool SetLanguageTemplate(const std::string& type, const JsonView& config, const PublishedTokens& tokens,
                         TextModel* model);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_LANGUAGE_CODES_H_
