// Cuts normalized text into words and passes each to the model.
#ifndef FOVEA_RUNTIME_TEXT_PRETOKENIZER_H_
#define FOVEA_RUNTIME_TEXT_PRETOKENIZER_H_

#include "runtime/text/buffer.h"
#include "runtime/text/scratch.h"
#include "runtime/text/sink.h"
#include "runtime/text/tokenizer.h"

namespace fovea::text {

// `text` may be in one of the scratch buffers; the other one is used. Returns false if it was too small, or if a
// pattern's table took too long.
bool PreTokenize(const Tokenizer& tokenizer, const View& text, Scratch* scratch, Sink* sink);

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_PRETOKENIZER_H_
