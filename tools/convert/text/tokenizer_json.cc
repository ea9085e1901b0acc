// Reader of tokenizer.json.
#include <algorithm>
#include <cmath>

#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {
namespace {

using nlohmann::json;
using text::StepKind;

std::string TypeOf(const json& part) { return part.is_object() ? part.value("type", "") : ""; }

// The field's value, or `fallback` when it is missing or null.
template <typename T>
T Get(const json& from, const char* key, T fallback) {
  const auto found = from.find(key);
  return found == from.end() || found->is_null() ? fallback : found->get<T>();
}

std::string DecodeBase64(const std::string& text) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    if (c == '=') break;
    uint32_t value = 0;
    if (c >= 'A' && c <= 'Z') value = c - 'A';
    else if (c >= 'a' && c <= 'z') value = c - 'a' + 26;
    else if (c >= '0' && c <= '9') value = c - '0' + 52;
    else if (c == '+') value = 62;
    else if (c == '/') value = 63;
    else Fail("precompiled_charsmap is not base64");
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
  const double value = static_cast<double>(std::stoull(digits)) / std::pow(10.0, static_cast<double>(text.size() - point - 1));
  return negative ? -value : value;
}

TextStep MapStep(std::function<std::string(uint32_t)> map, uint32_t flags = 0) {
  TextStep step{StepKind::kMap, flags};
  step.map = std::move(map);
  return step;
}

class Reader {
 public:
  explicit Reader(const json& file) : json_(file) {}

  TextModel Run() {
    ReadModel(json_.at("model"));
    ReadAddedTokens();
    ReadNormalizer(json_.value("normalizer", json()));
    ReadPreTokenizer(json_.value("pre_tokenizer", json()));
    ReadPostProcessor(json_.value("post_processor", json()));
    ReadDecoder(json_.value("decoder", json()));
    const json truncation = json_.value("truncation", json());
    if (truncation.is_object()) model_.max_length = Get<uint32_t>(truncation, "max_length", 0);
    return std::move(model_);
  }

 private:
  void ReadModel(const json& model) {
    const std::string type = TypeOf(model);
    if (type == "WordPiece") {
      model_.kind = text::ModelKind::kWordPiece;
      ReadVocabulary(model.at("vocab"));
      model_.unknown_id = model_.IdOf(Get<std::string>(model, "unk_token", "[UNK]"));
      model_.continuation = Get<std::string>(model, "continuing_subword_prefix", "##");
      model_.max_word_chars = Get<uint32_t>(model, "max_input_chars_per_word", 100);
    } else if (type == "Unigram") {
      model_.kind = text::ModelKind::kUnigram;
      if (Get(model, "byte_fallback", false)) Fail("byte_fallback of a Unigram model is not supported");
      if (!model.contains("unk_id") || model["unk_id"].is_null()) Fail("a Unigram model without unk_id is not supported");
      double least = 0;
      uint32_t id = 0;
      for (const json& entry : model.at("vocab")) {
        const double score = ReferenceScore(entry.at(1).get<double>());
        model_.At(id++) = {entry.at(0).get<std::string>(), score, 0, true};
        least = std::min(least, score);
      }
      model_.unknown_id = model["unk_id"].get<uint32_t>();
      model_.unknown_score = least - 10.0;
    } else if (type == "BPE") {
      ReadBytePair(model);
    } else {
      Fail("tokenizer model \"{}\" is not supported", type);
    }
  }

