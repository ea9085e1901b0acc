// Which words a run attended to: weights of the rows of a space, and tokens merged into words.
#ifndef FOVEA_RUNTIME_RESULT_WORDS_H_
#define FOVEA_RUNTIME_RESULT_WORDS_H_

#include "fovea/result.h"
#include "runtime/session/session.h"

namespace fovea {

// The weight of each row of `space` within its segment, from a recorded map with one tapped row for each segment (or
// for each that is not empty). `weights`: [rows of the space].
Status ReadWeights(const Session& session, const fovea_attention_map& map, uint32_t space, Reporter& reporter,
                   float* weights);

// Writes up to `capacity` words and returns their number; ranges have been checked.
uint64_t MergeWords(const char* text, uint64_t size, const fovea_text_tokens& tokens, uint64_t first, uint64_t count,
                    const float* weights, fovea_word* words, uint64_t capacity);

}  // namespace fovea

#endif  // FOVEA_RUNTIME_RESULT_WORDS_H_
