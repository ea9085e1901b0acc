// Reader of vocab.txt, for directories without tokenizer.json. Follows the classes that tokenizer_config.json names.
#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {

std::string SpecialToken(const JsonView& config, const char* key, const char* fallback) {
  const JsonView token = config[key];
  return token.json().is_object() ? token["content"].Bytes() : token.Bytes(fallback);
}

std::vector<std::string> LinesOf(const std::string& text, const std::string& where) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!IsUtf8(line)) Fail("{}: line {} is not UTF-8: {}", where, lines.size() + 1, Shortened(line));
    lines.push_back(std::move(line));
    begin = end + 1;
  }
  return lines;
}

TextModel ReadVocabTxt(const std::string& lines, const JsonView& config) {
  TextModel model;
  model.kind = text::ModelKind::kWordPiece;
  for (std::string& piece : LinesOf(lines, "vocab.txt")) model.tokens.push_back({std::move(piece), 0, 0, true});
  const std::string type = config["tokenizer_class"].Text("BertTokenizer");
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
  const bool lower = config["do_lower_case"].Flag(true);
  const bool strip = config["strip_accents"].Flag(lower);
  model.normalizer.push_back(BertNormalizerStep(true, config["tokenize_chinese_chars"].Flag(true), strip, lower));
  model.pre_tokenizer.push_back({text::StepKind::kSplitBert});
  model.decoder = text::DecoderKind::kWordPiece;
  model.decoder_flags = text::kDecodeCleanup;
  return model;
}

}  // namespace fovea::tools
