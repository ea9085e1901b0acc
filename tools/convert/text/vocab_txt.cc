// Reader of vocab.txt, for directories without tokenizer.json. Follows the classes that tokenizer_config.json names.
#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"

namespace fovea::tools {

using nlohmann::json;

std::string SpecialToken(const json& config, const char* key, const char* fallback) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return fallback;
  return found->is_object() ? found->at("content").get<std::string>() : found->get<std::string>();
}

TextModel ReadVocabTxt(const std::string& lines, const json& config) {
  TextModel model;
  model.kind = text::ModelKind::kWordPiece;
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    std::string piece = lines.substr(begin, end - begin);
    if (!piece.empty() && piece.back() == '\r') piece.pop_back();
    model.tokens.push_back({std::move(piece), 0, 0, true});
    begin = end + 1;
  }
  const std::string type = config.value("tokenizer_class", "BertTokenizer");
  const bool mpnet = type.rfind("MPNet", 0) == 0;
  const bool bert = type.rfind("Bert", 0) == 0 || type.rfind("DistilBert", 0) == 0 || type.rfind("Electra", 0) == 0 ||
                    type.rfind("MobileBert", 0) == 0;
  if (!mpnet && !bert) Fail("tokenizer class \"{}\" with vocab.txt alone is not supported: add tokenizer.json", type);
  const std::string open = SpecialToken(config, "cls_token", mpnet ? "<s>" : "[CLS]");
  const std::string close = SpecialToken(config, "sep_token", mpnet ? "</s>" : "[SEP]");
  const std::string unknown = SpecialToken(config, "unk_token", "[UNK]");
  const std::string pad = SpecialToken(config, "pad_token", mpnet ? "<pad>" : "[PAD]");
  const std::string mask = SpecialToken(config, "mask_token", mpnet ? "<mask>" : "[MASK]");
  for (const std::string& special : {pad, unknown, open, close, mask}) {
    const uint32_t id = model.IdOf(special);
    model.tokens[id].flags |= text::kTokenSpecial;
    const uint32_t strip = mpnet && special == mask ? text::kAddedLstrip : 0u;
    model.added.push_back({special, id, text::kAddedSpecial | strip, false});
  }
  model.unknown_id = model.IdOf(unknown);
  model.pad_id = model.IdOf(pad);
  model.mask_id = model.IdOf(mask);
  model.Wrap(model.IdOf(open), model.IdOf(close), mpnet, mpnet ? 0 : 1);
  const bool lower = config.value("do_lower_case", true);
  const auto accents = config.find("strip_accents");
  const bool strip = accents == config.end() || accents->is_null() ? lower : accents->get<bool>();
  model.normalizer.push_back(BertNormalizerStep(true, config.value("tokenize_chinese_chars", true), strip, lower));
  model.pre_tokenizer.push_back({text::StepKind::kSplitBert});
  model.decoder = text::DecoderKind::kWordPiece;
  model.decoder_flags = text::kDecodeCleanup;
  return model;
}

}  // namespace fovea::tools
