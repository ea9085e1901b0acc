// Reader of tokenizer.json.
#include <algorithm>
#include <cmath>

#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {
namespace {

using text::StepKind;

std::string TypeOf(const JsonView& part) { return part["type"].Text(""); }

std::string DecodeBase64(const std::string& text) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    if (c == '=') break;
    uint32_t value = 0;
    if (c >= 'A' && c <= 'Z')
      value = c - 'A';
    else if (c >= 'a' && c <= 'z')
      value = c - 'a' + 26;
    else if (c >= '0' && c <= '9')
      value = c - '0' + 52;
    else if (c == '+')
      value = 62;
    else if (c == '/')
      value = 63;
    else
      Fail("precompiled_charsmap is not base64");
    bits = bits << 6 | value;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<char>(bits >> count & 0xff));
    }
  }
  return bytes;
}

// The double that the reference implementation reads from the score's decimal digits: its parser divides the rounded
// digits by a power of ten, which may miss the nearest double by one place. Only ties between paths show it.
double ReferenceScore(double score) {
  const std::string text = fmt::format("{}", score);
  const size_t point = text.find('.');
  if (point == std::string::npos || text.find('e') != std::string::npos) return score;
  const bool negative = text[0] == '-';
  std::string digits = text.substr(negative ? 1 : 0);
  digits.erase(digits.find('.'), 1);
  const double value =
      static_cast<double>(std::stoull(digits)) / std::pow(10.0, static_cast<double>(text.size() - point - 1));
  return negative ? -value : value;
}

TextStep MapStep(std::function<std::string(uint32_t)> map, uint32_t flags = 0) {
  TextStep step{StepKind::kMap, flags};
  step.map = std::move(map);
  return step;
}

class Reader {
 public:
  explicit Reader(const JsonView& file) : file_(file), added_(file["added_tokens"]) {}

  TextModel Run() {
    ReadModel(file_["model"]);
    if (!added_.IsNull()) ReadAddedTokens();
    ReadNormalizer(file_["normalizer"]);
    ReadPreTokenizer(file_["pre_tokenizer"]);
    ReadPostProcessor(file_["post_processor"]);
    ReadDecoder(file_["decoder"]);
    const JsonView truncation = file_["truncation"];
    if (!truncation.IsNull()) model_.max_length = truncation["max_length"].Number({}, 0);
    return std::move(model_);
  }

 private:
  // Ids may leave gaps, but tables follow the number of tokens: an id is at most a little above twice that.
  void CountTokens(size_t pieces) {
    constexpr int64_t kGaps = 1 << 16;
    const size_t added = added_.IsNull() ? 0 : added_.List().size();
    ids_.most = 2 * static_cast<int64_t>(pieces + added) + kGaps;
  }

  // The place of a piece of the model's own, of which an id has one.
  TextToken& Place(const Json& id, const JsonView& vocabulary, const std::string& piece) {
    const auto name = [&] { return fmt::format("{}: the id of \"{}\"", vocabulary.name(), piece); };
    TextToken& token = model_.At(static_cast<uint32_t>(WholeNumber(id, name(), ids_)));
    if (token.matches) Fail("{} is that of \"{}\" as well", name(), token.piece);
    return token;
  }

  void ReadModel(const JsonView& model) {
    const std::string type = TypeOf(model);
    if (type == "WordPiece") {
      ReadWordPiece(model);
    } else if (type == "Unigram") {
      ReadUnigram(model);
    } else if (type == "BPE") {
      ReadBytePair(model);
    } else {
      Fail("{}: type \"{}\" is not supported", model.name(), type);
    }
  }

  void ReadWordPiece(const JsonView& model) {
    model_.kind = text::ModelKind::kWordPiece;
    const JsonView vocabulary = model["vocab"];
    CountTokens(vocabulary.Object().size());
    for (const auto& [piece, id] : vocabulary.json().items()) Place(id, vocabulary, piece) = {piece, 0, 0, true};
    model_.unknown_id = model_.IdOf(model["unk_token"].Bytes("[UNK]"));
    model_.continuation = model["continuing_subword_prefix"].Bytes("##");
    model_.max_word_chars = model["max_input_chars_per_word"].Number({}, 100);
  }

