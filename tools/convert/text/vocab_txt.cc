// Reads vocab.txt, for directories without tokenizer.json, by the class in tokenizer_config.json.
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

namespace {

// An optional token with its usual name may be missing; "" is none.
uint32_t AddSpecial(const std::string& token, const std::string& usual, bool needed, uint32_t flags, const char* key,
                    TextModel* model) {
  if (token.empty()) return text::kNoId;
  const auto has = [&](const TextToken& known) { return known.piece == token; };
  const auto found = std::find_if(model->tokens.begin(), model->tokens.end(), has);
  if (found == model->tokens.end()) {
    if (needed || token != usual) Fail("vocab.txt has no \"{}\" ({}; \"\": none)", token, key);
    return text::kNoId;
  }
  const auto id = static_cast<uint32_t>(found - model->tokens.begin());
  found->flags |= text::kTokenSpecial;
  model->added.push_back({token, id, text::kAddedSpecial | flags, false});
  return id;
}

// With or without "Fast" at its end.
bool IsClass(const std::string& type, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return type == name || type == name + "Fast"; });
}

}  // namespace

TextModel ReadVocabTxt(const std::string& lines, const JsonView& config) {
  TextModel model;
  model.kind = text::ModelKind::kWordPiece;
  for (std::string& piece : LinesOf(lines, "vocab.txt")) model.tokens.push_back({std::move(piece), 0, 0, true});
  const std::string type = config["tokenizer_class"].Text("BertTokenizer");
  const bool mpnet = IsClass(type, {"MPNetTokenizer"});
  const bool bert = IsClass(type, {"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "MobileBertTokenizer",
                                   "SqueezeBertTokenizer", "LayoutLMTokenizer", "ConvBertTokenizer"});
  if (!mpnet && !bert) Fail("tokenizer class \"{}\" with vocab.txt alone is not supported: add tokenizer.json", type);
  const auto add = [&](const char* key, const char* usual, bool needed, uint32_t flags = 0) {
    return AddSpecial(SpecialToken(config, key, usual), usual, needed, flags, key, &model);
  };
  model.pad_id = add("pad_token", mpnet ? "<pad>" : "[PAD]", false);
  model.unknown_id = add("unk_token", "[UNK]", true);
  if (model.unknown_id == text::kNoId) Fail("vocab.txt: unk_token is required for unknown words");
  const uint32_t open = add("cls_token", mpnet ? "<s>" : "[CLS]", true);
  const uint32_t close = add("sep_token", mpnet ? "</s>" : "[SEP]", true);
  model.mask_id = add("mask_token", mpnet ? "<mask>" : "[MASK]", false, mpnet ? text::kAddedLstrip : 0u);
  model.Wrap(open, close, mpnet, mpnet ? 0 : 1);
  const bool lower = config["do_lower_case"].Flag(true);
  const bool strip = config["strip_accents"].Flag(lower);
  model.normalizer.push_back(BertNormalizerStep(true, config["tokenize_chinese_chars"].Flag(true), strip, lower));
  model.pre_tokenizer.push_back({text::StepKind::kSplitBert});
  model.decoder = text::DecoderKind::kWordPiece;
  model.decoder_flags = text::kDecodeCleanup;
  return model;
}

}  // namespace fovea::tools
