// Pre-tokenizers of byte-pair encoding by the names that GGUF files use.
#ifndef FOVEA_TOOLS_CONVERT_GGUF_CUTTING_H_
#define FOVEA_TOOLS_CONVERT_GGUF_CUTTING_H_

#include <nlohmann/json.hpp>
#include <string>

#include "tools/base/json.h"

namespace fovea::tools {

struct WordCutting {
  Json normalizer, pre_tokenizer;  // as in tokenizer.json
  bool ignore_merges = false;      // a word that is a piece is not split
  bool begins = false;             // texts begin with a BOS token, if the file does not specify it
};

// `name`: tokenizer.ggml.pre. Fails, with `where` as prefix, for an unknown name.
WordCutting WordCuttingOf(const std::string& name, const std::string& where);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_GGUF_CUTTING_H_
