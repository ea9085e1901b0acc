// Uses a tokenizer section and texts, which may be anything, in every way that fovea/text.h allows.
#ifndef FOVEA_TESTS_FUZZ_TEXT_USE_H_
#define FOVEA_TESTS_FUZZ_TEXT_USE_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "tests/fuzz/guarded.h"
#include "tests/fuzz/transcript.h"

namespace fovea::fuzz {

// `blob`: a model with a tokenizer. What comes out does not depend on the filling.
Transcript UseText(const std::vector<uint8_t>& blob, const std::string& text, uint64_t seed, Filling filling);

// The sentences of a text: in order, not empty, and all that is no white space is in one.
void UseSentences(const std::string& text, uint32_t flags);

}  // namespace fovea::fuzz

#endif  // FOVEA_TESTS_FUZZ_TEXT_USE_H_
