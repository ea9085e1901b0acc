// Files beside tokenizer.json that change what it specifies, as the fast classes of the original library apply them.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_BESIDE_TOKENIZER_JSON_H_
#define FOVEA_TOOLS_CONVERT_TEXT_BESIDE_TOKENIZER_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "tools/base/json.h"
#include "tools/convert/findings.h"
#include "tools/convert/text/model.h"

namespace fovea::tools {

// Keys of tokenizer_config.json that a class compares with tokenizer.json when it is made, and that win if present:
// do_lower_case, strip_accents and tokenize_chinese_chars of BERT's classes (tokenization_bert_fast.py),
// add_prefix_space of the byte-level classes (tokenization_roberta_fast.py, tokenization_gpt2_fast.py). `file`: the
// content of tokenizer.json. `findings` may be null.
void ApplyKeysOfClass(const std::string& type, const JsonView& config, Json* file, Findings* findings);

// The tokens around texts: "[CLS] text [SEP]"; "none".
std::string EndsOf(const TextModel& model);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_BESIDE_TOKENIZER_JSON_H_
