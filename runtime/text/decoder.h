// Token ids to text: all at once, or incrementally.
#ifndef FOVEA_RUNTIME_TEXT_DECODER_H_
#define FOVEA_RUNTIME_TEXT_DECODER_H_

#include <stdint.h>

#include "runtime/base/status.h"
#include "runtime/text/tokenizer.h"

namespace fovea::text {

struct DecodeOptions {
  bool skip_special = true;  // leave out special tokens
  bool clean_up = false;     // remove the spaces before punctuation and English contractions in the whole text
};

// State of incremental decoding. Zeros begin a text.
struct DecodeState {
  uint32_t held;         // the id that waits for the next one, plus 1; 0: none
  uint32_t stripped;     // characters removed before the text
  uint8_t pending[4];    // the first bytes of an incomplete character
  uint8_t pending_size;  // and their number
  uint8_t begun;         // a piece was decoded
  uint8_t written;       // the text has a byte
  uint8_t dropped;       // kSentencePiece: the mark before the text
};

// Writes UTF-8 without a terminator. `*size` becomes the bytes of the whole text; if it is above `capacity` the status
// is FOVEA_E_CAPACITY and `*size` the bytes before clean-up.
Status Decode(const Tokenizer& tokenizer, const int32_t* ids, uint64_t count, const DecodeOptions& options,
              Reporter& reporter, uint8_t* out, uint64_t capacity, uint64_t* size);

// Writes the text that `ids` add, in whole characters; with `last` also everything held back. The concatenation is what
// Decode writes without clean-up. `state` changes only on success.
Status DecodeNext(const Tokenizer& tokenizer, const int32_t* ids, uint64_t count, bool skip_special, bool last,
                  DecodeState* state, Reporter& reporter, uint8_t* out, uint64_t capacity, uint64_t* size);

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_DECODER_H_
