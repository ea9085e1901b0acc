// The tokens of a text that a decoder is to write.
#ifndef FOVEA_TOOLS_GENERATE_TARGET_TOKENS_H_
#define FOVEA_TOOLS_GENERATE_TARGET_TOKENS_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "tools/common/model.h"

namespace fovea::tools {

// By its labels, the longest first, where it has some; else by the tokenizer, without special tokens around it.
std::vector<int32_t> TargetTokens(const Model& model, const std::string& text);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_TARGET_TOKENS_H_
