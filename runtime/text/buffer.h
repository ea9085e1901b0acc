// Text during tokenization: each byte keeps the character of the caller's text that it comes from.
#ifndef FOVEA_RUNTIME_TEXT_BUFFER_H_
#define FOVEA_RUNTIME_TEXT_BUFFER_H_

#include <stdint.h>
#include <string.h>

#include "runtime/text/utf8.h"

namespace fovea::text {

// A range of bytes. `origin[i]` is the offset in the caller's text of the character that byte i comes from. A null
// origin means that the bytes are the caller's text from `base` on.
struct View {
  const uint8_t* bytes = nullptr;
  const uint32_t* origin = nullptr;
  uint32_t base = 0;
  uint32_t size = 0;

  View Sub(uint32_t begin, uint32_t end) const {
    return {bytes + begin, origin == nullptr ? nullptr : origin + begin, base + begin, end - begin};
  }
  Char At(uint32_t i) const { return ReadChar(bytes + i, size - i); }
  uint32_t OriginOf(uint32_t i) const {
    if (origin != nullptr) return origin[i];
    while (i > 0 && (bytes[i] & 0xc0) == 0x80) --i;
    return base + i;
  }
};

// Appends at the end within fixed memory. Appending beyond its limit sets `overflow` and is otherwise ignored.
struct Buffer {
  uint8_t* bytes = nullptr;
  uint32_t* origin = nullptr;
  uint32_t capacity = 0;
  uint32_t limit = 0;  // at most `capacity`
  uint32_t size = 0;
  bool overflow = false;

  bool Fits(uint64_t count) {
    overflow = overflow || count > limit - size;
    return count <= limit - size;
  }
  void Append(const uint8_t* from, uint32_t count, uint32_t from_origin) {
    if (!Fits(count)) return;
    for (uint32_t i = 0; i < count; ++i) {
      bytes[size + i] = from[i];
      origin[size + i] = from_origin;
    }
    size += count;
  }
  void AppendChar(uint32_t code, uint32_t from_origin) {
    uint8_t encoded[4];
    const uint32_t count = WriteChar(code, encoded);
    Append(encoded, count, from_origin);
  }
  void Clear(uint64_t most = UINT32_MAX) {
    size = 0;
    limit = most < capacity ? static_cast<uint32_t>(most) : capacity;
  }
  View view() const { return {bytes, origin, 0, size}; }
};

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_BUFFER_H_
