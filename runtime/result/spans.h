// Merges tags of tokens into spans of the text, as the token classification pipeline of transformers does.
#ifndef FOVEA_RUNTIME_RESULT_SPANS_H_
#define FOVEA_RUNTIME_RESULT_SPANS_H_

#include "fovea/result.h"
#include "runtime/blob/blob.h"
#include "runtime/text/tokenizer.h"

namespace fovea {

// A tagged text. `scores`: [tokens->count, labels], probabilities; ids and ranges have been checked.
struct Tagged {
  const Blob& blob;
  const Tokenizer& tokenizer;
  const fovea_text_tokens& tokens;
  const char* text;
  const float* scores;
  uint32_t labels;
};

// Writes up to `capacity` spans and returns their number.
uint64_t MergeTags(const Tagged& tagged, uint32_t aggregation, fovea_span* spans, uint64_t capacity);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_RESULT_SPANS_H_
