// The text section of a model directory.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_BUILD_H_
#define FOVEA_TOOLS_CONVERT_TEXT_BUILD_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/base/json.h"
#include "tools/convert/text/model.h"

namespace fovea::tools {

// `description`: the "tokenizer" object of a model description, as README.md explains it, or null: then the directory's
// own files decide (tokenizer.json, else vocab.txt, else vocab.json with merges.txt, else a SentencePiece *.model);
// without any of them the result is empty. `max_length`: tokens that the model takes, 0 when unknown; the smaller of it
// and what the tokenizer's files say is stored. Throws Failure with the name of whatever is not supported.
std::vector<uint8_t> BuildTextSection(const std::filesystem::path& model_dir, const Json& description = {},
                                      uint32_t max_length = 0);

// The same of a tokenizer that was read before.
std::vector<uint8_t> BuildTextSection(TextModel model, uint32_t max_length);

// Whether a directory has a tokenizer's files that are found without a description.
bool HasTokenizer(const std::filesystem::path& model_dir);

// The chat template of a directory (chat_template.jinja, else tokenizer_config.json) as the metadata that
// tools/common/chat.h reads; nothing if it has none.
std::vector<std::pair<std::string, std::string>> ChatMetadataIn(const std::filesystem::path& model_dir);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_BUILD_H_
