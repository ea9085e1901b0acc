// The normalizer of a tokenizer: a short list of steps, each from one buffer to the other.
#ifndef FOVEA_RUNTIME_TEXT_NORMALIZER_H_
#define FOVEA_RUNTIME_TEXT_NORMALIZER_H_

#include "runtime/text/buffer.h"
#include "runtime/text/tokenizer.h"

namespace fovea::text {

// Limits of what a step may be told, so that its work stays in proportion to the text.
inline constexpr uint32_t kMaxPattern = 255;  // bytes of what kReplace looks for
inline constexpr uint32_t kMaxPrefix = 64;    // bytes that steps put in front of a text or word

// Runs all steps on `in`. `*out` lies in buffers[0] or buffers[1], or is `in` when there are no steps. Returns false
// when a buffer was too small. `*peak`, when wanted, becomes the largest size of any step's result.
bool Normalize(const Tokenizer& tokenizer, const View& in, Buffer buffers[2], View* out, uint32_t* peak = nullptr);

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_NORMALIZER_H_
