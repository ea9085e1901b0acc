// Feeding a decoder: prompts first, then the last token of each text.
#ifndef FOVEA_RUNTIME_GENERATE_FEED_H_
#define FOVEA_RUNTIME_GENERATE_FEED_H_

#include <stdint.h>

#include "runtime/base/status.h"

namespace fovea {

struct Generator;

// For a decoder with a KV cache: the prompts, in the caller's memory, and how many of their tokens are read.
struct Prompts {
  const int32_t* tokens = nullptr;
  const uint32_t* lengths = nullptr;
  bool keeps = false;               // texts are continued, not emptied first
  uint32_t* taken = nullptr;        // [max texts] tokens read so far
  uint32_t* run_lengths = nullptr;  // [max rows] tokens in the current run
};

Status TakePrompts(Generator& generator, const int32_t* tokens, const uint32_t* lengths, uint32_t count, bool keep,
                   Reporter& reporter);
// Runs the decoder on the pending tokens of each text. Prefill of prompts takes as many runs as the limits require.
Status Feed(Generator& generator, Reporter& reporter);
// Runs the decoder on run_lengths[i] tokens of each text, from tokens[i * stride] on.
Status ReadTokens(Generator& generator, const int32_t* tokens, uint32_t stride, Reporter& reporter);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_GENERATE_FEED_H_
