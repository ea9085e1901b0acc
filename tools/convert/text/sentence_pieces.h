// Vocabularies of SentencePiece pieces from any source, with SentencePiece's rules.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_SENTENCE_PIECES_H_
#define FOVEA_TOOLS_CONVERT_TEXT_SENTENCE_PIECES_H_

#include <string>
#include <vector>

#include "tools/convert/text/model.h"

namespace fovea::tools {

struct SentencePiece {
  enum Type { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };
  std::string piece;
  double score = 0;
  Type type = kNormal;
};

struct SentencePieces {
  std::vector<SentencePiece> pieces;  // by id
  bool byte_pairs = false;            // byte-pair encoding, else unigrams
  bool dummy_prefix = true, remove_extra_spaces = true, escape_spaces = true;
  std::string charsmap;
};

TextModel BuildSentencePieces(const SentencePieces& read);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_SENTENCE_PIECES_H_
