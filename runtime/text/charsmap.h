// Precompiled character maps of SentencePiece, applied as each of the two libraries that use them does.
#ifndef FOVEA_RUNTIME_TEXT_CHARSMAP_H_
#define FOVEA_RUNTIME_TEXT_CHARSMAP_H_

#include "runtime/text/buffer.h"
#include "runtime/text/tokenizer.h"

namespace fovea::text {

// As Hugging Face tokenizers: per grapheme cluster below six bytes (its shortest matching prefix replaces the whole
// cluster), else per character.
void CharsmapByGrapheme(const Tokenizer& tokenizer, const Step& step, const View& in, Buffer* out);

// As SentencePiece: the longest key at each position, with its rules for spaces.
void CharsmapSentencePiece(const Tokenizer& tokenizer, const Step& step, const View& in, Buffer* out);

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_CHARSMAP_H_
