// Token ids to text: all at once, or as they come.
#ifndef FOVEA_RUNTIME_TEXT_DECODER_H_
#define FOVEA_RUNTIME_TEXT_DECODER_H_

#include <stdint.h>

#include "runtime/base/status.h"
#include "runtime/text/tokenizer.h"

namespace fovea::text {

struct DecodeOptions {
  bool skip_special = true;  // leave special tokens out
  bool clean_up = false;     // remove the spaces before punctuation and English contractions in the whole text
};

// What decoding has to know of the ids before. Zeros begin a text.
struct DecodeState {
  uint32_t held;         // one above the id that waits for the next one; 0: none
  uint32_t stripped;     // characters removed in front of the text
  uint8_t pending[4];    // the beginning of a character ..
  uint8_t pending_size;  // .. of so many bytes
  uint8_t begun;         // a piece was decoded
  uint8_t written;       // the text has a byte
  uint8_t dropped;       // of kSentencePiece: the mark in front of the text
};

// Writes UTF-8 without a terminator. `*size` becomes the bytes of the whole text; above `capacity` it is
// FOVEA_E_CAPACITY, with the bytes that the text needs before clean-up.
Status Decode(const Tokenizer& tokenizer, const int32_t* ids, uint64_t count, const DecodeOptions& options,
              Reporter& reporter, uint8_t* out, uint64_t capacity, uint64_t* size);

// The text that `ids` add to what came before, in whole characters; with `last` what was held back, too. All texts
// together are what Decode writes (without clean-up). Changes `state` only when it succeeds.
Status DecodeNext(const Tokenizer& tokenizer, const int32_t* ids, uint64_t count, bool skip_special, bool last,
                  DecodeState* state, Reporter& reporter, uint8_t* out, uint64_t capacity, uint64_t* size);

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_DECODER_H_
