// Reads bare unigram vocabularies ([[piece, score], ...]) with the rules of a model description.
#include <set>

#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {

TextModel ReadScoredPieces(const JsonView& pieces, const JsonView& description) {
  static const std::set<std::string> kKnown = {"type",       "file",          "normalizer", "prefix", "first_piece",
                                               "unknown_id", "unknown_score", "unknown",    "ties",   "max_length"};
  for (const auto& [key, value] : description.Object().items()) {
    if (kKnown.count(key) == 0) Fail("unknown tokenizer key \"{}\"", key);
  }
  TextModel model;
  model.kind = text::ModelKind::kUnigram;
  const uint32_t first = description["first_piece"].Number({}, 0);
  double least = 0;
  for (const Json& entry : pieces.List()) {
    const uint32_t id = static_cast<uint32_t>(model.tokens.size());
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
      Fail("{}[{}] must be a piece and its score, not {}", pieces.name(), id, Shown(entry));
    }
    model.tokens.push_back({entry[0].get<std::string>(), entry[1].get<double>(), 0, id >= first});
    if (id < first) model.tokens[id].flags = text::kTokenSpecial;
    least = std::min(least, model.tokens[id].score);
  }
  model.unknown_id = description["unknown_id"].Number({0, static_cast<int64_t>(model.tokens.size()) - 1}, 0);
  model.unknown_score = description["unknown_score"].Real({}, least - 10.0);
  const std::string ties = description["ties"].Text("earlier");
  if (ties == "later")
    model.flags |= text::kPreferLater;
  else if (ties != "earlier")
    Fail("tokenizer.ties \"{}\" is not known", ties);
  const std::string unknown = description["unknown"].Text("single");
  if (unknown == "alone")
    model.flags |= text::kUnknownOnlyAlone;
  else if (unknown != "single")
    Fail("tokenizer.unknown \"{}\" is not known", unknown);
  const std::string normalizer = description["normalizer"].Text("none");
  if (normalizer == "nfkc") {
    TextStep map{text::StepKind::kMap, text::kMapHangul};
    map.map = [](uint32_t code) { return Decompose(code, true); };
    model.normalizer = {map, {text::StepKind::kOrder, text::kOrderCompose}};
  } else if (normalizer != "none") {
    Fail("tokenizer.normalizer \"{}\" is not supported", normalizer);
  }
  const std::string prefix = description["prefix"].Text("force");
  TextStep marks{text::StepKind::kMetaspace};
  marks.first = "\xe2\x96\x81";
  if (prefix == "force")
    marks.flags = text::kMetaspacePrependForce;
  else if (prefix == "always")
    marks.flags = text::kMetaspacePrependAlways;
  else if (prefix != "never")
    Fail("tokenizer.prefix \"{}\" is not known", prefix);
  model.pre_tokenizer = {marks};
  model.decoder = text::DecoderKind::kMetaspace;
  if (prefix == "never") model.decoder_flags = text::kDecodeKeepPrefix;
  model.max_length = description["max_length"].Number({}, 0);
  return model;
}

}  // namespace fovea::tools
