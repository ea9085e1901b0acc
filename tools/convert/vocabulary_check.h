// Checks that a tokenizer belongs to the model.
#ifndef FOVEA_TOOLS_CONVERT_VOCABULARY_CHECK_H_
#define FOVEA_TOOLS_CONVERT_VOCABULARY_CHECK_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "tools/convert/description.h"

namespace fovea::tools {

// Rows of the embedding table of the first program that reads tokens; 0: none.
uint32_t RowsOfTokens(const Description& description);

// Fails if a text section has tokens without a row in the model's embedding table; only a warning if all of them were
// added to the vocabulary, as in some published directories. A smaller vocabulary is accepted: tables are often padded.
void CheckVocabulary(const std::vector<uint8_t>& text, const Description& description,
                     std::vector<std::string>& warnings);

// Texts that are padded to a fixed length (metadata "pad_to") use the tokenizer's padding, as in the original
// processor: it becomes metadata "pad_token_id" in place of that of config.json.
void TakePadding(const std::vector<uint8_t>& text, std::vector<std::pair<std::string, std::string>>& metadata);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_VOCABULARY_CHECK_H_
