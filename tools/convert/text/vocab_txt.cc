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

// The names of a class's special tokens, and the tokens around texts.
struct VocabularyClass {
  enum Ends { kBert, kMpnet, kFunnel, kSplinter };
  std::vector<const char*> names;
  const char *pad, *unknown, *open, *close, *mask;
  Ends ends = kBert;
};

const VocabularyClass* ClassOf(const std::string& type) {
  static const std::vector<VocabularyClass> kClasses = {
      {{"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "MobileBertTokenizer", "SqueezeBertTokenizer",
        "LayoutLMTokenizer", "LayoutLMv2Tokenizer", "ConvBertTokenizer", "DPRContextEncoderTokenizer",
        "DPRQuestionEncoderTokenizer", "DPRReaderTokenizer", "LxmertTokenizer", "RealmTokenizer", "RetriBertTokenizer"},
       "[PAD]",
       "[UNK]",
       "[CLS]",
       "[SEP]",
       "[MASK]"},
      {{"FunnelTokenizer"}, "<pad>", "<unk>", "<cls>", "<sep>", "<mask>", VocabularyClass::kFunnel},
      {{"MPNetTokenizer"}, "<pad>", "[UNK]", "<s>", "</s>", "<mask>", VocabularyClass::kMpnet},
      {{"SplinterTokenizer"}, "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", VocabularyClass::kSplinter},
  };
  for (const VocabularyClass& entry : kClasses) {
    for (const std::string name : entry.names) {
      if (type == name || type == name + "Fast") return &entry;
    }
  }
  return nullptr;
}

}  // namespace

TextModel ReadVocabTxt(const std::string& lines, const JsonView& config) {
  TextModel model;
  model.kind = text::ModelKind::kWordPiece;
  for (std::string& piece : LinesOf(lines, "vocab.txt")) model.tokens.push_back({std::move(piece), 0, 0, true});
  const std::string type = config["tokenizer_class"].Text("BertTokenizer");
  const VocabularyClass* const of = ClassOf(type);
  if (of == nullptr) Fail("tokenizer class \"{}\" with vocab.txt alone is not supported: add tokenizer.json", type);
  const auto add = [&](const char* key, const char* usual, bool needed, uint32_t flags = 0) {
    return AddSpecial(SpecialToken(config, key, usual), usual, needed, flags, key, &model);
  };
  const bool mpnet = of->ends == VocabularyClass::kMpnet;
  model.pad_id = add("pad_token", of->pad, false);
  model.unknown_id = add("unk_token", of->unknown, true);
  if (model.unknown_id == text::kNoId) Fail("vocab.txt: unk_token is required for unknown words");
  const uint32_t open = add("cls_token", of->open, true), close = add("sep_token", of->close, true);
  model.mask_id = add("mask_token", of->mask, false, mpnet ? text::kAddedLstrip : 0u);
  model.Wrap(open, close, mpnet, mpnet ? 0 : 1);
  if (of->ends == VocabularyClass::kFunnel && open != text::kNoId) {
    model.single[0].type = model.pair[0].type = 2;  // cls_token_type_id
  } else if (of->ends == VocabularyClass::kSplinter) {
    // The question of a pair ends in [QUESTION] and a full stop (build_inputs_with_special_tokens).
    const uint32_t question = add("question_token", "[QUESTION]", true);
    std::vector<text::TemplateItem>& pair = model.pair;
    const auto after = std::find_if(pair.begin(), pair.end(), [](const auto& item) { return item.kind == 1; }) + 1;
    pair.insert(after, {{0, question, 0}, {0, model.IdOf("."), 0}});
  }
  const bool lower = config["do_lower_case"].Flag(true);
  const bool strip = config["strip_accents"].Flag(lower);
  model.normalizer.push_back(BertNormalizerStep(true, config["tokenize_chinese_chars"].Flag(true), strip, lower));
  model.pre_tokenizer.push_back({text::StepKind::kSplitBert});
  model.decoder = text::DecoderKind::kWordPiece;
  model.decoder_flags = text::kDecodeCleanup;
  return model;
}

// EsmTokenizer: every token is found wherever it is in a text; what is left between them is unknown, one token for
// each word. Decoding puts a space between tokens.
TextModel ReadEsmVocabulary(const std::string& lines, const PublishedTokens& tokens) {
  TextModel model;
  model.kind = text::ModelKind::kWordPiece;
  model.max_word_chars = UINT32_MAX;
  for (std::string& piece : LinesOf(lines, "vocab.txt")) {
    if (piece.empty()) Fail("vocab.txt: line {} is empty", model.tokens.size() + 1);
    model.added.push_back({piece, static_cast<uint32_t>(model.tokens.size()), 0, false});
    model.tokens.push_back({std::move(piece), 0, 0, true});
  }
  const std::string unknown = tokens.Named("unk_token", "<unk>"), end = tokens.Named("eos_token", "<eos>");
  tokens.AddTo({{"unk_token", "<unk>"},
                {"cls_token", "<cls>"},
                {"pad_token", "<pad>"},
                {"mask_token", "<mask>"},
                {"eos_token", "<eos>"}},
               &model);
  model.unknown_id = model.IdOf(unknown);
  model.pre_tokenizer.push_back({text::StepKind::kSplitWhitespace});
  model.decoder = text::DecoderKind::kSteps;
  model.decoder_steps.push_back({text::StepKind::kDecodeJoin, 0, " "});
  const std::string open = tokens.Named("cls_token", "<cls>") + " $A " + end;
  SetTemplate(open, open + " $B " + end, &model);
  return model;
}

}  // namespace fovea::tools
