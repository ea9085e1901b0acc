// Added tokens ([MASK], <s>, ...): found in the text before, or after, normalization, and never split.
#ifndef FOVEA_RUNTIME_TEXT_ADDED_TOKENS_H_
#define FOVEA_RUNTIME_TEXT_ADDED_TOKENS_H_

#include <algorithm>

#include "runtime/text/buffer.h"
#include "runtime/text/tokenizer.h"

namespace fovea::text {

inline bool HasClass(const Tokenizer& tokenizer, const View& text, uint32_t at, uint32_t bits) {
  return (FindClass(tokenizer.classes, text.At(at).code) & bits) != 0;
}

// Cuts `text` at the tokens of `trie`: calls plain(begin, end) for the non-empty stretches between tokens and token(id,
// begin, end) for each token with the spaces that it absorbs. `literal`: special tokens are text.
template <typename Plain, typename Token>
void SplitAtAdded(const Tokenizer& tokenizer, const Trie& trie, bool literal, const View& text, const Plain& plain,
                  const Token& token) {
  uint32_t from = 0;
  bool starts = true;  // whether a token with kAddedAtStart may begin at `from`
  for (uint32_t at = 0; at < text.size && trie.count != 0;) {
    uint32_t index = 0;
    const uint32_t size = trie.Longest(0, text.bytes + at, std::min(text.size - at, kMaxPieceBytes), &index);
    if (size == 0 || index >= tokenizer.added.size) {
      ++at;
      continue;
    }
    const Added& added = tokenizer.added[index];
    uint32_t begin = at, end = at + size;
    at = end;
    if (end <= from) continue;  // within the spaces that the previous token absorbed
    if (literal && (added.flags & kAddedSpecial) != 0) continue;
    const bool at_start = (added.flags & kAddedAtStart) != 0;
    if (at_start && (begin != from || !starts)) continue;
    if ((added.flags & kAddedSingleWord) != 0) {
      const bool before = begin != 0 && HasClass(tokenizer, text, PreviousChar(text.bytes, begin), kClassWord);
      const bool after = end != text.size && HasClass(tokenizer, text, end, kClassWord);
      if (before || after) continue;
    }
    begin = std::max(begin, from);
    if ((added.flags & kAddedLstrip) != 0) {
      while (begin > from) {
        const uint32_t previous = PreviousChar(text.bytes, begin);
        if (previous < from || !HasClass(tokenizer, text, previous, kClassWhitespace)) break;
        begin = previous;
      }
    }
    if ((added.flags & kAddedRstrip) != 0) {
      while (end < text.size && HasClass(tokenizer, text, end, kClassWhitespace)) end += text.At(end).size;
    }
    if (from < begin) plain(from, begin);
    token(added.id, begin, end);
    from = end;
    starts = !at_start;
  }
  if (from < text.size) plain(from, text.size);
}

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_ADDED_TOKENS_H_
