// Reader of vocabularies of single characters.
#include <set>

#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"

namespace fovea::tools {

// Pieces of one character that nothing joins. Names in angle brackets are tokens that are not found in text.
TextModel ReadCharacters(const JsonView& file, const JsonView& description) {
  static const std::set<std::string> kKnown = {"type", "file", "key", "pad_id", "unknown_id", "unknown", "max_length"};
  for (const auto& [key, value] : description.Object().items()) {
    if (kKnown.count(key) == 0) Fail("tokenizer key \"{}\" is not known", key);
  }
  const JsonView list = description["key"].IsNull() ? file : file[description["key"].Text().c_str()];
  if (list.List().empty()) Fail("{} has no characters", list.name());
  TextModel model;
  model.kind = text::ModelKind::kBpe;
  model.continuation = "";
  const WholeRange known = {0, static_cast<int64_t>(list.json().size()) - 1};
  model.pad_id = description["pad_id"].Number(known, text::kNoId);
  model.unknown_id = description["unknown_id"].Number(known, model.pad_id);
  if (model.unknown_id == text::kNoId) Fail("{}: neither pad_id nor unknown_id is given", description.name());
  for (size_t i = 0; i < list.json().size(); ++i) {
    const auto id = static_cast<uint32_t>(i);
    const std::string piece = list.At(i).Bytes();
    size_t characters = 0;
    for (const char c : piece) characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
    const bool name = characters > 2 && piece.front() == '<' && piece.back() == '>';
    if (characters != 1 && !name) Fail("\"{}\" is not one character", piece);
    const bool special = name || id == model.pad_id;
    model.tokens.push_back({piece, 0, static_cast<uint8_t>(special ? text::kTokenSpecial : 0), !special});
  }
  const std::string unknown = description["unknown"].Text("run");
  if (unknown != "run" && unknown != "each") Fail("tokenizer.unknown \"{}\" is not known", unknown);
  model.flags = text::kCharacters | (unknown == "run" ? text::kFuseUnknown : 0u);
  model.max_length = description["max_length"].Number({}, 0);
  return model;
}

}  // namespace fovea::tools
