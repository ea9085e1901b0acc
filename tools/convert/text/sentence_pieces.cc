// SentencePiece's rules for its pieces, as a unigram or BPE model.
#include "tools/convert/text/sentence_pieces.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "tools/base/fail.h"

namespace fovea::tools {
namespace {

constexpr double kUnknownPenalty = 10.0;

class Builder {
 public:
  explicit Builder(const SentencePieces& read) : read_(read) {}

  TextModel Run() {
    model_.kind = read_.byte_pairs ? text::ModelKind::kBpe : text::ModelKind::kUnigram;
    model_.decoder = text::DecoderKind::kSentencePiece;
    model_.continuation = "";
    model_.tokens.reserve(read_.pieces.size());
    for (const SentencePiece& piece : read_.pieces) AddPiece(piece);
    if (model_.unknown_id == text::kNoId) Fail("the SentencePiece model has no unknown token");
    model_.byte_ids = ByteIds(model_);
    if (read_.byte_pairs) {
      AddMerges();
    } else {
      SetScores();
    }
    SetSteps();
    return std::move(model_);
  }

 private:
  void AddPiece(const SentencePiece& read) {
    const auto id = static_cast<uint32_t>(model_.tokens.size());
    TextToken token;
    token.piece = read.piece;
    token.score = read.score;
    switch (read.type) {
      case SentencePiece::kNormal:
        token.matches = true;
        break;
      case SentencePiece::kUnknown:
        token.flags = text::kTokenUnknown;
        model_.unknown_id = id;
        break;
      case SentencePiece::kControl:
        token.flags = text::kTokenControl | text::kTokenSpecial;
        break;
      case SentencePiece::kUserDefined:
        // User-defined symbols are split off before merging.
        if (read_.byte_pairs) model_.added.push_back({read.piece, id, 0, true, true});
        token.matches = !read_.byte_pairs;
        break;
      case SentencePiece::kUnused:
        if (read_.byte_pairs)
          Fail("unused pieces of byte-pair encoding, such as \"{}\", are not supported", read.piece);
        break;
      case SentencePiece::kByte:
        if (ByteOf(read.piece) < 0) Fail("piece \"{}\" is not a byte", read.piece);
        token.flags = text::kTokenByte;
        break;
      default:
        Fail("piece \"{}\" has a type that is not supported", read.piece);
    }
    if (token.piece == "<pad>") model_.pad_id = id;
    if (token.piece == "<mask>") model_.mask_id = id;
    model_.tokens.push_back(std::move(token));
  }

  // Any two pieces whose concatenation is a piece can be merged, the best score first.
  void AddMerges() {
    model_.flags = text::kCharacters | text::kFuseUnknown;
    std::vector<double> sorted;
    for (const TextToken& token : model_.tokens) sorted.push_back(token.score);
    std::sort(sorted.begin(), sorted.end(), std::greater<double>());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    for (uint32_t id = 0; id < model_.tokens.size(); ++id) {
      const TextToken& token = model_.tokens[id];
      if (!token.matches) continue;
      const auto rank = std::lower_bound(sorted.begin(), sorted.end(), token.score, std::greater<double>());
      model_.merges.push_back({text::kNoId, text::kNoId, static_cast<uint32_t>(rank - sorted.begin()), id});
    }
  }

  void SetScores() {
    model_.flags = text::kAccumulateF32;
    double least = std::numeric_limits<float>::max(), most = std::numeric_limits<float>::lowest();
    for (const SentencePiece& piece : read_.pieces) {
      if (piece.type != SentencePiece::kNormal) continue;
      least = std::min(least, piece.score);
      most = std::max(most, piece.score);
    }
    model_.unknown_score = static_cast<double>(static_cast<float>(least - kUnknownPenalty));
    // User-defined symbols always win: their score grows with their length.
    for (size_t id = 0; id < read_.pieces.size(); ++id) {
      if (read_.pieces[id].type != SentencePiece::kUserDefined) continue;
      TextToken& token = model_.tokens[id];
      token.score = static_cast<double>(static_cast<float>(token.piece.size()) * static_cast<float>(most)) - 0.1;
    }
  }

  void SetSteps() {
    model_.charsmap = read_.charsmap;
    TextStep step{text::StepKind::kCharsmapSentencePiece};
    if (read_.remove_extra_spaces) step.flags |= text::kSpmRemoveExtraSpaces;
    if (read_.dummy_prefix) step.flags |= text::kSpmDummyPrefix;
    if (read_.escape_spaces) step.flags |= text::kSpmEscapeSpaces;
    model_.normalizer.push_back(step);
    if (!read_.dummy_prefix && !read_.remove_extra_spaces) model_.decoder_flags |= text::kDecodeKeepPrefix;
    if (!read_.remove_extra_spaces) model_.decoder_flags |= text::kDecodeDropOnce;
  }

  const SentencePieces& read_;
  TextModel model_;
};

}  // namespace

TextModel BuildSentencePieces(const SentencePieces& read) { return Builder(read).Run(); }

}  // namespace fovea::tools
