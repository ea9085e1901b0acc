// Records which texts are longer than a model reads, how much of each is dropped, and which spell special tokens. Every
// command that encodes texts uses it and reports its lines.
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

  // Adds the next text, with the numbers of its dropped tokens, (for a document) sentences and spelled special tokens.
  void Add(const Tokens& tokens) { Add(tokens.dropped, tokens.dropped_sentences, tokens.spelled); }
  void Add(uint64_t tokens, uint64_t sentences = 0, uint64_t spelled = 0);
  bool any() const { return cut_ != 0; }
  // Texts that spell special tokens.
  uint64_t spelling() const { return spelling_; }

  // "2 of 5 texts are longer than the model reads; left out: 31 tokens (text 2: 12 tokens, text 4: 19 tokens)".
  std::string Line() const;
  // "1 of 5 texts spells special tokens, which are read as such; --literal reads them as text".
  std::string SpellingLine() const;
  // The truncated texts, their dropped tokens and sentences, and the line.
  OrderedJson Json() const;

 private:
  struct Truncation {
    uint64_t number, tokens, sentences;  // text number, from 1
  };
  uint64_t texts_ = 0, cut_ = 0, tokens_ = 0, sentences_ = 0, spelling_ = 0;
  std::vector<Truncation> first_;
};

// Prints on standard error a line if a text was truncated, and one if a text spells special tokens.
void PrintTruncations(const Truncations& truncations, std::ostream& err);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_TRUNCATION_H_
