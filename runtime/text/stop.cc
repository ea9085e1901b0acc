#include "runtime/text/stop.h"

#include <string.h>

#include <algorithm>

namespace fovea::text {
namespace {

// The failure table of Knuth, Morris and Pratt.
void FillShorter(const uint8_t* bytes, uint32_t size, uint32_t* shorter) {
  shorter[0] = 0;
  for (uint32_t i = 1, matched = 0; i < size; ++i) {
    while (matched > 0 && bytes[i] != bytes[matched]) matched = shorter[matched - 1];
    if (bytes[i] == bytes[matched]) ++matched;
    shorter[i] = matched;
  }
}

}  // namespace

Status StopStrings::Place(const char* const* strings, const uint32_t* sizes, uint32_t count, Arena& arena,
                          Reporter& reporter) {
  if (strings == nullptr && count != 0) return reporter.Fail(FOVEA_E_NULL, "strings is NULL");
  if (count > kMaxStopStrings) return reporter.Fail(FOVEA_E_OPTION, "too many stop strings", kMaxStopStrings, count);
  strings_ = arena.Take<String>(count);
  count_ = count;
  uint64_t all = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (strings[i] == nullptr) return reporter.Fail(FOVEA_E_NULL, "a stop string is NULL", 0, 0, i);
    const uint64_t size = sizes != nullptr ? sizes[i] : strlen(strings[i]);
    all += size;
    if (size == 0) return reporter.Fail(FOVEA_E_LENGTH, "a stop string is empty", 1, 0, i);
    if (all > INT32_MAX) return reporter.Fail(FOVEA_E_LENGTH, "the stop strings are too long", INT32_MAX, all, i);
    uint8_t* const bytes = arena.Take<uint8_t>(size);
    uint32_t* const shorter = arena.Take<uint32_t>(size);
    if (bytes == nullptr || shorter == nullptr) continue;
    memcpy(bytes, strings[i], static_cast<size_t>(size));
    FillShorter(bytes, static_cast<uint32_t>(size), shorter);
    strings_[i] = {bytes, shorter, static_cast<uint32_t>(size), 0};
  }
  return kOk;
}

void StopStrings::Start() {
  for (uint32_t i = 0; i < count_; ++i) strings_[i].matched = 0;
  found_ = UINT32_MAX;
  end_ = 0;
  char_bytes_ = char_size_ = 0;
}

void StopStrings::Match(String& string, uint8_t byte) {
  uint32_t& matched = string.matched;
  while (matched > 0 && string.bytes[matched] != byte) matched = string.shorter[matched - 1];
  if (string.bytes[matched] == byte) ++matched;
}

// Bytes that are not UTF-8 are not held back.
void StopStrings::ReadCharByte(uint8_t byte) {
  const bool continues = (byte & 0xc0) == 0x80;
  if (continues && char_bytes_ != 0) {
    if (++char_bytes_ == char_size_) char_bytes_ = 0;
    return;
  }
  char_size_ = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
  char_bytes_ = byte >= 0xc2 && byte <= 0xf4 ? 1 : 0;
}

void StopStrings::Read(const uint8_t* bytes, uint64_t size) {
  for (uint64_t k = 0; k < size && !stopped(); ++k) {
    ++end_;
    ReadCharByte(bytes[k]);
    for (uint32_t i = 0; i < count_; ++i) {
      String& string = strings_[i];
      Match(string, bytes[k]);
      if (string.matched == string.size && (!stopped() || string.size > strings_[found_].size)) found_ = i;
    }
  }
}

uint64_t StopStrings::safe() const {
  if (stopped()) return end_ - strings_[found_].size;
  uint32_t held = char_bytes_;
  for (uint32_t i = 0; i < count_; ++i) held = std::max(held, strings_[i].matched);
  return end_ - held;
}

}  // namespace fovea::text
