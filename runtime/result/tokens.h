// Tokens as parts of texts: which continue a word, which are the second text's of a pair.
#ifndef FOVEA_RUNTIME_RESULT_TOKENS_H_
#define FOVEA_RUNTIME_RESULT_TOKENS_H_

#include "fovea/text.h"
#include "runtime/text/tokenizer.h"

namespace fovea {

// Whether a token belongs to the word of the token before: by WordPiece's prefix, else if no space is between them;
// never for unknown tokens.
bool ContinuesWord(const Tokenizer& tokenizer, const fovea_text_tokens& tokens, const char* text, uint64_t token);

struct TokenRange {
  uint64_t begin, end;

  uint64_t size() const { return end - begin; }
};

// The tokens of the second text of a pair; empty at the end if it has none.
TokenRange SecondOf(const fovea_text_tokens& pair);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_RESULT_TOKENS_H_
