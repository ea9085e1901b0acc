// Reader of tokenizer.json.
#include "tools/convert/text/tokenizer_json.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/unicode.h"

namespace fovea::tools {
namespace {

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

class Reader {
 public:
  explicit Reader(const JsonView& file) : file_(file), added_(file["added_tokens"]) {}

  TextModel Run() {
    ReadModel(file_["model"]);
    if (!added_.IsNull()) ReadAddedTokens();
    ReadNormalizer(file_["normalizer"], &model_);
    ReadPreTokenizer(file_["pre_tokenizer"], &model_);
    ReadPostProcessor(file_["post_processor"], &model_);
    ReadDecoder(file_["decoder"], &model_);
    if (bytes_ && model_.decoder != text::DecoderKind::kByteLevel) {
      Fail("byte-level byte-pair encoding needs the decoder ByteLevel");
    }
    const JsonView truncation = file_["truncation"];
    if (!truncation.IsNull()) model_.max_length = truncation["max_length"].Number({}, 0);
    if (!truncation.IsNull() && truncation["direction"].Text("Right") == "Left") model_.flags |= text::kCutLeft;
    return std::move(model_);
  }

 private:
  void CountTokens(size_t pieces) { ids_ = RangeOfIds(pieces + (added_.IsNull() ? 0 : added_.List().size())); }

  void ReadModel(const JsonView& model) {
    std::string type = TypeOf(model);
    if (type.empty()) type = TypeByKeys(model);
    if (type == "WordPiece") {
      ReadWordPiece(model);
    } else if (type == "Unigram") {
      ReadUnigram(model);
    } else if (type == "BPE") {
      ReadBytePair(model);
    } else if (type == "WordLevel") {
      ReadWords(model);
    } else {
      Fail("{}: type \"{}\" is not supported", model.name(), type);
    }
  }

  // Older files do not name the type.
  static std::string TypeByKeys(const JsonView& model) {
    if (!model["merges"].IsNull()) return "BPE";
    if (model["vocab"].json().is_array()) return "Unigram";
    return model["continuing_subword_prefix"].IsNull() ? "WordLevel" : "WordPiece";
  }

  // Whole words: word pieces whose continuation is part of no piece.
  void ReadWords(const JsonView& model) {
    ReadWordPiece(model);
    model_.max_word_chars = UINT32_MAX;
    model_.continuation = kWholeWords;
    const auto begins = [&](const TextToken& token) { return StartsWith(token.piece, model_.continuation); };
    if (std::any_of(model_.tokens.begin(), model_.tokens.end(), begins)) {
      Fail("{}: words that begin with U+0001 are not supported", model.name());
    }
  }

  void ReadWordPiece(const JsonView& model) {
    model_.kind = text::ModelKind::kWordPiece;
    const JsonView vocabulary = model["vocab"];
    CountTokens(vocabulary.Object().size());
    for (const auto& [piece, id] : vocabulary.json().items()) AddPiece(piece, id, ids_, vocabulary, &model_);
    model_.unknown_id = model_.IdOf(model["unk_token"].Bytes("[UNK]"));
    model_.continuation = model["continuing_subword_prefix"].Bytes("##");
    model_.max_word_chars = model["max_input_chars_per_word"].Number({}, 100);
  }

  void ReadUnigram(const JsonView& model) {
    model_.kind = text::ModelKind::kUnigram;
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
    if (model["byte_fallback"].Flag(false)) model_.byte_ids = ByteIds(model_);
  }

  void ReadBytePair(const JsonView& model) {
    model_.kind = text::ModelKind::kBpe;
    bytes_ = Contains(file_["pre_tokenizer"], "ByteLevel");
    model_.flags = text::kTiesByLeft | (bytes_ ? 0u : text::kCharacters);
    model_.continuation = model["continuing_subword_prefix"].Bytes("");
    model_.suffix = model["end_of_word_suffix"].Bytes("");
    if (model["fuse_unk"].Flag(false)) model_.flags |= text::kFuseUnknown;
    if (model["dropout"].Real({}, 0) != 0) Fail("dropout of a BPE model is not supported");
    if (model["ignore_merges"].Flag(false)) model_.flags |= text::kIgnoreMerges;
    const JsonView vocabulary = model["vocab"];
    CountTokens(vocabulary.Object().size());
    Ids ids(2 * vocabulary.json().size());
    for (const auto& [piece, id] : vocabulary.json().items()) {
      AddPiece(piece, id, ids_, vocabulary, &model_).piece = Spelled(piece);
      ids.emplace(piece, id.get<uint32_t>());
    }
    if (!model["unk_token"].IsNull()) model_.unknown_id = IdIn(ids, model["unk_token"].Bytes());
    if (model["byte_fallback"].Flag(false)) model_.byte_ids = ByteIds(model_);
    ReadMerges(model["merges"], ids);
  }

