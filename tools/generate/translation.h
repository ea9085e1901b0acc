// Language tokens of translation models: in the source, and as first target token.
#ifndef FOVEA_TOOLS_GENERATE_TRANSLATION_H_
#define FOVEA_TOOLS_GENERATE_TRANSLATION_H_

#include <string>
#include <vector>

#include "tools/generate/generation.h"

namespace fovea::tools {

struct Languages {
  std::string source, target;  // by the model's names ("en_XX") or short ones ("en" for "__en__"); empty: default
  std::string prefix;          // prepended to each text, as in T5's training: "translate English to German: "
};

// Encodes a text for the encoder, truncated to its maximum. Special tokens that the prefix spells are always tokens;
// special tokens that the text spells are tokens unless the model was opened with literal_texts.
Tokens SourceTokens(const Model& model, const Languages& languages, const std::string& text);

// Sets the target language as first token, or as start token if the model's start token is a language.
void SetTarget(const Model& model, const std::string& language, GenerationRequest* request);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_TRANSLATION_H_
