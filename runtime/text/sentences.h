// Finds sentences in a text: Unicode's sentence boundaries (UAX 29), simplified; README.md has the rules.
#ifndef FOVEA_RUNTIME_TEXT_SENTENCES_H_
#define FOVEA_RUNTIME_TEXT_SENTENCES_H_

#include <stdint.h>

namespace fovea::text {

struct SentenceRange {
  uint64_t begin = 0, end = 0;  // bytes; neither starts nor ends with space
};

// Finds the first sentence that starts at byte `from` or later; false if there is none. `wrapped`: a single line end is
// a space. Accepts any bytes: invalid UTF-8 counts as ordinary characters. Going through a whole text takes time linear
// in its size.
bool NextSentence(const uint8_t* text, uint64_t size, uint64_t from, bool wrapped, SentenceRange* sentence);

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_SENTENCES_H_
