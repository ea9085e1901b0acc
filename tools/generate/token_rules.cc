#include "tools/generate/token_rules.h"

#include <algorithm>

namespace fovea::tools {
namespace {

class Bits {
 public:
  Bits(uint32_t tokens, uint32_t* bits) : tokens_(tokens), bits_(bits) {}
  void Clear(int32_t token) {
    if (token < 0 || static_cast<uint32_t>(token) >= tokens_) return;
    bits_[token / 32] &= ~(1u << (token % 32));
  }

 private:
  const uint32_t tokens_;
  uint32_t* const bits_;
};

// Clears tokens that would complete an n-gram of `count` tokens that occurs in the first list.
void ClearRepeated(size_t count, const std::vector<int32_t>& told, const std::vector<int32_t>& text, Bits* allowed) {
  if (count == 0 || text.size() + 1 < count || told.size() < count) return;
  const auto last = text.end() - static_cast<ptrdiff_t>(count - 1);
  for (auto at = told.begin(); at + static_cast<ptrdiff_t>(count) <= told.end(); ++at) {
    if (std::equal(last, text.end(), at)) allowed->Clear(at[static_cast<ptrdiff_t>(count - 1)]);
  }
}

}  // namespace

void ApplyRules(const TokenRules& rules, const std::vector<int32_t>& stop_ids, const RuledText& text, uint32_t tokens,
                uint32_t* bits) {
  Bits allowed(tokens, bits);
  if (text.made + 1 < rules.min_tokens || text.tokens.size() < rules.min_length) {
    for (const int32_t id : stop_ids) allowed.Clear(id);
  }
  for (const std::vector<int32_t>& sequence : rules.forbid) {
    const size_t before = sequence.size() - 1;  // the last token would complete the sequence
    if (before > text.tokens.size()) continue;
    if (std::equal(sequence.begin(), sequence.end() - 1, text.tokens.end() - static_cast<ptrdiff_t>(before))) {
      allowed.Clear(sequence.back());
    }
  }
  ClearRepeated(rules.no_repeat_ngram, text.tokens, text.tokens, &allowed);
  ClearRepeated(rules.no_repeat_source_ngram, text.source, text.tokens, &allowed);
}

}  // namespace fovea::tools
