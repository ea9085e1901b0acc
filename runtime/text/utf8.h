// UTF-8: strict validation of a caller's text, and tolerant reading of all other bytes.
#ifndef FOVEA_RUNTIME_TEXT_UTF8_H_
#define FOVEA_RUNTIME_TEXT_UTF8_H_

#include <stdint.h>

namespace fovea::text {

struct Char {
  uint32_t code;
  uint32_t size;  // bytes, at least 1
};

inline constexpr uint32_t kReplacement = 0xfffd;

// The character at `bytes`, of which `available` (at least 1) may be read. If malformed: U+FFFD of one byte.
inline Char ReadChar(const uint8_t* bytes, uint64_t available) {
  const uint32_t lead = bytes[0];
  if (lead < 0x80) return {lead, 1};
  const uint32_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || available < size) return {kReplacement, 1};
  uint32_t code = lead & (0x7f >> size);
  for (uint32_t i = 1; i < size; ++i) {
    if ((bytes[i] & 0xc0) != 0x80) return {kReplacement, 1};
    code = code << 6 | (bytes[i] & 0x3f);
  }
  const uint32_t least = size == 2 ? 0x80 : size == 3 ? 0x800 : 0x10000;
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {kReplacement, 1};
  return {code, size};
}

// Writes `code` (at most 0x10ffff) and returns its size, 1 to 4.
inline uint32_t WriteChar(uint32_t code, uint8_t out[4]) {
  if (code < 0x80) {
    out[0] = static_cast<uint8_t>(code);
    return 1;
  }
  if (code < 0x800) {
    out[0] = static_cast<uint8_t>(0xc0 | code >> 6);
    out[1] = static_cast<uint8_t>(0x80 | (code & 0x3f));
    return 2;
  }
  if (code < 0x10000) {
    out[0] = static_cast<uint8_t>(0xe0 | code >> 12);
    out[1] = static_cast<uint8_t>(0x80 | (code >> 6 & 0x3f));
    out[2] = static_cast<uint8_t>(0x80 | (code & 0x3f));
    return 3;
  }
  out[0] = static_cast<uint8_t>(0xf0 | (code >> 18 & 7));
  out[1] = static_cast<uint8_t>(0x80 | (code >> 12 & 0x3f));
  out[2] = static_cast<uint8_t>(0x80 | (code >> 6 & 0x3f));
  out[3] = static_cast<uint8_t>(0x80 | (code & 0x3f));
  return 4;
}

// Index of the first byte that is not part of valid UTF-8; `size` if all are valid.
inline uint64_t FirstInvalidByte(const uint8_t* bytes, uint64_t size) {
  for (uint64_t i = 0; i < size;) {
    const Char c = ReadChar(bytes + i, size - i);
    if (c.code == kReplacement && c.size == 1) return i;
    i += c.size;
  }
  return size;
}

// Start of the character before `at` (which is above 0).
inline uint32_t PreviousChar(const uint8_t* bytes, uint32_t at) {
  uint32_t i = at - 1;
  while (i > 0 && at - i < 4 && (bytes[i] & 0xc0) == 0x80) --i;
  return i;
}

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_UTF8_H_
