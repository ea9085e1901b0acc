// Texts that are longer than a model reads: which, and how much of each is left out. Every command that encodes texts
// counts them here and reports the line.
#ifndef FOVEA_TOOLS_COMMON_CUTS_H_
#define FOVEA_TOOLS_COMMON_CUTS_H_

#include <stdint.h>

#include <ostream>
#include <string>
#include <vector>

#include "tools/common/print.h"
#include "tools/common/text.h"

namespace fovea::tools {

class Cuts {
 public:
  Cuts() = default;
  explicit Cuts(const std::vector<Tokens>& texts);

  // The next text, of which this many tokens and (of a document) sentences are left out.
  void Add(const Tokens& tokens) { Add(tokens.dropped, tokens.dropped_sentences); }
  void Add(uint64_t tokens, uint64_t sentences = 0);
  bool any() const { return cut_ != 0; }

  // "2 of 5 texts are longer than the model reads; left out: 31 tokens (text 2: 12 tokens, text 4: 19 tokens)".
  std::string Line() const;
  // Texts that are cut, the tokens and sentences left out of them, and the line.
  OrderedJson Json() const;

 private:
  struct Cut {
    uint64_t number, tokens, sentences;  // texts count from 1
  };
  uint64_t texts_ = 0, cut_ = 0, tokens_ = 0, sentences_ = 0;
  std::vector<Cut> first_;
};

// A line on standard error if there is something to report.
void Report(const Cuts& cuts, std::ostream& err);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_CUTS_H_