  void ReadUnigram(const JsonView& model) {
    model_.kind = text::ModelKind::kUnigram;
    if (model["byte_fallback"].Flag(false)) Fail("byte_fallback of a Unigram model is not supported");
    if (model["unk_id"].IsNull()) Fail("a Unigram model without unk_id is not supported");
    const JsonView vocabulary = model["vocab"];
    CountTokens(vocabulary.List().size());
    double least = 0;
    for (const Json& entry : vocabulary.json()) {
      const auto id = static_cast<uint32_t>(model_.tokens.size());
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
        Fail("{}[{}] must be a piece and its score, not {}", vocabulary.name(), id, Shown(entry));
      }
      const double score = ReferenceScore(entry[1].get<double>());
      model_.At(id) = {entry[0].get<std::string>(), score, 0, true};
      least = std::min(least, score);
    }
    model_.unknown_id = model["unk_id"].Number({0, static_cast<int64_t>(model_.tokens.size()) - 1});
    model_.unknown_score = least - 10.0;
  }

  void ReadBytePair(const JsonView& model) {
    model_.kind = text::ModelKind::kBpe;
    if (model["byte_fallback"].Flag(false)) Fail("byte_fallback of a BPE model is not supported");
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!model[key].Bytes("").empty()) Fail("{} of a BPE model is not supported", key);
    }
    if (model["dropout"].Real({}, 0) != 0) Fail("dropout of a BPE model is not supported");
    if (model["ignore_merges"].Flag(false)) model_.flags |= text::kIgnoreMerges;
    const JsonView vocabulary = model["vocab"];
    CountTokens(vocabulary.Object().size());
    std::map<std::string, uint32_t> ids;
    for (const auto& [piece, id] : vocabulary.json().items()) {
      Place(id, vocabulary, piece) = {PieceBytes(piece), 0, 0, true};
      ids[piece] = id.get<uint32_t>();
    }
    if (!model["unk_token"].IsNull()) model_.unknown_id = IdIn(ids, model["unk_token"].Bytes());
    ReadMerges(model["merges"], ids);
  }

  static uint32_t IdIn(const std::map<std::string, uint32_t>& ids, const std::string& piece) {
    const auto found = ids.find(piece);
    if (found == ids.end()) Fail("a merge names \"{}\", which is not in the vocabulary", piece);
    return found->second;
  }

  void ReadMerges(const JsonView& list, const std::map<std::string, uint32_t>& ids) {
    std::map<std::pair<uint32_t, uint32_t>, text::Merge> merges;  // of a repeated pair the last one counts
    uint32_t rank = 0;
    for (const Json& merge : list.List()) {
      std::string left, right;
      if (merge.is_string()) {
        const auto& both = merge.get_ref<const std::string&>();
        const size_t space = both.find(' ');
        if (space == std::string::npos) Fail("merge \"{}\" is not a pair", both);
        left = both.substr(0, space);
        right = both.substr(space + 1);
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        left = merge[0];
        right = merge[1];
      } else {
        Fail("{}[{}] must be a pair of pieces, not {}", list.name(), rank, Shown(merge));
      }
      const text::Merge record = {IdIn(ids, left), IdIn(ids, right), rank++, IdIn(ids, left + right)};
      merges[{record.left, record.right}] = record;
    }
    for (const auto& [pair, merge] : merges) model_.merges.push_back(merge);
  }

  // The bytes that the printable characters of a byte-level piece stand for; a piece with others stands for itself.
  static std::string PieceBytes(const std::string& piece) {
    static const std::map<uint32_t, uint8_t> kBytes = [] {
      std::map<uint32_t, uint8_t> bytes;
      uint32_t other = 256;
      for (uint32_t b = 0; b < 256; ++b) {
        const bool printable = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
        bytes[printable ? b : other++] = static_cast<uint8_t>(b);
      }
      return bytes;
    }();
    std::string result;
    for (uint32_t code : CodePoints(piece)) {
      const auto found = kBytes.find(code);
      if (found == kBytes.end()) return piece;
      result.push_back(static_cast<char>(found->second));
    }
    return result;
  }

  void ReadAddedTokens() {
    for (size_t i = 0; i < added_.List().size(); ++i) {
      const JsonView token = added_.At(i);
      AddedToken added;
      added.content = token["content"].Bytes();
      added.id = token["id"].Number(ids_);
      added.normalized = token["normalized"].Flag(false);
      if (token["lstrip"].Flag(false)) added.flags |= text::kAddedLstrip;
      if (token["rstrip"].Flag(false)) added.flags |= text::kAddedRstrip;
      if (token["single_word"].Flag(false)) added.flags |= text::kAddedSingleWord;
      if (token["special"].Flag(false)) added.flags |= text::kAddedSpecial;
      TextToken& known = model_.At(added.id);
      const bool bytes = model_.kind == text::ModelKind::kBpe;
      if (!known.piece.empty() && known.piece != added.content &&
          !(bytes && known.piece == PieceBytes(added.content))) {
        Fail("added token \"{}\" has the id of \"{}\"", added.content, known.piece);
      }
      known.piece = bytes ? PieceBytes(added.content) : added.content;
      if ((added.flags & text::kAddedSpecial) != 0) known.flags |= text::kTokenSpecial;
      if (added.content == "[PAD]" || added.content == "<pad>") model_.pad_id = added.id;
      if (added.content == "[MASK]" || added.content == "<mask>") model_.mask_id = added.id;
      model_.added.push_back(std::move(added));
    }
  }

  void ReadNormalizer(const JsonView& part) {
    if (part.IsNull()) return;
    std::vector<TextStep>& steps = model_.normalizer;
    const std::string type = TypeOf(part);
    if (type == "Sequence") {
      ForEach(part["normalizers"], [&](const JsonView& inner) { ReadNormalizer(inner); });
    } else if (type == "BertNormalizer") {
      const bool lower = part["lowercase"].Flag(true);
      steps.push_back(BertNormalizerStep(part["clean_text"].Flag(true), part["handle_chinese_chars"].Flag(true),
                                         part["strip_accents"].Flag(lower), lower));
    } else if (type == "Lowercase") {
      steps.push_back(MapStep(LowerCase));
    } else if (type == "StripAccents") {
      steps.push_back(MapStep([](uint32_t code) { return IsMark(code) ? std::string() : Utf8(code); }));
    } else if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
      const bool compatibility = type[2] == 'K';
      steps.push_back(MapStep([=](uint32_t code) { return Decompose(code, compatibility); }, text::kMapHangul));
      steps.push_back({StepKind::kOrder, type.back() == 'C' ? text::kOrderCompose : 0u});
    } else if (type == "Precompiled") {
      if (!model_.charsmap.empty()) Fail("more than one Precompiled normalizer is not supported");
      model_.charsmap = DecodeBase64(part["precompiled_charsmap"].Bytes());
      if (!model_.charsmap.empty()) steps.push_back({StepKind::kCharsmapGraphemes});
    } else if (type == "Strip") {
      const uint32_t flags = (part["strip_left"].Flag(true) ? text::kStripLeft : 0u) |
                             (part["strip_right"].Flag(true) ? text::kStripRight : 0u);
      steps.push_back({StepKind::kStrip, flags});
    } else if (type == "Replace") {
      ReadReplace(part);
    } else if (type == "Prepend") {
      steps.push_back({StepKind::kPrepend, 0, part["prepend"].Bytes()});
    } else {
      Fail("normalizer type \"{}\" is not supported", type);
    }
  }

  // Literal patterns, and runs of one character such as " {2,}".
  void ReadReplace(const JsonView& part) {
    const JsonView pattern = part["pattern"];
    TextStep step{StepKind::kReplace};
    step.second = part["content"].Bytes();
    if (!pattern["String"].IsNull()) {
      step.first = pattern["String"].Bytes();
    } else {
      const std::string regex = pattern["Regex"].Bytes("");
      if (regex.size() == 5 && regex.substr(1, 1) == "{" && regex.substr(3) == ",}" && regex[0] == ' ' &&
          regex[2] >= '1' && regex[2] <= '9') {
        step.first = " ";
        step.flags = static_cast<uint32_t>(regex[2] - '0');
      } else {
        Fail("pattern \"{}\" of a Replace normalizer is not supported", regex);
      }
    }
    if (step.first.empty()) Fail("a Replace normalizer has an empty pattern");
    model_.normalizer.push_back(std::move(step));
  }

  void ReadPreTokenizer(const JsonView& part) {
    if (part.IsNull()) return;
    const std::string type = TypeOf(part);
    if (type == "Sequence") {
      ForEach(part["pretokenizers"], [&](const JsonView& inner) { ReadPreTokenizer(inner); });
    } else if (type == "BertPreTokenizer") {
      model_.pre_tokenizer.push_back({StepKind::kSplitBert});
    } else if (type == "WhitespaceSplit") {
      model_.pre_tokenizer.push_back({StepKind::kSplitWhitespace});
    } else if (type == "Metaspace") {
      TextStep step{StepKind::kMetaspace};
      step.first = part["replacement"].Bytes("\xe2\x96\x81");
      const std::string scheme = part["prepend_scheme"].Bytes(part["add_prefix_space"].Flag(true) ? "always" : "never");
      if (scheme == "always")
        step.flags |= text::kMetaspacePrependAlways;
      else if (scheme == "first")
        step.flags |= text::kMetaspacePrependFirst;
      else if (scheme != "never")
        Fail("prepend_scheme \"{}\" of Metaspace is not supported", scheme);
      if (part["split"].Flag(true)) step.flags |= text::kMetaspaceSplit;
      model_.pre_tokenizer.push_back(std::move(step));
    } else if (type == "ByteLevel") {
      if (!part["use_regex"].Flag(true)) Fail("a ByteLevel pre-tokenizer without use_regex is not supported");
      model_.pre_tokenizer.push_back(
          {StepKind::kByteLevel, part["add_prefix_space"].Flag(true) ? text::kByteLevelPrefixSpace : 0u});
    } else {
      Fail("pre-tokenizer type \"{}\" is not supported", type);
    }
  }

  void ReadPostProcessor(const JsonView& part) {
    if (part.IsNull()) return;
    const std::string type = TypeOf(part);
    if (type == "TemplateProcessing") {
      model_.single = ReadTemplate(part["single"], part["special_tokens"]);
      model_.pair = ReadTemplate(part["pair"], part["special_tokens"]);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      const bool roberta = type == "RobertaProcessing";
      const uint32_t open = part["cls"].At(1).Number(Known()), close = part["sep"].At(1).Number(Known());
      model_.Wrap(open, close, roberta, roberta ? 0 : 1);
      if (roberta) ReadTrim(part);
    } else if (type == "ByteLevel") {
      ReadTrim(part);
    } else if (type == "Sequence") {
      ForEach(part["processors"], [&](const JsonView& inner) { ReadPostProcessor(inner); });
    } else {
      Fail("post-processor type \"{}\" is not supported", type);
    }
  }

  // Post-processors of byte-level tokenizers trim ranges.
  void ReadTrim(const JsonView& part) {
    for (TextStep& step : model_.pre_tokenizer) {
      if (step.kind != StepKind::kByteLevel || !part["trim_offsets"].Flag(true)) continue;
      step.flags |= text::kByteLevelTrim | (part["add_prefix_space"].Flag(true) ? text::kByteLevelTrimPrefix : 0u);
    }
  }

  std::vector<text::TemplateItem> ReadTemplate(const JsonView& items, const JsonView& specials) const {
    std::vector<text::TemplateItem> result;
    const auto add = [&](const text::TemplateItem& item) {
      if (result.size() == text::kMaxTemplate) Fail("{} has more than {} parts", items.name(), text::kMaxTemplate);
      result.push_back(item);
    };
    ForEach(items, [&](const JsonView& item) {
      const JsonView sequence = item["Sequence"], special = item["SpecialToken"];
      if (!sequence.IsNull()) {
        return add({sequence["id"].Text() == "A" ? 1u : 2u, 0, sequence["type_id"].Number({}, 0)});
      }
      const uint32_t type = special["type_id"].Number({}, 0);
      ForEach(specials[special["id"].Text().c_str()]["ids"], [&](const JsonView& id) {
        add({0, id.Number(Known()), type});
      });
    });
    return result;
  }

  void ReadDecoder(const JsonView& part) {
    if (part.IsNull()) return;
    const std::string type = TypeOf(part);
    if (type == "WordPiece") {
      model_.decoder = text::DecoderKind::kWordPiece;
      if (part["cleanup"].Flag(true)) model_.decoder_flags |= text::kDecodeCleanup;
      if (part["prefix"].Bytes("##") != model_.continuation) Fail("the decoder has another prefix than the model");
    } else if (type == "Metaspace") {
      model_.decoder = text::DecoderKind::kMetaspace;
      const std::string scheme = part["prepend_scheme"].Bytes(part["add_prefix_space"].Flag(true) ? "always" : "never");
      if (scheme == "never") model_.decoder_flags |= text::kDecodeKeepPrefix;
      if (part["replacement"].Bytes("\xe2\x96\x81") != "\xe2\x96\x81") {
        Fail("a Metaspace decoder with another mark than U+2581 is not supported");
      }
    } else if (type == "ByteLevel") {
      model_.decoder = text::DecoderKind::kByteLevel;
    } else {
      Fail("decoder type \"{}\" is not supported", type);
    }
  }

  // Of tokens that are there.
  WholeRange Known() const { return {0, static_cast<int64_t>(model_.tokens.size()) - 1}; }

  template <typename Use>
  static void ForEach(const JsonView& list, const Use& use) {
    for (size_t i = 0; i < list.List().size(); ++i) use(list.At(i));
  }

  const JsonView file_, added_;
  WholeRange ids_;  // of the file's tokens
  TextModel model_;
};

}  // namespace

TextStep BertNormalizerStep(bool clean_text, bool space_cjk, bool strip_accents, bool lower_case) {
  const auto map = [=](uint32_t code) {
    if (clean_text) {
      if (code == 0 || code == 0xfffd || IsBertControl(code)) return std::string();
      if (IsWhitespace(code)) code = ' ';
    }
    std::string result;
    for (uint32_t part : CodePoints(strip_accents ? Decompose(code, false) : Utf8(code))) {
      if (strip_accents && IsBertNonspacingMark(part)) continue;
      result += lower_case ? LowerCase(part) : Utf8(part);
    }
    return result;
  };
  return MapStep(map, (space_cjk ? text::kMapSpaceCjk : 0u) | (strip_accents ? text::kMapHangul : 0u));
}

TextModel ReadTokenizerJson(const JsonView& file) { return Reader(file).Run(); }

}  // namespace fovea::tools
