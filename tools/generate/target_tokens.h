// The tokens of a text that a decoder is to write.
#ifndef FOVEA_TOOLS_GENERATE_TARGET_TOKENS_H_
#define FOVEA_TOOLS_GENERATE_TARGET_TOKENS_H_

#include <stdint.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/common/model.h"

namespace fovea::tools {

// By its labels where it has some: those between separators or, without one, the longest first. Else by the tokenizer,
// without special tokens around it. `separator`: in place of the model's own.
std::vector<int32_t> TargetTokens(const Model& model, const std::string& text,
                                  const std::optional<std::string>& separator = {});

// All ways in which the tokens of a text may follow: where it stands alone, and within a text. A tokenizer that begins
// texts with a space splits "word" and " word" within a text in other ways than alone.
std::set<std::vector<int32_t>> TargetForms(const Model& model, const std::string& text,
                                           const std::optional<std::string>& separator = {});

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_TARGET_TOKENS_H_
