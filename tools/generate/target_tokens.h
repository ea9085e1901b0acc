// Tokenizes a text that a decoder is to generate.
#ifndef FOVEA_TOOLS_GENERATE_TARGET_TOKENS_H_
#define FOVEA_TOOLS_GENERATE_TARGET_TOKENS_H_

#include <stdint.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/model/model.h"

namespace fovea::tools {

// If the model has labels, splits by labels: at separators or, without one, longest first. Otherwise uses the
// tokenizer, without special tokens. `separator`: overrides the model's.
std::vector<int32_t> TargetTokens(const Model& model, const std::string& text,
                                  const std::optional<std::string>& separator = {});

// All token sequences of a text: on its own and within a text. A tokenizer that prepends a space splits "word" and
// " word" within a text differently than on its own.
std::set<std::vector<int32_t>> TargetForms(const Model& model, const std::string& text,
                                           const std::optional<std::string>& separator = {});

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_TARGET_TOKENS_H_
