// The characters that the scores of a CTC model are for.
#ifndef FOVEA_TOOLS_CONVERT_ARCH_CTC_VOCABULARY_H_
#define FOVEA_TOOLS_CONVERT_ARCH_CTC_VOCABULARY_H_

#include "tools/convert/arch/architecture.h"

namespace fovea::tools {

// Writes metadata label.N, ctc.blank, ctc.delimiter and ctc.clean_up for the given number of scores, as
// Wav2Vec2CTCTokenizer reads vocab.json, tokenizer_config.json, special_tokens_map.json and added_tokens.json. Nothing
// where there is no vocab.json.
void DescribeCtcVocabulary(const Checkpoint& checkpoint, uint32_t scores, Description& description);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_ARCH_CTC_VOCABULARY_H_
