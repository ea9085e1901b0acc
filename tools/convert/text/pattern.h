// Regular expressions of pre-tokenizers, compiled to the tables for runtime/text/cutter.h.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_PATTERN_H_
#define FOVEA_TOOLS_CONVERT_TEXT_PATTERN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fovea::tools {

// A set of code points; the highest entry is the end of the text.
using CodeSet = std::vector<bool>;
CodeSet SetOf(bool (*has)(uint32_t code));

// A node of a parsed pattern.
struct PatternNode {
  enum Kind { kEmpty, kSet, kNext, kSequence, kEither, kRepeat };
  Kind kind = kEmpty;
  CodeSet set;                                      // kSet: one character; kNext: the next character (lookahead)
  std::vector<std::unique_ptr<PatternNode>> parts;  // kEither: the first that matches
  uint32_t least = 0, most = 0;                     // kRepeat of its one part; most: kUnlimited
  static constexpr uint32_t kUnlimited = ~0u;
};
using Pattern = std::unique_ptr<PatternNode>;

// Parses the part of Oniguruma's syntax that published tokenizers use: alternatives, groups, (?i:..), classes with
// ranges, negation and nested classes, \s \S \d \D \w \W \r \n \t \x{..} \p{L*} \p{N*} \p{M*} \p{P*} \p{S*} and \P,
// scripts (scripts.h), greedy repetition, possessive repetition that equals greedy, $ and lookahead (?=.) (?!.) at one
// character. Fails, with the pattern, for anything else.
Pattern ReadPattern(const std::string& regex);
Pattern LiteralPattern(const std::string& text);
Pattern SetPattern(CodeSet set);

// The tables of several patterns, which share character classes.
struct PatternTables {
  std::vector<uint32_t> classes;      // text::kCutClasses
  uint32_t class_count = 0;           // without the end of the text
  std::vector<uint16_t> transitions;  // text::kCutTransitions
  struct Place {
    uint32_t first, states;
  };
  std::vector<Place> places;  // location of each pattern in `transitions`
};
// Fails for a pattern that matches the empty string, or becomes too large.
PatternTables CompilePatterns(const std::vector<const PatternNode*>& patterns);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_PATTERN_H_
