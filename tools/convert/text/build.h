// The text section of a model directory.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_BUILD_H_
#define FOVEA_TOOLS_CONVERT_TEXT_BUILD_H_

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/base/json.h"
#include "tools/convert/text/model.h"

namespace fovea::tools {

struct TextOptions {
  TextOptions(uint32_t most = 0) : max_length(most) {}  // NOLINT: a number alone is the limit

  uint32_t max_length = 0;  // tokens that the model takes, 0 when unknown; the least of it and what files say is stored
  std::vector<std::string>* warnings = nullptr;  // where to say what is read in another way than the files ask for
};

// `description`: the "tokenizer" object of a model description, as README.md explains it, or null: then the directory's
// own files decide, by the class that it names (README.md); without any of them the result is empty. Throws Failure
// with the name of what is not supported.
std::vector<uint8_t> BuildTextSection(const std::filesystem::path& model_dir, const Json& description = {},
                                      const TextOptions& options = {});

// The same of a tokenizer that was read before.
std::vector<uint8_t> BuildTextSection(TextModel model, const TextOptions& options);

// A "tokenizer" object that means the directory's own files, with what other files say about texts.
bool IsDirectoryTokenizer(const Json& description);

// Whether a directory has a tokenizer's files that are found without a description.
bool HasTokenizer(const std::filesystem::path& model_dir);

// The chat template of a directory (chat_template.jinja, else tokenizer_config.json) as the metadata that
// tools/common/chat.h reads; nothing if it has none.
std::vector<std::pair<std::string, std::string>> ChatMetadataIn(const std::filesystem::path& model_dir);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_BUILD_H_
