// Reader of tokenizer.json.
#include "tools/convert/text/tokenizer_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>

#include "runtime/text/utf8.h"
#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/convert/text/model_lists.h"
#include "tools/convert/text/readers.h"

namespace fovea::tools {
namespace {

// The double that the reference implementation reads from the score's decimal digits: its parser divides the rounded
// digits by a power of ten, which may miss the nearest double by one place. Only ties between paths show it.
double ReferenceScore(double score) {
  char text[64];
  char* const end = fmt::format_to_n(text, sizeof(text), "{}", score).out;
  uint64_t digits = 0;
  const char* point = end;
  for (const char* c = text; c != end; ++c) {
    if (*c == 'e') return score;
    if (*c == '.') point = c;
    if (*c >= '0' && *c <= '9') digits = 10 * digits + static_cast<uint64_t>(*c - '0');
  }
  if (point == end) return score;
  const double value = static_cast<double>(digits) / std::pow(10.0, static_cast<double>(end - point - 1));
  return text[0] == '-' ? -value : value;
}

// The byte that each printable character of byte-level pieces means, by code point; -1: none.
const std::array<int16_t, 0x144>& PrintedBytes() {
  static const std::array<int16_t, 0x144> kBytes = [] {
    std::array<int16_t, 0x144> bytes;
    bytes.fill(-1);
    uint32_t other = 256;
    for (uint32_t b = 0; b < 256; ++b) {
      const bool printable = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
      bytes[printable ? b : other++] = static_cast<int16_t>(b);
    }
    return bytes;
  }();
  return kBytes;
}

class Reader {
 public:
  Reader(const JsonView& file, const ModelLists& lists) : file_(file), added_(file["added_tokens"]), lists_(lists) {}

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
  // The vocabulary's pieces, of which there must be a list of this kind.
  const std::vector<ModelLists::Piece>& Pieces(const JsonView& vocabulary, bool scores) {
    const bool none = lists_.vocabulary == ModelLists::kNone;
    if (none && scores) vocabulary.List();
    if (none && !scores) vocabulary.Object();
    if (scores != (lists_.vocabulary == ModelLists::kScores)) {
      Fail("{} must be {}", vocabulary.name(), scores ? "a list of pieces and scores" : "an object with ids");
    }
    const size_t tokens = lists_.pieces.size() + (added_.IsNull() ? 0 : added_.List().size());
    ids_ = RangeOfIds(tokens);
    model_.tokens.reserve(tokens);
    int64_t most = -1;
    for (const ModelLists::Piece& piece : lists_.pieces) most = std::max<int64_t>(most, piece.id);
    if (!scores && most <= ids_.most) model_.tokens.resize(static_cast<size_t>(most + 1));
    return lists_.pieces;
  }

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
  std::string TypeByKeys(const JsonView& model) const {
    if (lists_.has_merges) return "BPE";
    if (lists_.vocabulary == ModelLists::kScores) return "Unigram";
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
    const std::vector<ModelLists::Piece>& pieces = Pieces(vocabulary, false);
    lists_.MakeIndex(file_.name());  // no piece twice
    for (const ModelLists::Piece& piece : pieces) AddPiece(piece.text, piece.id, ids_, vocabulary, &model_);
    model_.unknown_id = model_.IdOf(model["unk_token"].Bytes("[UNK]"));
    model_.continuation = model["continuing_subword_prefix"].Bytes("##");
    model_.max_word_chars = model["max_input_chars_per_word"].Number({}, 100);
  }

