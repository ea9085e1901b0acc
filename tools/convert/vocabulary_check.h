// Whether a tokenizer is the model's.
#ifndef FOVEA_TOOLS_CONVERT_VOCABULARY_CHECK_H_
#define FOVEA_TOOLS_CONVERT_VOCABULARY_CHECK_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "tools/convert/description.h"

namespace fovea::tools {

// Fails if a text section has tokens that the model's table of embeddings has no row for; where only tokens that were
// added to the vocabulary lie beyond it, as in some published directories, it is a warning. A smaller vocabulary is
// none: tables are often padded.
void CheckVocabulary(const std::vector<uint8_t>& text, const Description& description,
                     std::vector<std::string>& warnings);

// Texts that are filled up to a fixed length (metadata "pad_to") end in the tokenizer's padding, as the original
// processor has it: it becomes metadata "pad_token_id", where config.json may have another.
void TakePadding(const std::vector<uint8_t>& text, std::vector<std::pair<std::string, std::string>>& metadata);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_VOCABULARY_CHECK_H_
