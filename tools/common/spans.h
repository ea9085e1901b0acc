// Tags of tokens merged to spans of the text, as transformers' pipeline for token classification does.
#ifndef FOVEA_TOOLS_COMMON_SPANS_H_
#define FOVEA_TOOLS_COMMON_SPANS_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace fovea::tools {

// What the tokens of a word together say.
enum class Aggregation {
  kSimple,   // each token by itself
  kFirst,    // what its first token says
  kAverage,  // the best tag of the mean of their probabilities
  kMax       // what the token that is surest says
};

struct TaggedToken {
  std::vector<double> shares;  // probability of each label
  uint32_t begin, end;         // bytes of the text
  bool continues;              // the word of the token before
};

struct Span {
  std::string label;  // without what begins it in the scheme: "PER" of "B-PER"
  uint32_t begin, end;
  double probability;  // the mean of its tokens' or words'
};

// Labels are "O" for none, and others plain or with B- (begins), I- (goes on), E- or L- (ends), S- or U- (is alone) in
// front; the last four count as such where B- or I- of the same label is a label, too. Neighbours of one label are one
// span, unless the second begins or the first ends.
std::vector<Span> SpansOf(const std::vector<TaggedToken>& tokens, const std::vector<std::string>& labels,
                          Aggregation aggregation);

// Without spaces at its beginning, which tokens of some tokenizers include.
Span WithoutSpaces(Span span, const std::string& text);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_SPANS_H_
