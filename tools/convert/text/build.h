// Builds the text section for a model directory.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_BUILD_H_
#define FOVEA_TOOLS_CONVERT_TEXT_BUILD_H_

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/base/json.h"
#include "tools/convert/findings.h"
#include "tools/convert/text/model.h"

namespace fovea::tools {

struct TextOptions {
  TextOptions(uint32_t most = 0) : max_length(most) {}  // NOLINT: a number alone is the limit

  uint32_t max_length =
      0;  // the model's maximum number of tokens, 0 if unknown; the minimum of it and the files' limits is stored
  uint32_t rows = 0;  // rows of the model's table of embeddings, 0 if unknown; tokens around texts have lower ids
  std::vector<std::string>* warnings =
      nullptr;                   // receives parts of the files that are read differently than they specify
  Findings* findings = nullptr;  // receives the files that were read, limits and special tokens
  bool reports_limit = true;     // false: another file sets the limit
  bool generates = false;        // the model writes texts
  std::vector<std::pair<std::string, std::string>>* metadata = nullptr;  // receives text.clean_up
};

// `description`: the "tokenizer" object of a model description (README.md), or null: then the directory's files decide,
// by the class that it names; without tokenizer files the result is empty. Throws Failure with the name of an
// unsupported part.
std::vector<uint8_t> BuildTextSection(const std::filesystem::path& model_dir, const Json& description = {},
                                      const TextOptions& options = {});

// Same for a tokenizer that has already been read.
std::vector<uint8_t> BuildTextSection(TextModel model, const TextOptions& options);

// Whether a "tokenizer" object refers to the directory's files, including what other files specify about texts.
bool IsDirectoryTokenizer(const Json& description);

// Whether a directory has tokenizer files that are found without a description.
bool HasTokenizer(const std::filesystem::path& model_dir);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_BUILD_H_
