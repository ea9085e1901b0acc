// Merges tags of tokens into spans of the text, as the token classification pipeline of transformers does.
#ifndef FOVEA_TOOLS_PREDICTION_SPANS_H_
#define FOVEA_TOOLS_PREDICTION_SPANS_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace fovea::tools {

// How the tags of a word's tokens are combined.
enum class Aggregation {
  kSimple,   // no combination: each token has its tag
  kFirst,    // tag of the first token
  kAverage,  // best tag of the mean probabilities
  kMax       // tag of the token with the highest probability
};

struct TaggedToken {
  std::vector<double> shares;  // probability of each label
  uint32_t begin, end;         // bytes of the text
  bool continues;              // the word of the previous token
};

struct Span {
  std::string label;  // without the prefix of the scheme: "PER" of "B-PER"
  uint32_t begin, end;
  double probability;  // mean over its tokens or words
};

// Labels are "O" for none, and plain ones or ones with the prefix B- (begin), I- (inside), E- or L- (end), S- or U-
// (single); the last four are prefixes only if B- or I- of the same label also exists. Neighbours of one label form one
// span, unless the second is a beginning or the first an end.
std::vector<Span> SpansOf(const std::vector<TaggedToken>& tokens, const std::vector<std::string>& labels,
                          Aggregation aggregation);

// Removes leading spaces, which tokens of some tokenizers include.
Span WithoutSpaces(Span span, const std::string& text);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_PREDICTION_SPANS_H_
