// An encoder of two levels: words within their sentences, sentences within their document.
#ifndef FOVEA_TESTS_SUPPORT_TWO_LEVELS_H_
#define FOVEA_TESTS_SUPPORT_TWO_LEVELS_H_

#include "tests/support/model_builder.h"

namespace fovea::test {

struct EncoderSize {
  uint32_t width, heads, ffn;
};

// A post-norm layer over the rows of a space.
uint32_t EncoderLayer(ModelBuilder& b, uint32_t x, uint32_t space, DType type, const EncoderSize& size);

// Two layers over the words of each sentence, their mean, one layer over the sentences of each document, its mean.
struct TwoLevels {
  uint32_t documents, sentences, tokens, ids, vectors;
};
TwoLevels BuildTwoLevels(ModelBuilder& b, DType type, const EncoderSize& size, uint32_t vocabulary = 1000);

}  // namespace fovea::test

#endif  // FOVEA_TESTS_SUPPORT_TWO_LEVELS_H_