  // Whether there is a part of this type.
  static bool Contains(const JsonView& part, const char* type) {
    if (part.IsNull()) return false;
    bool found = TypeOf(part) == type;
    if (TypeOf(part) == "Sequence") {
      ForEach(part["pretokenizers"], [&](const JsonView& inner) { found = found || Contains(inner, type); });
    }
    return found;
  }

  // The vocabulary's pieces; the file holds their text.
  using Ids = std::unordered_map<std::string_view, uint32_t>;

  static uint32_t IdIn(const Ids& ids, const std::string& piece) {
    const auto found = ids.find(piece);
    if (found == ids.end()) Fail("a merge names \"{}\", which is not in the vocabulary", piece);
    return found->second;
  }

  void ReadMerges(const JsonView& list, const Ids& ids) {
    std::vector<TextMerge>& merges = model_.merges;
    merges.reserve(list.List().size());
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
      if (right.compare(0, model_.continuation.size(), model_.continuation) != 0) {
        Fail("{}[{}]: \"{}\" does not begin with \"{}\"", list.name(), rank, right, model_.continuation);
      }
      const std::string merged = left + right.substr(model_.continuation.size());
      merges.push_back({IdIn(ids, left), IdIn(ids, right), rank++, IdIn(ids, merged)});
    }
    // By pair; for a repeated pair the last one counts.
    std::sort(merges.begin(), merges.end(), [](const TextMerge& a, const TextMerge& b) {
      return std::tie(a.left, a.right, b.rank) < std::tie(b.left, b.right, a.rank);
    });
    const auto same = [](const TextMerge& a, const TextMerge& b) { return a.left == b.left && a.right == b.right; };
    merges.erase(std::unique(merges.begin(), merges.end(), same), merges.end());
  }

  // The bytes encoded by the printable characters of a byte-level piece; other pieces are returned unchanged.
  std::string Spelled(const std::string& piece) const {
    if (!bytes_) return piece;
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
      const std::string piece = Spelled(added.content);
      if (!known.piece.empty() && known.piece != added.content && known.piece != piece) {
        Fail("added token \"{}\" has the id of \"{}\"", added.content, known.piece);
      }
      known.piece = piece;
      if ((added.flags & text::kAddedSpecial) != 0) known.flags |= text::kTokenSpecial;
      if (added.content == "[PAD]" || added.content == "<pad>") model_.pad_id = added.id;
      if (added.content == "[MASK]" || added.content == "<mask>") model_.mask_id = added.id;
      model_.added.push_back(std::move(added));
    }
  }

  const JsonView file_, added_;
  WholeRange ids_;      // range of the file's tokens
  bool bytes_ = false;  // byte-level byte-pair encoding
  TextModel model_;
};

}  // namespace

WholeRange RangeOfIds(size_t tokens) {
  constexpr int64_t kGaps = 1 << 16;
  return {0, 2 * static_cast<int64_t>(tokens) + kGaps};
}

TextToken& AddPiece(const std::string& piece, const Json& id, WholeRange ids, const JsonView& vocabulary,
                    TextModel* model) {
  const auto name = [&] { return fmt::format("{}: the id of \"{}\"", vocabulary.name(), piece); };
  TextToken& token = model->At(static_cast<uint32_t>(WholeNumber(id, name(), ids)));
  if (token.matches) Fail("{} is that of \"{}\" as well", name(), token.piece);
  return token = {piece, 0, 0, true};
}

TextModel ReadTokenizerJson(const JsonView& file) { return Reader(file).Run(); }

}  // namespace fovea::tools
