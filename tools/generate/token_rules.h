// Masks tokens by the text generated so far.
#ifndef FOVEA_TOOLS_GENERATE_TOKEN_RULES_H_
#define FOVEA_TOOLS_GENERATE_TOKEN_RULES_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace fovea::tools {

struct TokenRules {
  uint32_t min_tokens = 0;                   // per text, including the end-of-text token
  uint32_t min_length = 0;                   // per text with its prompt, likewise
  uint32_t no_repeat_ngram = 0;              // no n-gram of this size occurs twice; 0: no rule
  uint32_t no_repeat_source_ngram = 0;       // no n-gram of this size occurs in the encoder's input; 0: no rule
  std::vector<std::vector<int32_t>> forbid;  // sequences that must not occur

  bool none() const {
    return min_tokens < 2 && min_length == 0 && no_repeat_ngram == 0 && no_repeat_source_ngram == 0 && forbid.empty();
  }
};

// An unfinished sequence.
struct RuledText {
  const std::vector<int32_t>& source;  // the encoder's input, or a decoder's prompt
  const std::vector<int32_t>& tokens;  // the prompt, then generated tokens
  size_t made = 0;                     // number of generated tokens
};

// Clears the bits of tokens that must not follow. `bits` has one for each of `tokens` tokens, as for
// fovea_allow_tokens.
void ApplyRules(const TokenRules& rules, const std::vector<int32_t>& stop_ids, const RuledText& text, uint32_t tokens,
                uint32_t* bits);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_TOKEN_RULES_H_
