// Names of tensors in consolidated.safetensors and consolidated.00.pth, as Mistral's and Meta's own code has them.
#ifndef FOVEA_TOOLS_CONVERT_PUBLISHED_MISTRAL_NAMES_H_
#define FOVEA_TOOLS_CONVERT_PUBLISHED_MISTRAL_NAMES_H_

#include <string>

#include "tools/convert/weights.h"

namespace fovea::tools {

// Gives all tensors the library's names, and rows of queries and keys the library's order for RoPE. Fails at a name
// without a counterpart. Heads are read from params.json or config.json of the directory.
void RenameMistralTensors(const std::string& directory, const std::string& prefix, Weights& weights);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_PUBLISHED_MISTRAL_NAMES_H_
