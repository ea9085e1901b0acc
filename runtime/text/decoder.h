// Token ids to text.
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

// Writes UTF-8 without a terminator. `*size` becomes the bytes of the whole text; above `capacity` it is
// FOVEA_E_CAPACITY, with the bytes that the text needs before clean-up.
Status Decode(const Tokenizer& tokenizer, const int32_t* ids, uint64_t count, const DecodeOptions& options,
              Reporter& reporter, uint8_t* out, uint64_t capacity, uint64_t* size);

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_DECODER_H_