  void ReadBytePair(const json& model) {
    model_.kind = text::ModelKind::kBpe;
    if (Get(model, "byte_fallback", false)) Fail("byte_fallback of a BPE model is not supported");
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!Get<std::string>(model, key, "").empty()) Fail("{} of a BPE model is not supported", key);
    }
    if (Get(model, "dropout", 0.0) != 0) Fail("dropout of a BPE model is not supported");
    if (Get(model, "ignore_merges", false)) model_.flags |= text::kIgnoreMerges;
    std::map<std::string, uint32_t> ids;
    for (const auto& [piece, id] : model.at("vocab").items()) {
      model_.At(id.get<uint32_t>()) = {PieceBytes(piece), 0, 0, true};
      ids[piece] = id.get<uint32_t>();
    }
    const auto id_of = [&](const std::string& piece) {
      const auto found = ids.find(piece);
      if (found == ids.end()) Fail("a merge names \"{}\", which is not in the vocabulary", piece);
      return found->second;
    };
    if (model.contains("unk_token") && !model["unk_token"].is_null()) model_.unknown_id = id_of(model["unk_token"]);
    std::map<std::pair<uint32_t, uint32_t>, text::Merge> merges;  // of a repeated pair the last one counts
    uint32_t rank = 0;
    for (const json& merge : model.at("merges")) {
      std::string left, right;
      if (merge.is_string()) {
        const std::string both = merge;
        const size_t space = both.find(' ');
        if (space == std::string::npos) Fail("merge \"{}\" is not a pair", both);
        left = both.substr(0, space);
        right = both.substr(space + 1);
      } else {
        left = merge.at(0);
        right = merge.at(1);
      }
      const text::Merge record = {id_of(left), id_of(right), rank++, id_of(left + right)};
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

  void ReadVocabulary(const json& vocabulary) {
    for (const auto& [piece, id] : vocabulary.items()) model_.At(id.get<uint32_t>()) = {piece, 0, 0, true};
  }

  void ReadAddedTokens() {
    for (const json& token : json_.value("added_tokens", json::array())) {
      AddedToken added;
      added.content = token.at("content").get<std::string>();
      added.id = token.at("id").get<uint32_t>();
      added.normalized = Get(token, "normalized", false);
      if (Get(token, "lstrip", false)) added.flags |= text::kAddedLstrip;
      if (Get(token, "rstrip", false)) added.flags |= text::kAddedRstrip;
      if (Get(token, "single_word", false)) added.flags |= text::kAddedSingleWord;
      if (Get(token, "special", false)) added.flags |= text::kAddedSpecial;
      TextToken& known = model_.At(added.id);
      const bool bytes = model_.kind == text::ModelKind::kBpe;
      if (!known.piece.empty() && known.piece != added.content && !(bytes && known.piece == PieceBytes(added.content))) {
        Fail("added token \"{}\" has the id of \"{}\"", added.content, known.piece);
      }
      known.piece = bytes ? PieceBytes(added.content) : added.content;
      if ((added.flags & text::kAddedSpecial) != 0) known.flags |= text::kTokenSpecial;
      if (added.content == "[PAD]" || added.content == "<pad>") model_.pad_id = added.id;
      if (added.content == "[MASK]" || added.content == "<mask>") model_.mask_id = added.id;
      model_.added.push_back(std::move(added));
    }
  }

  void ReadNormalizer(const json& part) {
    if (part.is_null()) return;
    std::vector<TextStep>& steps = model_.normalizer;
    const std::string type = TypeOf(part);
    if (type == "Sequence") {
      for (const json& inner : part.at("normalizers")) ReadNormalizer(inner);
    } else if (type == "BertNormalizer") {
      const bool lower = Get(part, "lowercase", true);
      steps.push_back(BertNormalizerStep(Get(part, "clean_text", true), Get(part, "handle_chinese_chars", true),
                                         Get(part, "strip_accents", lower), lower));
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
      model_.charsmap = DecodeBase64(part.at("precompiled_charsmap").get<std::string>());
      if (!model_.charsmap.empty()) steps.push_back({StepKind::kCharsmapGraphemes});
    } else if (type == "Strip") {
      const uint32_t flags = (Get(part, "strip_left", true) ? text::kStripLeft : 0u) |
                             (Get(part, "strip_right", true) ? text::kStripRight : 0u);
      steps.push_back({StepKind::kStrip, flags});
    } else if (type == "Replace") {
      ReadReplace(part);
    } else if (type == "Prepend") {
      steps.push_back({StepKind::kPrepend, 0, part.at("prepend").get<std::string>()});
    } else {
      Fail("normalizer type \"{}\" is not supported", type);
    }
  }

  // Literal patterns, and runs of one character such as " {2,}".
  void ReadReplace(const json& part) {
    const json& pattern = part.at("pattern");
    TextStep step{StepKind::kReplace};
    step.second = part.at("content").get<std::string>();
    if (pattern.contains("String")) {
      step.first = pattern["String"].get<std::string>();
    } else {
      const std::string regex = Get<std::string>(pattern, "Regex", "");
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

  void ReadPreTokenizer(const json& part) {
    if (part.is_null()) return;
    const std::string type = TypeOf(part);
    if (type == "Sequence") {
      for (const json& inner : part.at("pretokenizers")) ReadPreTokenizer(inner);
    } else if (type == "BertPreTokenizer") {
      model_.pre_tokenizer.push_back({StepKind::kSplitBert});
    } else if (type == "WhitespaceSplit") {
      model_.pre_tokenizer.push_back({StepKind::kSplitWhitespace});
    } else if (type == "Metaspace") {
      TextStep step{StepKind::kMetaspace};
      step.first = Get<std::string>(part, "replacement", "\xe2\x96\x81");
      const std::string scheme =
          Get<std::string>(part, "prepend_scheme", Get(part, "add_prefix_space", true) ? "always" : "never");
      if (scheme == "always") step.flags |= text::kMetaspacePrependAlways;
      else if (scheme == "first") step.flags |= text::kMetaspacePrependFirst;
      else if (scheme != "never") Fail("prepend_scheme \"{}\" of Metaspace is not supported", scheme);
      if (Get(part, "split", true)) step.flags |= text::kMetaspaceSplit;
      model_.pre_tokenizer.push_back(std::move(step));
    } else if (type == "ByteLevel") {
      if (!Get(part, "use_regex", true)) Fail("a ByteLevel pre-tokenizer without use_regex is not supported");
      model_.pre_tokenizer.push_back({StepKind::kByteLevel, Get(part, "add_prefix_space", true) ? text::kByteLevelPrefixSpace : 0u});
    } else {
      Fail("pre-tokenizer type \"{}\" is not supported", type);
    }
  }

  void ReadPostProcessor(const json& part) {
    if (part.is_null()) return;
    const std::string type = TypeOf(part);
    if (type == "TemplateProcessing") {
      model_.single = ReadTemplate(part.at("single"), part.at("special_tokens"));
      model_.pair = ReadTemplate(part.at("pair"), part.at("special_tokens"));
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      const bool roberta = type == "RobertaProcessing";
      model_.Wrap(part.at("cls").at(1).get<uint32_t>(), part.at("sep").at(1).get<uint32_t>(), roberta, roberta ? 0 : 1);
      if (roberta) ReadTrim(part);
    } else if (type == "ByteLevel") {
      ReadTrim(part);
    } else if (type == "Sequence") {
      for (const json& inner : part.at("processors")) ReadPostProcessor(inner);
    } else {
      Fail("post-processor type \"{}\" is not supported", type);
    }
  }

  // Post-processors of byte-level tokenizers trim ranges.
  void ReadTrim(const json& part) {
    for (TextStep& step : model_.pre_tokenizer) {
      if (step.kind != StepKind::kByteLevel || !Get(part, "trim_offsets", true)) continue;
      step.flags |= text::kByteLevelTrim | (Get(part, "add_prefix_space", true) ? text::kByteLevelTrimPrefix : 0u);
    }
  }

  static std::vector<text::TemplateItem> ReadTemplate(const json& items, const json& specials) {
    std::vector<text::TemplateItem> result;
    for (const json& item : items) {
      if (item.contains("Sequence")) {
        const json& sequence = item["Sequence"];
        const uint32_t kind = sequence.at("id") == "A" ? 1 : 2;
        result.push_back({kind, 0, Get<uint32_t>(sequence, "type_id", 0)});
      } else {
        const json& special = item.at("SpecialToken");
        for (const json& id : specials.at(special.at("id").get<std::string>()).at("ids")) {
          result.push_back({0, id.get<uint32_t>(), Get<uint32_t>(special, "type_id", 0)});
        }
      }
    }
    return result;
  }

  void ReadDecoder(const json& part) {
    if (part.is_null()) return;
    const std::string type = TypeOf(part);
    if (type == "WordPiece") {
      model_.decoder = text::DecoderKind::kWordPiece;
      if (Get(part, "cleanup", true)) model_.decoder_flags |= text::kDecodeCleanup;
      if (Get<std::string>(part, "prefix", "##") != model_.continuation) Fail("the decoder has another prefix than the model");
    } else if (type == "Metaspace") {
      model_.decoder = text::DecoderKind::kMetaspace;
      const std::string scheme =
          Get<std::string>(part, "prepend_scheme", Get(part, "add_prefix_space", true) ? "always" : "never");
      if (scheme == "never") model_.decoder_flags |= text::kDecodeKeepPrefix;
      if (Get<std::string>(part, "replacement", "\xe2\x96\x81") != "\xe2\x96\x81") {
        Fail("a Metaspace decoder with another mark than U+2581 is not supported");
      }
    } else if (type == "ByteLevel") {
      model_.decoder = text::DecoderKind::kByteLevel;
    } else {
      Fail("decoder type \"{}\" is not supported", type);
    }
  }

  const json& json_;
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

TextModel ReadTokenizerJson(const nlohmann::json& json) { return Reader(json).Run(); }

}  // namespace fovea::tools
