// Reader of bare unigram vocabularies ([[piece, score], ...]) with the rules of a model description.
#include <set>

#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {

TextModel ReadScoredPieces(const nlohmann::json& pieces, const nlohmann::json& description) {
  static const std::set<std::string> kKnown = {"type",       "file",          "normalizer", "prefix", "first_piece",
                                               "unknown_id", "unknown_score", "unknown",    "ties",   "max_length"};
  for (const auto& [key, value] : description.items()) {
    if (kKnown.count(key) == 0) Fail("tokenizer key \"{}\" is not known", key);
  }
  TextModel model;
  model.kind = text::ModelKind::kUnigram;
  const uint32_t first = description.value("first_piece", 0u);
  double least = 0;
  for (const auto& entry : pieces) {
    const uint32_t id = static_cast<uint32_t>(model.tokens.size());
    model.tokens.push_back({entry.at(0).get<std::string>(), entry.at(1).get<double>(), 0, id >= first});
    if (id < first) model.tokens[id].flags = text::kTokenSpecial;
    least = std::min(least, model.tokens[id].score);
  }
  model.unknown_id = description.value("unknown_id", 0u);
  model.unknown_score = description.value("unknown_score", least - 10.0);
  const std::string ties = description.value("ties", "earlier");
  if (ties == "later") model.flags |= text::kPreferLater;
  else if (ties != "earlier") Fail("tokenizer.ties \"{}\" is not known", ties);
  const std::string unknown = description.value("unknown", "single");
  if (unknown == "alone") model.flags |= text::kUnknownOnlyAlone;
  else if (unknown != "single") Fail("tokenizer.unknown \"{}\" is not known", unknown);
  const std::string normalizer = description.value("normalizer", "none");
  if (normalizer == "nfkc") {
    TextStep map{text::StepKind::kMap, text::kMapHangul};
    map.map = [](uint32_t code) { return Decompose(code, true); };
    model.normalizer = {map, {text::StepKind::kOrder, text::kOrderCompose}};
  } else if (normalizer != "none") {
    Fail("tokenizer.normalizer \"{}\" is not supported", normalizer);
  }
  const std::string prefix = description.value("prefix", "force");
  TextStep marks{text::StepKind::kMetaspace};
  marks.first = "\xe2\x96\x81";
  if (prefix == "force") marks.flags = text::kMetaspacePrependForce;
  else if (prefix == "always") marks.flags = text::kMetaspacePrependAlways;
  else if (prefix != "never") Fail("tokenizer.prefix \"{}\" is not known", prefix);
  model.pre_tokenizer = {marks};
  model.decoder = text::DecoderKind::kMetaspace;
  if (prefix == "never") model.decoder_flags = text::kDecodeKeepPrefix;
  model.max_length = description.value("max_length", 0u);
  return model;
}

}  // namespace fovea::tools
