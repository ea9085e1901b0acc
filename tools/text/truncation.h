// Records which texts are longer than a model reads, and how much of each is dropped. Every command that encodes texts
// uses it and reports its line.
#ifndef FOVEA_TOOLS_TEXT_TRUNCATION_H_
#define FOVEA_TOOLS_TEXT_TRUNCATION_H_

#include <stdint.h>

#include <ostream>
#include <string>
#include <vector>

#include "tools/base/print.h"
#include "tools/text/tokenizer.h"

namespace fovea::tools {

class Truncations {
 public:
  Truncations() = default;
  explicit Truncations(const std::vector<Tokens>& texts);

  // Adds the next text, with the numbers of its dropped tokens and (for a document) sentences.
  void Add(const Tokens& tokens) { Add(tokens.dropped, tokens.dropped_sentences); }
  void Add(uint64_t tokens, uint64_t sentences = 0);
  bool any() const { return cut_ != 0; }

  // "2 of 5 texts are longer than the model reads; left out: 31 tokens (text 2: 12 tokens, text 4: 19 tokens)".
  std::string Line() const;
  // The truncated texts, their dropped tokens and sentences, and the line.
  OrderedJson Json() const;

 private:
  struct Truncation {
    uint64_t number, tokens, sentences;  // text number, from 1
  };
  uint64_t texts_ = 0, cut_ = 0, tokens_ = 0, sentences_ = 0;
  std::vector<Truncation> first_;
};

// Prints the line on standard error if a text was truncated.
void PrintTruncations(const Truncations& truncations, std::ostream& err);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_TRUNCATION_H_
