// Tokens that may not follow, by what a text has already.
#ifndef FOVEA_TOOLS_GENERATE_TOKEN_RULES_H_
#define FOVEA_TOOLS_GENERATE_TOKEN_RULES_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace fovea::tools {

struct TokenRules {
  uint32_t min_tokens = 0;                   // of a text, that which ends it included
  uint32_t no_repeat_ngram = 0;              // so many tokens in a row come once; 0: as often as they like
  uint32_t no_repeat_source_ngram = 0;       // so many in a row of what the encoder read do not come; 0: they may
  std::vector<std::vector<int32_t>> forbid;  // sequences that do not come

  bool none() const { return min_tokens < 2 && no_repeat_ngram == 0 && no_repeat_source_ngram == 0 && forbid.empty(); }
};

// A text in the making.
struct RuledText {
  const std::vector<int32_t>& source;  // what an encoder read, if there is one
  const std::vector<int32_t>& tokens;  // what was given, then
  size_t made = 0;                     // so many of generation
};

// Clears the bits of tokens that may not follow. `bits` has one for each of `tokens` tokens, as fovea_allow_tokens
// says.
void ApplyRules(const TokenRules& rules, const std::vector<int32_t>& stop_ids, const RuledText& text, uint32_t tokens,
                uint32_t* bits);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_TOKEN_RULES_H_
