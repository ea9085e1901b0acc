// When words were said, by where a decoder looks while it writes them: as Whisper's authors find it.
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

// The frame at which each of the tokens from `from` on, before `end`, begins. Weights of a token become a part of their
// sum, each frame is normed over all tokens of its head and smoothed by a median of `width` frames; along the mean of
// the heads runs the path through tokens and frames that looks most (dynamic time warping).
std::vector<size_t> FirstFrames(HeadWeights weights, size_t width, size_t from, size_t end);

using TextOfTokens = std::function<std::string(const std::vector<int32_t>&)>;

// Tokens as words without times: as much as makes whole characters and, with `spaces`, all that stands between spaces,
// punctuation by itself.
std::vector<TimedWord> SplitWords(const std::vector<int32_t>& tokens, bool spaces, const TextOfTokens& text_of);

// Pauses at the ends of sentences are no part of words: these become as long as twice the median there, which it
// returns. It is 0.7 seconds at most.
double ShortenWords(std::vector<TimedWord>* words);

// Punctuation becomes a part of the word before or after it.
void MergePunctuation(std::vector<TimedWord>* words);

// Words of a window, of which each segment has so many tokens, go to the segments, whose times become theirs where the
// two are not far apart. `last_end`: where the words before them ended; becomes where these do.
void ShareWords(const std::vector<TimedWord>& words, const std::vector<size_t>& tokens, double median, double* last_end,
                std::vector<SpokenSegment>* segments);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_WORD_TIMES_H_
