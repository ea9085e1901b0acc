// Word timestamps from the decoder's cross-attention, by the method of Whisper's authors.
#ifndef FOVEA_TOOLS_GENERATE_WORD_TIMES_H_
#define FOVEA_TOOLS_GENERATE_WORD_TIMES_H_

#include <functional>

#include "tools/generate/spoken.h"

namespace fovea::tools {

// Weights of attention heads: [heads][tokens][frames].
struct HeadWeights {
  size_t heads = 0, tokens = 0, frames = 0;
  std::vector<double> values;
  double* Row(size_t head, size_t token) { return values.data() + (head * tokens + token) * frames; }
};

// The frame at which each token in [from, end) begins. Weights are normalised over a token's frames, standardised per
// frame over the tokens of a head, and smoothed by a median filter of `width` frames; dynamic time warping over the
// mean of the heads gives the alignment.
std::vector<size_t> FirstFrames(HeadWeights weights, size_t width, size_t from, size_t end);

using TextOfTokens = std::function<std::string(const std::vector<int32_t>&)>;

// Groups tokens into words without times: complete characters and, with `spaces`, everything between spaces, with
// punctuation separate.
std::vector<TimedWord> SplitWords(const std::vector<int32_t>& tokens, bool spaces, const TextOfTokens& text_of);

// Shortens the words at ends of sentences, which absorb pauses, to twice the median duration, which it returns (0.7
// seconds at most).
double ShortenWords(std::vector<TimedWord>* words);

// Merges punctuation with the word before or after it.
void MergePunctuation(std::vector<TimedWord>* words);

// Assigns the words of a window to its segments, given the number of tokens of each; a segment's times become the
// times of its words if they are close. `last_end`: end of the words before; updated to the end of these.
void ShareWords(const std::vector<TimedWord>& words, const std::vector<size_t>& tokens, double median, double* last_end,
                std::vector<SpokenSegment>* segments);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_WORD_TIMES_H_
