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
  void ClearAllBut(const std::vector<int32_t>& few) {
    std::vector<uint32_t> kept((tokens_ + 31) / 32);
    for (const int32_t token : few) {
      if (token < 0 || static_cast<uint32_t>(token) >= tokens_) continue;
      kept[token / 32] |= bits_[token / 32] & 1u << (token % 32);
    }
    std::copy(kept.begin(), kept.end(), bits_);
  }

 private:
  const uint32_t tokens_;
  uint32_t* const bits_;
};

}  // namespace

void ApplyRules(const TokenRules& rules, const std::vector<int32_t>& stop_ids, const std::vector<int32_t>& text,
                size_t made, uint32_t tokens, uint32_t* bits) {
  Bits allowed(tokens, bits);
  if (!rules.only.empty()) allowed.ClearAllBut(rules.only);
  if (made + 1 < rules.min_tokens) {
    for (const int32_t id : stop_ids) allowed.Clear(id);
  }
  for (const std::vector<int32_t>& sequence : rules.forbid) {
    const size_t before = sequence.size() - 1;  // the last one is what would complete it
    if (before > text.size()) continue;
    if (std::equal(sequence.begin(), sequence.end() - 1, text.end() - static_cast<ptrdiff_t>(before))) {
      allowed.Clear(sequence.back());
    }
  }
  const size_t n = rules.no_repeat_ngram;
  if (n == 0 || text.size() < n) return;
  const auto last = text.end() - static_cast<ptrdiff_t>(n - 1);
  for (auto at = text.begin(); at + static_cast<ptrdiff_t>(n) <= text.end(); ++at) {
    if (std::equal(last, text.end(), at)) allowed.Clear(at[static_cast<ptrdiff_t>(n - 1)]);
  }
}

}  // namespace fovea::tools
