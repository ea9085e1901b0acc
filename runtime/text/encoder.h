// Text to token ids: special tokens, template and truncation around normalizer, pre-tokenizer and model.
#ifndef FOVEA_RUNTIME_TEXT_ENCODER_H_
#define FOVEA_RUNTIME_TEXT_ENCODER_H_

#include <stdint.h>

#include "runtime/base/status.h"
#include "runtime/text/sink.h"
#include "runtime/text/tokenizer.h"

namespace fovea::text {

enum class Truncation : uint32_t { kLongestFirst = 0, kOnlyFirst = 1, kOnlySecond = 2 };

struct EncodeOptions {
  bool special_tokens = true;        // wrap the texts in the tokenizer's template
  bool literal = false;              // special tokens that a text spells are text
  uint64_t max_length = UINT64_MAX;  // for the result, special tokens included
  Truncation truncation = Truncation::kLongestFirst;
  bool from_left = false;  // truncate at the beginning
  uint64_t stride = 0;     // tokens that consecutive windows of a single text share
  uint64_t window = 0;     // which window of a single text
};

struct EncodeResult {
  uint64_t windows = 1;     // number for a single text with this max_length and stride
  uint64_t tokens[2] = {};  // per text before truncation, without special tokens
};

struct TextInput {
  const uint8_t* bytes = nullptr;
  uint64_t size = 0;
};

// Bytes of scratch for texts of up to `length` bytes each; UINT64_MAX if they are too long for any.
uint64_t ScratchSize(const Tokenizer& tokenizer, uint64_t length);

// One text to encode, or a pair of texts.
struct EncodeRequest {
  const Tokenizer& tokenizer;
  TextInput texts[2];
  uint32_t text_count;  // 1 or 2
  EncodeOptions options;
  void* scratch;          // on a multiple of 64
  uint64_t scratch_size;  // at least ScratchSize of the longer text
};

// Fills `arrays` and its count; a count above the capacity is FOVEA_E_CAPACITY.
Status Encode(const EncodeRequest& request, Reporter& reporter, TokenArrays* arrays, EncodeResult* result);

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_ENCODER_H_
