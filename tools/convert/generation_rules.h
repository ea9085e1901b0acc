// Checks generation metadata against the programs: the same rules as in include/fovea/generate.h, but at conversion,
// and with key and value in the message.
#ifndef FOVEA_TOOLS_CONVERT_GENERATION_RULES_H_
#define FOVEA_TOOLS_CONVERT_GENERATION_RULES_H_

#include <optional>

#include "tools/blob/blob.h"

namespace fovea::tools {

// The value of metadata "generate.<key>", or null.
const std::string* GenerationEntry(const BlobContent& content, const std::string& key);

// Index of the program that the key names, or without such a key of the program with the key's own name.
std::optional<size_t> GenerationProgram(const BlobContent& content, const std::string& key);

// Fails with the first invalid entry "generate.*".
void CheckGeneration(const BlobContent& content);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_GENERATION_RULES_H_