  void ReadUnigram(const JsonView& model) {
    model_.kind = text::ModelKind::kUnigram;
    if (model["unk_id"].IsNull()) Fail("a Unigram model without unk_id is not supported");
    const JsonView vocabulary = model["vocab"];
    double least = 0;
    for (const ModelLists::Piece& piece : Pieces(vocabulary, true)) {
      const double score = ReferenceScore(piece.score);
      model_.tokens.push_back({std::string(piece.text), score, 0, true});
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
    const std::vector<ModelLists::Piece>& pieces = Pieces(vocabulary, false);
    const ModelLists::Index places = lists_.MakeIndex(file_.name());
    for (const ModelLists::Piece& piece : pieces) {
      TextToken& token = AddPiece(piece.text, piece.id, ids_, vocabulary, &model_);
      if (bytes_) token.piece = Spelled(piece.text);
    }
    if (!model["unk_token"].IsNull()) model_.unknown_id = IdIn(places, model["unk_token"].Bytes());
    if (model["byte_fallback"].Flag(false)) model_.byte_ids = ByteIds(model_);
    ReadMerges(model["merges"], places);
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

  uint32_t IdIn(const ModelLists::Index& places, std::string_view piece) const {
    const uint32_t place = places[piece];
    if (place == ModelLists::Index::kNone) Fail("a merge names \"{}\", which is not in the vocabulary", piece);
    return lists_.pieces[place].id;
  }

  void ReadMerges(const JsonView& list, const ModelLists::Index& places) {
    if (!lists_.has_merges) list.List();
    std::vector<TextMerge> merges = lists_.resolved;
    merges.reserve(lists_.merges.size());
    const std::string& prefix = model_.continuation;
    std::string merged;
    for (const ModelLists::Merge& merge : lists_.merges) {
      const auto rank = static_cast<uint32_t>(merges.size());
      if (merge.right.compare(0, prefix.size(), prefix) != 0) {
        Fail("{}[{}]: \"{}\" does not begin with \"{}\"", list.name(), rank, merge.right, prefix);
      }
      merged.assign(merge.left).append(merge.right.substr(prefix.size()));
      merges.push_back({IdIn(places, merge.left), IdIn(places, merge.right), rank, IdIn(places, merged)});
    }
    model_.merges = ByPair(merges, model_.tokens.size());
  }

  // Merges by left and right piece, whose ids are below `ids`; of a repeated pair the last one.
  static std::vector<TextMerge> ByPair(const std::vector<TextMerge>& merges, size_t ids) {
    std::vector<uint32_t> ends(ids + 1);  // where the merges of each left piece end
    for (const TextMerge& merge : merges) ++ends[merge.left + 1];
    for (size_t id = 0; id < ids; ++id) ends[id + 1] += ends[id];
    std::vector<TextMerge> sorted(merges.size());
    for (const TextMerge& merge : merges) sorted[ends[merge.left]++] = merge;
    auto begin = sorted.begin(), kept = begin;
    for (size_t id = 0; id < ids; ++id) {
      const auto end = sorted.begin() + ends[id];
      std::sort(begin, end, [](const TextMerge& a, const TextMerge& b) {
        return std::tie(a.right, b.rank) < std::tie(b.right, a.rank);
      });
      const auto unique =
          std::unique(begin, end, [](const TextMerge& a, const TextMerge& b) { return a.right == b.right; });
      kept = std::move(begin, unique, kept);
      begin = end;
    }
    sorted.erase(kept, sorted.end());
    return sorted;
  }

  // The bytes encoded by the printable characters of a byte-level piece; other pieces are returned unchanged.
  std::string Spelled(std::string_view piece) const {
    std::string result;
    if (!bytes_) return result.assign(piece);
    const std::array<int16_t, 0x144>& bytes = PrintedBytes();
    for (size_t i = 0; i < piece.size();) {
      const auto* const at = reinterpret_cast<const uint8_t*>(piece.data()) + i;
      const text::Char c = text::ReadChar(at, piece.size() - i);
      if (c.code >= bytes.size() || bytes[c.code] < 0) return std::string(piece);
      result.push_back(static_cast<char>(bytes[c.code]));
      i += c.size;
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
  const ModelLists& lists_;
  WholeRange ids_;      // range of the file's tokens
  bool bytes_ = false;  // byte-level byte-pair encoding
  TextModel model_;
};

}  // namespace

WholeRange RangeOfIds(size_t tokens) {
  constexpr int64_t kGaps = 1 << 16;
  return {0, 2 * static_cast<int64_t>(tokens) + kGaps};
}

TextToken& AddPiece(std::string_view piece, uint32_t id, WholeRange ids, const JsonView& vocabulary, TextModel* model) {
  const auto name = [&] { return fmt::format("{}: the id of \"{}\"", vocabulary.name(), piece); };
  if (id > ids.most) WholeNumber(id, name(), ids);
  TextToken& token = model->At(id);
  if (token.matches) Fail("{} is that of \"{}\" as well", name(), token.piece);
  token.piece.assign(piece);
  token.matches = true;
  return token;
}

TextModel ReadTokenizerJson(const JsonView& file) {
  const ModelLists lists = ListsOf(file["model"]);
  return Reader(file, lists).Run();
}

TextModel ReadTokenizerJson(const JsonView& file, const ModelLists& lists) { return Reader(file, lists).Run(); }

}  // namespace fovea::tools
