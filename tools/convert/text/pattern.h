// The regular expressions of pre-tokenizers, compiled to the tables that runtime/text/cutter.h walks.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_PATTERN_H_
#define FOVEA_TOOLS_CONVERT_TEXT_PATTERN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fovea::tools {

// A set of code points; the one above all of them is the end of the text.
using CodeSet = std::vector<bool>;
CodeSet SetOf(bool (*has)(uint32_t code));

// A pattern as it was read.
struct PatternNode {
  enum Kind { kEmpty, kSet, kNext, kSequence, kEither, kRepeat };
  Kind kind = kEmpty;
  CodeSet set;                                      // kSet: one character; kNext: what the next one must be
  std::vector<std::unique_ptr<PatternNode>> parts;  // kEither: the first that matches counts
  uint32_t least = 0, most = 0;                     // kRepeat: of its one part; most: kUnlimited
  static constexpr uint32_t kUnlimited = ~0u;
};
using Pattern = std::unique_ptr<PatternNode>;

// Reads what published tokenizers use of Oniguruma's syntax: alternatives, groups, (?i:..), classes with ranges,
// negation and classes within them, \s \S \d \D \w \W \r \n \t \x{..} \p{L*} \p{N*} \p{M*} \p{P*} \p{S*} and \P,
// greedy repetition, $ and lookahead (?=.) (?!.) at one character. Fails, with the pattern, at anything else.
Pattern ReadPattern(const std::string& regex);
Pattern LiteralPattern(const std::string& text);
Pattern SetPattern(CodeSet set);

// The tables of several patterns, which share their classes of characters.
struct PatternTables {
  std::vector<uint32_t> classes;      // text::kCutClasses
  uint32_t class_count = 0;           // the end of the text left out
  std::vector<uint16_t> transitions;  // text::kCutTransitions
  struct Place {
    uint32_t first, states;
  };
  std::vector<Place> places;  // of each pattern in `transitions`
};
// Fails for a pattern that matches nothing at all, or becomes too large.
PatternTables CompilePatterns(const std::vector<const PatternNode*>& patterns);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_PATTERN_H_
