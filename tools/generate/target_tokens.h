// The tokens of a text that a decoder is to write.
#ifndef FOVEA_TOOLS_GENERATE_TARGET_TOKENS_H_
#define FOVEA_TOOLS_GENERATE_TARGET_TOKENS_H_

#include <stdint.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/common/model.h"

namespace fovea::tools {

// By its labels where it has some: those between separators or, without one, the longest first. Else by the tokenizer,
// without special tokens around it. `separator`: in place of the model's own.
std::vector<int32_t> TargetTokens(const Model& model, const std::string& text,
                                  const std::optional<std::string>& separator = {});

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_TARGET_TOKENS_H_
