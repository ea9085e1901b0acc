// Readers of the tokenizer files that model hubs publish. Each refuses, by name, what it does not know.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_READERS_H_
#define FOVEA_TOOLS_CONVERT_TEXT_READERS_H_

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/convert/text/model.h"

namespace fovea::tools {

// tokenizer.json of Hugging Face tokenizers.
TextModel ReadTokenizerJson(const nlohmann::json& json);

// vocab.txt: one piece a line. `config`: tokenizer_config.json or an empty object.
TextModel ReadVocabTxt(const std::string& lines, const nlohmann::json& config);

// vocab.json and merges.txt: byte-level byte-pair encoding. `config` as above.
TextModel ReadMergesTxt(const nlohmann::json& vocabulary, const std::string& lines, const nlohmann::json& config);

// A SentencePiece model file, with SentencePiece's own ids and rules.
TextModel ReadSentencePiece(const std::string& bytes);

// Pairs [piece, score] in a JSON array, as a model description explains them (README.md).
TextModel ReadScoredPieces(const nlohmann::json& pieces, const nlohmann::json& description);

// Characters in a JSON array, or in one that a member of an object is: each is a token of its own.
TextModel ReadCharacters(const nlohmann::json& file, const nlohmann::json& description);

// What BertNormalizer does, as one map.
TextStep BertNormalizerStep(bool clean_text, bool space_cjk, bool strip_accents, bool lower_case);

// A special token of tokenizer_config.json: a string or an object with `content`.
std::string SpecialToken(const nlohmann::json& config, const char* key, const char* fallback);

std::string ReadFile(const std::filesystem::path& path);
nlohmann::json ReadJson(const std::filesystem::path& path);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_READERS_H_
