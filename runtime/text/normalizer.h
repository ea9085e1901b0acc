// The normalizer of a tokenizer: a short list of steps, each reading one buffer and writing the other.
#ifndef FOVEA_RUNTIME_TEXT_NORMALIZER_H_
#define FOVEA_RUNTIME_TEXT_NORMALIZER_H_

#include "runtime/text/buffer.h"
#include "runtime/text/tokenizer.h"

namespace fovea::text {

// Limits of a step's parameters, so that its work stays proportional to the text.
inline constexpr uint32_t kMaxPattern = 255;  // bytes of the pattern of kReplace
inline constexpr uint32_t kMaxPrefix = 64;    // bytes that a step puts before a text or word

// Runs all steps on `in`. `*out` is in buffers[0] or buffers[1], or is `in` if there are no steps. Returns false if a
// buffer was too small. `*peak`, if not null, becomes the largest size of any step's result.
bool Normalize(const Tokenizer& tokenizer, const View& in, Buffer buffers[2], View* out, uint32_t* peak = nullptr);

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_NORMALIZER_H_
