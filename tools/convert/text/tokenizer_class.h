// Determines the tokenizer class of the original library for a directory.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_TOKENIZER_CLASS_H_
#define FOVEA_TOOLS_CONVERT_TEXT_TOKENIZER_CLASS_H_

#include <filesystem>
#include <string>

#include "tools/base/json.h"

namespace fovea::tools {

struct TokenizerClass {
  std::string name;    // "LlamaTokenizer": without the "Fast" at its end; empty if nothing names one
  std::string where;   // the source: "config.json: model_type llama"
  bool named = false;  // a file names it
};

// In the order of AutoTokenizer (tokenization_auto.py): tokenizer_config.json's tokenizer_class, config.json's, and the
// class of config.json's model_type. `config`: tokenizer_config.json or an empty object.
TokenizerClass TokenizerClassOf(const std::filesystem::path& model_dir, const JsonView& config);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_TOKENIZER_CLASS_H_
