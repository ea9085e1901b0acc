// Reader of vocabularies of single characters.
#include <set>

#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"

namespace fovea::tools {

// As a unigram model whose pieces are one character long, there is one way to take a text apart.
TextModel ReadCharacters(const nlohmann::json& file, const nlohmann::json& description) {
  static const std::set<std::string> kKnown = {"type", "file", "key", "pad_id", "unknown_id", "max_length"};
  for (const auto& [key, value] : description.items()) {
    if (kKnown.count(key) == 0) Fail("tokenizer key \"{}\" is not known", key);
  }
  const nlohmann::json& list = description.contains("key") ? file.at(description.at("key").get<std::string>()) : file;
  if (!list.is_array() || list.empty()) Fail("the characters are no list");
  TextModel model;
  model.kind = text::ModelKind::kUnigram;
  model.pad_id = description.value("pad_id", text::kNoId);
  model.unknown_id = description.value("unknown_id", model.pad_id);
  if (model.unknown_id >= list.size() || (model.pad_id != text::kNoId && model.pad_id >= list.size())) {
    Fail("pad_id or unknown_id is none of the {} characters", list.size());
  }
  for (const auto& entry : list) {
    const auto id = static_cast<uint32_t>(model.tokens.size());
    const auto piece = entry.get<std::string>();
    size_t characters = 0;
    for (const char c : piece) characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
    if (characters != 1) Fail("\"{}\" is not one character", piece);
    const bool pad = id == model.pad_id;
    model.tokens.push_back({piece, 0, static_cast<uint8_t>(pad ? text::kTokenSpecial : 0), !pad});
  }
  model.unknown_score = -10;
  model.max_length = description.value("max_length", 0u);
  return model;
}

}  // namespace fovea::tools
