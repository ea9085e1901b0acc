// What a model has to be told about languages: tokens of the source and the first one of the target.
#ifndef FOVEA_TOOLS_GENERATE_TRANSLATION_H_
#define FOVEA_TOOLS_GENERATE_TRANSLATION_H_

#include <string>
#include <vector>

#include "tools/generate/generation.h"

namespace fovea::tools {

struct Languages {
  std::string source, target;  // as the model calls them ("en_XX") or in short ("en" of "__en__"); empty: as it is
  std::string prefix;          // in front of each text, as T5 was taught: "translate English to German: "
};

// A text as the encoder reads it, with as many tokens as it takes.
Tokens SourceTokens(const Model& model, const Languages& languages, const std::string& text);

// The target's language becomes the first token, or the start token where the model's own is a language.
void SetTarget(const Model& model, const std::string& language, GenerationRequest* request);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_TRANSLATION_H_
