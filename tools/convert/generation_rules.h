// What metadata says about generation must fit the programs: the same rules as of include/fovea/generate.h, but known
// at conversion, and with key and value in the message.
#ifndef FOVEA_TOOLS_CONVERT_GENERATION_RULES_H_
#define FOVEA_TOOLS_CONVERT_GENERATION_RULES_H_

#include <optional>

#include "tools/blob/blob.h"

namespace fovea::tools {

// What metadata says for "generate." and this key, or null.
const std::string* GenerationEntry(const BlobContent& content, const std::string& key);

// Number of the program that the key names, or of the one with the key's own name where there is no such key.
std::optional<size_t> GenerationProgram(const BlobContent& content, const std::string& key);

// Fails with the first entry "generate.*" that does not fit.
void CheckGeneration(const BlobContent& content);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_GENERATION_RULES_H_
