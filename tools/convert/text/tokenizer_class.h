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
// A name of no particular class ("PreTrainedTokenizerFast", "TokenizersBackend") is kept; files other than
// tokenizer.json are then read as the class of ClassByType.
TokenizerClass TokenizerClassOf(const std::filesystem::path& model_dir, const JsonView& config);

// Whether a name is that of a base class.
bool IsBaseClass(const std::string& name);
// The class of config.json's model_type.
TokenizerClass ClassByType(const std::filesystem::path& model_dir);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_TOKENIZER_CLASS_H_
