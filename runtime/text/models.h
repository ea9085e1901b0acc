// The tokenization models, which split a word into pieces.
#ifndef FOVEA_RUNTIME_TEXT_MODELS_H_
#define FOVEA_RUNTIME_TEXT_MODELS_H_

#include "runtime/text/buffer.h"
#include "runtime/text/scratch.h"
#include "runtime/text/sink.h"
#include "runtime/text/tokenizer.h"

namespace fovea::text {

// Greedy: the longest piece from the left, then pieces with the continuation prefix; unknown as a whole if one fails.
void WordPiece(const Tokenizer& tokenizer, const View& word, Sink* sink);

// The path of pieces with the highest sum of scores.
void Unigram(const Tokenizer& tokenizer, const View& word, const Scratch& scratch, Sink* sink);

// Byte-pair encoding: bytes or characters, merged pair by pair in the order of ranks.
void BytePair(const Tokenizer& tokenizer, const View& word, const Scratch& scratch, Sink* sink);

inline void Pieces(const Tokenizer& tokenizer, const View& word, const Scratch& scratch, Sink* sink) {
  if (word.size == 0) return;
  const auto kind = static_cast<ModelKind>(tokenizer.header.model);
  if (kHasWordPiece && kind == ModelKind::kWordPiece) return WordPiece(tokenizer, word, sink);
  if (kHasUnigram && kind == ModelKind::kUnigram) return Unigram(tokenizer, word, scratch, sink);
  if (kHasBpe && kind == ModelKind::kBpe) BytePair(tokenizer, word, scratch, sink);
}

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_MODELS_H_
