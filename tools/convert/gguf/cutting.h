// How texts are cut into words before byte pairs are joined, by the names that GGUF files have for it.
#ifndef FOVEA_TOOLS_CONVERT_GGUF_CUTTING_H_
#define FOVEA_TOOLS_CONVERT_GGUF_CUTTING_H_

#include <nlohmann/json.hpp>
#include <string>

#include "tools/base/json.h"

namespace fovea::tools {

struct WordCutting {
  Json normalizer, pre_tokenizer;  // as in tokenizer.json
  bool ignore_merges = false;      // a word that is a piece is that piece
  bool begins = false;             // texts begin with a token of their own, where the file does not say
};

// `name`: tokenizer.ggml.pre. Fails, with `where` in front, at a name that is not known.
WordCutting WordCuttingOf(const std::string& name, const std::string& where);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_GGUF_CUTTING_H_
