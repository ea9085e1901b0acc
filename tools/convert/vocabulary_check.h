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

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_VOCABULARY_CHECK_H_
