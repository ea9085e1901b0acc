#include "runtime/result/words.h"

#include <string.h>

#include "runtime/result/space.h"

namespace fovea {
namespace {

bool IsWordByte(uint8_t byte) {
  const uint8_t letter = byte | 0x20;
  return byte >= 0x80 || (letter >= 'a' && letter <= 'z') || (byte >= '0' && byte <= '9') || byte == '_';
}

// The first UTF-8 byte of a character in a script without spaces (CJK).
bool IsIdeograph(uint8_t byte) { return byte >= 0xe3 && byte <= 0xe9; }

// Whether two tokens that touch belong to one word.
bool Joined(const uint8_t* text, uint64_t size, uint32_t end, uint32_t begin) {
  if (end != begin || begin == 0 || begin >= size) return false;
  return IsWordByte(text[begin - 1]) && IsWordByte(text[begin]) && !IsIdeograph(text[begin]);
}

}  // namespace

Status ReadWeights(const Session& session, const fovea_attention_map& map, uint32_t space, Reporter& reporter,
                   float* weights) {
  const Segments rows = session.space_rows[space].segments, keys = session.space_rows[map.key_space].segments;
  const auto other = [&] {
    return reporter.Fail(FOVEA_E_OPTION, "the attention map does not belong to this space", space, map.key_space);
  };
  if (map.data == nullptr || rows.count != keys.count) return other();
  for (uint32_t i = 0; i < rows.count; ++i) {
    if (keys.offsets[i + 1] - keys.offsets[i] < rows.offsets[i + 1] - rows.offsets[i]) return other();
  }
  const bool own = map.query_space == map.key_space;  // then the tapped row is the first of its segment
  uint32_t tapped = 0;
  for (uint32_t i = 0; i < rows.count; ++i) {
    const uint32_t first = rows.offsets[i], length = rows.offsets[i + 1] - first;
    const uint32_t front = keys.offsets[i + 1] - keys.offsets[i] - length;  // rows in front of an extended space
    memset(weights + first, 0, length * sizeof(float));
    if (tapped == map.rows || map.query_rows[tapped] != (own ? keys.offsets[i] : i)) continue;
    memcpy(weights + first, map.data + size_t{tapped} * map.heads * map.stride + front, length * sizeof(float));
    ++tapped;
  }
  return kOk;
}

uint64_t MergeWords(const char* text, uint64_t size, const fovea_text_tokens& tokens, uint64_t first, uint64_t count,
                    const float* weights, fovea_word* words, uint64_t capacity) {
  const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(text);
  uint64_t found = 0;
  uint32_t word_end = 0;
  double weight = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (tokens.special[first + i] != 0) continue;
    uint32_t begin = tokens.ranges[2 * (first + i)];
    const uint32_t end = tokens.ranges[2 * (first + i) + 1];
    while (begin < end && IsSpace(bytes[begin])) ++begin;
    if (begin >= end) continue;
    if (found == 0 || (begin >= word_end && !Joined(bytes, size, word_end, begin))) {
      if (found++ < capacity) words[found - 1].begin = begin;
      weight = 0, word_end = 0;
    }
    word_end = end > word_end ? end : word_end;
    weight += double{weights[i]};
    if (found > capacity) continue;
    words[found - 1].end = word_end;
    words[found - 1].weight = static_cast<float>(weight);
  }
  return found;
}

}  // namespace fovea
