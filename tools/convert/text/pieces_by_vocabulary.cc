// Reads a SentencePiece model file whose pieces have their ids in vocab.json: Marian and speech_to_text. Pieces that
// only the other side of a translation uses are never found in texts, but can be decoded.
#include <algorithm>
#include <map>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/convert/text/readers.h"
#include "tools/convert/text/sentence_pieces.h"

namespace fovea::tools {
namespace {

// Pieces of vocab.json by id.
std::vector<std::string> PiecesById(const JsonView& vocabulary) {
  const WholeRange range = {0, static_cast<int64_t>(vocabulary.Object().size()) - 1};
  std::vector<std::string> pieces(vocabulary.json().size());
  std::vector<bool> taken(pieces.size());
  for (const auto& [piece, id] : vocabulary.json().items()) {
    const auto at =
        static_cast<size_t>(WholeNumber(id, fmt::format("{}: the id of \"{}\"", vocabulary.name(), piece), range));
    if (taken[at]) Fail("{}: \"{}\" and \"{}\" have the same id", vocabulary.name(), pieces[at], piece);
    taken[at] = true;
    pieces[at] = piece;
  }
  return pieces;
}

// Fails if pieces found in texts have no id, since they would become unknown tokens.
void CheckThatAllHaveIds(const std::map<std::string, const SentencePiece*>& found, const JsonView& vocabulary) {
  size_t missing = 0;
  std::string first;
  for (const auto& [piece, entry] : found) {
    const bool text = entry->type == SentencePiece::kNormal || entry->type == SentencePiece::kUserDefined;
    if (!text || vocabulary.json().contains(piece)) continue;
    if (missing++ == 0) first = piece;
  }
  if (missing != 0) {
    Fail("{} has no ids for {} pieces of the SentencePiece model, \"{}\" among them", vocabulary.name(), missing,
         first);
  }
}

}  // namespace

TextModel ReadPiecesByVocabulary(const std::string& type, const SentencePieces& read, const JsonView& vocabulary,
                                 const PublishedTokens& tokens, const JsonView& config) {
  const bool marian = type == "MarianTokenizer";
  if (config["separate_vocabs"].Flag(false)) Fail("separate_vocabs with source.spm alone is not supported");
  if (!config["lang_codes"].IsNull()) Fail("lang_codes of {} is not supported", type);
  if (config["do_upper_case"].Flag(false)) Fail("do_upper_case of {} is not supported", type);
  std::map<std::string, const SentencePiece*> found;
  for (const SentencePiece& piece : read.pieces) found.emplace(piece.piece, &piece);
  CheckThatAllHaveIds(found, vocabulary);

  const std::vector<std::string> pieces = PiecesById(vocabulary);
  const std::string unknown = tokens.Named("unk_token", "<unk>");
  SentencePieces placed = read;
  placed.pieces.clear();
  std::vector<uint32_t> other;  // pieces that only the other side uses
  for (const std::string& piece : pieces) {
    const auto own = found.find(piece);
    SentencePiece made = {piece, 0, SentencePiece::kControl};
    if (piece == unknown) {
      made.type = SentencePiece::kUnknown;
    } else if (own != found.end() && own->second->type != SentencePiece::kUnknown) {
      made = *own->second;
    } else {
      other.push_back(static_cast<uint32_t>(placed.pieces.size()));
    }
    placed.pieces.push_back(std::move(made));
  }
  TextModel model = BuildSentencePieces(placed);
  for (const uint32_t id : other) model.tokens[id].flags = 0;
  for (uint32_t id = 0; marian && id < pieces.size(); ++id) {
    // ">>fra<<" at the beginning of a text selects the target language.
    if (StartsWith(pieces[id], ">>") && EndsWith(pieces[id], "<<")) model.added.push_back({pieces[id], id, 0, false});
  }
  std::vector<DefaultToken> names = {{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}};
  if (!marian) names.insert(names.begin(), {"bos_token", "<s>"});
  tokens.AddTo(names, &model);
  if (config["do_lower_case"].Flag(false)) model.normalizer.insert(model.normalizer.begin(), LowerCaseStep());
  const std::string end = tokens.Named("eos_token", "</s>");
  SetTemplate("$A " + end, "$A $B " + end, &model);
  return model;
}

}  // namespace fovea::tools
