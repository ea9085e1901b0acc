// Reads a SentencePiece model file whose pieces have their ids in vocab.json: Marian, M2M100 and speech_to_text. Pieces
// that only the other side of a translation uses are never found in texts, but can be decoded.
#include <algorithm>
#include <string_view>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/convert/text/language_codes.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/sentence_pieces.h"

namespace fovea::tools {
namespace {

// Pieces of vocab.json by id; ids without a piece are empty.
std::vector<std::string_view> PiecesById(const ModelLists& vocabulary, const std::string& file) {
  const WholeRange range = RangeOfIds(vocabulary.pieces.size());
  std::vector<std::string_view> pieces(vocabulary.pieces.size());
  std::vector<bool> taken(pieces.size());
  for (const auto& [piece, id, score] : vocabulary.pieces) {
    const size_t at = id;
    if (id > range.most) WholeNumber(id, fmt::format("{}: the id of \"{}\"", file, piece), range);
    if (at >= pieces.size()) {
      pieces.resize(at + 1);
      taken.resize(at + 1);
    }
    if (taken[at]) Fail("{}: \"{}\" and \"{}\" have the same id", file, pieces[at], piece);
    taken[at] = true;
    pieces[at] = piece;
  }
  return pieces;
}

// Pieces that are found in texts but have no id: the original library makes each of them an unknown token.
void AddPiecesWithoutIds(const SentencePieces& read, const ModelLists::Index& vocabulary, SentencePieces* placed,
                         std::vector<uint32_t>* hidden) {
  for (const SentencePiece& piece : read.pieces) {
    const bool text = piece.type == SentencePiece::kNormal || piece.type == SentencePiece::kUserDefined;
    if (!text || vocabulary[piece.piece] != vocabulary.kNone) continue;
    hidden->push_back(static_cast<uint32_t>(placed->pieces.size()));
    placed->pieces.push_back(piece);
  }
}

// Pieces without ids, behind the `known` tokens, take the places of tokens that texts never have, so that no id is
// beyond the model's.
void HidePieces(size_t known, const std::vector<uint32_t>& hidden, const std::vector<uint32_t>& other,
                TextModel* model) {
  if (hidden.empty()) return;
  if (model->kind != text::ModelKind::kUnigram || hidden.size() > other.size()) {
    Fail("vocab.json has no ids for {} pieces of the SentencePiece model, \"{}\" among them", hidden.size(),
         model->tokens[hidden[0]].piece);
  }
  for (size_t i = 0; i < hidden.size(); ++i) {
    const TextToken& piece = model->tokens[hidden[i]];
    TextToken& place = model->tokens[other[i]];
    model->found[other[i]] = piece.piece;
    place.score = piece.score;
    place.matches = true;
    place.flags |= text::kTokenFoundUnknown;
  }
  model->tokens.resize(known);
}

}  // namespace

TextModel ReadPiecesByVocabulary(const std::string& type, const SentencePieces& read, const ModelLists& vocabulary,
                                 const std::string& file, const PublishedTokens& tokens, const JsonView& config) {
  const bool marian = type == "MarianTokenizer", m2m = type == "M2M100Tokenizer";
  if (config["separate_vocabs"].Flag(false)) Fail("separate_vocabs with source.spm alone is not supported");
  if (!config["lang_codes"].IsNull()) Fail("lang_codes of {} is not supported", type);
  if (config["do_upper_case"].Flag(false)) Fail("do_upper_case of {} is not supported", type);
  const auto text_of = [&](uint32_t place) -> std::string_view { return read.pieces[place].piece; };
  StringIndex<decltype(text_of)> found(read.pieces.size(), text_of);
  for (uint32_t place = 0; place < read.pieces.size(); ++place) found.Add(place);
  const ModelLists::Index listed_pieces = vocabulary.MakeIndex(file);
  const std::vector<std::string_view> pieces = PiecesById(vocabulary, file);
  const std::string unknown = tokens.Named("unk_token", "<unk>");
  SentencePieces placed = read;
  placed.pieces.clear();
  std::vector<uint32_t> other;  // pieces that only the other side uses
  for (const std::string_view piece : pieces) {
    const uint32_t own = found[piece];
    SentencePiece made = {std::string(piece), 0, SentencePiece::kControl};
    if (piece.empty()) {
      other.push_back(static_cast<uint32_t>(placed.pieces.size()));  // a gap
    } else if (piece == unknown) {
      made.type = SentencePiece::kUnknown;
    } else if (own != found.kNone && read.pieces[own].type != SentencePiece::kUnknown) {
      made = read.pieces[own];
    } else {
      other.push_back(static_cast<uint32_t>(placed.pieces.size()));
    }
    placed.pieces.push_back(std::move(made));
  }
  const std::vector<std::string> languages =
      m2m ? LanguageCodes(type, config["language_codes"].Text("m2m100")) : std::vector<std::string>();
  const auto listed = static_cast<uint32_t>(pieces.size());
  if (m2m) {
    // Ids behind the vocabulary's: a token of each language, then tokens that only fill the table.
    if (listed != vocabulary.pieces.size()) Fail("{}: ids of M2M100Tokenizer have no gaps", file);
    for (const std::string& language : languages) placed.pieces.push_back({language, 0, SentencePiece::kControl});
    for (uint32_t i = 0; i < config["num_madeup_words"].Number({0, 10000}, 8); ++i) {
      placed.pieces.push_back({fmt::format("madeupword{:04}", i), 0, SentencePiece::kControl});
    }
  }
  const size_t known = placed.pieces.size();
  std::vector<uint32_t> hidden;
  AddPiecesWithoutIds(read, listed_pieces, &placed, &hidden);
  TextModel model = BuildSentencePieces(placed);
  for (const uint32_t id : other) model.tokens[id].flags = 0;
  HidePieces(known, hidden, other, &model);
  for (uint32_t i = 0; i < languages.size(); ++i) {
    model.added.push_back({languages[i], listed + i, text::kAddedSpecial, false});
  }
  for (uint32_t id = 0; marian && id < pieces.size(); ++id) {
    // ">>fra<<" at the beginning of a text selects the target language (MarianTokenizer.remove_language_code).
    const std::string piece(pieces[id]);
    const bool code = StartsWith(piece, ">>") && EndsWith(piece, "<<");
    if (code) model.added.push_back({piece, id, text::kAddedAtStart, false});
  }
  std::vector<DefaultToken> names = {{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}};
  if (!marian) names.insert(names.begin(), {"bos_token", "<s>"});
  tokens.AddTo(names, &model);
  if (config["do_lower_case"].Flag(false)) model.normalizer.insert(model.normalizer.begin(), LowerCaseStep());
  const std::string end = tokens.Named("eos_token", "</s>");
  if (!SetLanguageTemplate(type, config, tokens, &model)) SetTemplate("$A " + end, "$A $B " + end, &model);
  return model;
}

}  // namespace fovea::tools
