// Read-only tables of a text section and searches in them. Position and record size of a table were checked when the
// section was opened; indices in its records are compared with a bound wherever they are used.
#ifndef FOVEA_RUNTIME_TEXT_TABLE_H_
#define FOVEA_RUNTIME_TEXT_TABLE_H_

#include <stdint.h>

#include "runtime/base/checked.h"
#include "runtime/text/format.h"

namespace fovea::text {

template <typename T>
struct Table {
  const T* data = nullptr;
  uint32_t size = 0;  // records
  const T& operator[](uint32_t i) const { return data[i]; }
};

struct Bytes {
  const uint8_t* data = nullptr;
  uint32_t size = 0;
};

inline Bytes Slice(Table<uint8_t> pool, uint32_t offset, uint32_t size) {
  if (!InBounds(offset, size, pool.size)) return {};
  return {pool.data + offset, size};
}

// Low 11 bits of the last entry whose code point is at most `code`; 0 if there is none.
inline uint32_t FindClass(Table<uint32_t> classes, uint32_t code) {
  uint32_t low = 0, high = classes.size;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (classes[middle] >> 11 <= code) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? 0 : classes[low - 1] & 0x7ff;
}

// The record of `ranges` that contains `code`, or null.
inline const MapRange* FindRange(Table<MapRange> ranges, uint32_t code) {
  uint32_t low = 0, high = ranges.size;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if ((ranges[middle].range & 0x1fffff) <= code) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return nullptr;
  const MapRange& found = ranges[low - 1];
  return code - (found.range & 0x1fffff) <= found.range >> 21 ? &found : nullptr;
}

// A double-array trie in the layout of the Darts-clone library, in which SentencePiece publishes character maps; all
// tries of the section have it. A step costs one comparison with the bound, so any bytes are safe.
struct Trie {
  const uint32_t* units = nullptr;
  uint32_t count = 0;

  static uint32_t Offset(uint32_t unit) { return unit >> 10 << ((unit & (1u << 9)) >> 6); }

  // Follows the edge `byte` from `*node` (0: root).
  bool Step(uint8_t byte, uint32_t* node) const {
    if (*node >= count) return false;
    const uint32_t next = *node ^ Offset(units[*node]) ^ byte;
    if (next >= count || (units[next] & 0x800000ffu) != byte) return false;
    *node = next;
    return true;
  }
  // Whether a key ends at `node`, and its value.
  bool Value(uint32_t node, uint32_t* value) const {
    if (node >= count || (units[node] >> 8 & 1) == 0) return false;
    const uint32_t leaf = node ^ Offset(units[node]);
    if (leaf >= count) return false;
    *value = units[leaf] & 0x7fffffffu;
    return true;
  }
  // The longest key that `bytes` start with, searched from `node`. Returns its size, 0: none.
  uint32_t Longest(uint32_t node, const uint8_t* bytes, uint32_t size, uint32_t* value) const {
    uint32_t longest = 0;
    for (uint32_t i = 0; i < size && Step(bytes[i], &node);) {
      ++i;
      if (Value(node, value)) longest = i;
    }
    return longest;
  }
};

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_TABLE_H_
