// Readers of the parts of tokenizer.json, which refuse unsupported content by name.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_TOKENIZER_JSON_H_
#define FOVEA_TOOLS_CONVERT_TEXT_TOKENIZER_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "tools/base/json.h"
#include "tools/convert/text/model.h"

namespace fovea::tools {

// Each adds to the model.
void ReadNormalizer(const JsonView& part, TextModel* model);
void ReadPreTokenizer(const JsonView& part, TextModel* model);
// Call after the tokens and the pre-tokenizer have been read.
void ReadPostProcessor(const JsonView& part, TextModel* model);
void ReadDecoder(const JsonView& part, TextModel* model);

inline std::string TypeOf(const JsonView& part) { return part["type"].Text(""); }

template <typename Use>
void ForEach(const JsonView& list, const Use& use) {
  for (size_t i = 0; i < list.List().size(); ++i) use(list.At(i));
}

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_TOKENIZER_JSON_H_
