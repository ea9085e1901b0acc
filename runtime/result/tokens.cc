#include "runtime/result/tokens.h"

#include <string.h>

#include "runtime/result/space.h"

namespace fovea {

bool ContinuesWord(const Tokenizer& tokenizer, const fovea_text_tokens& tokens, const char* text, uint64_t token) {
  const auto id = static_cast<uint32_t>(tokens.ids[token]);
  if (id == tokenizer.header.unknown_id) return false;
  if (tokenizer.header.model == FOVEA_TEXT_WORD_PIECE) {
    const text::Bytes piece = tokenizer.Piece(id), prefix = tokenizer.prefix;
    return prefix.size != 0 && piece.size > prefix.size && memcmp(piece.data, prefix.data, prefix.size) == 0;
  }
  const auto is_space = [text](uint32_t at) { return IsSpace(static_cast<uint8_t>(text[at])); };
  const uint32_t begin = tokens.ranges[2 * token], end = tokens.ranges[2 * token + 1];
  return begin > 0 && !is_space(begin - 1) && (begin == end || !is_space(begin));
}

TokenRange SecondOf(const fovea_text_tokens& pair) {
  // From `at` on, the first token that is special or is not.
  const auto next = [&pair](uint64_t at, bool special) {
    while (at < pair.count && (pair.special[at] != 0) != special) ++at;
    return at;
  };
  uint64_t begin = next(0, false);
  if (pair.text_tokens[0] != 0) {
    const uint64_t end = next(begin, true);
    // A template may have no special tokens between the texts.
    begin = end - begin > pair.text_tokens[0] ? begin + pair.text_tokens[0] : next(end, false);
  }
  return {begin, next(begin, true)};
}

}  // namespace fovea
