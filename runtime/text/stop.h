// Stop strings, searched byte by byte; the only state is how far each string has matched.
#ifndef FOVEA_RUNTIME_TEXT_STOP_H_
#define FOVEA_RUNTIME_TEXT_STOP_H_

#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/base/status.h"

namespace fovea::text {

inline constexpr uint32_t kMaxStopStrings = 256;

class StopStrings {
 public:
  // Computes the size and places the strings in one function. `sizes` null: strings are NUL-terminated.
  Status Place(const char* const* strings, const uint32_t* sizes, uint32_t count, Arena& arena, Reporter& reporter);
  void Start();
  void Read(const uint8_t* bytes, uint64_t size);

  bool stopped() const { return found_ != UINT32_MAX; }
  uint32_t found() const { return found_; }
  uint64_t end() const { return end_; }
  // Bytes that can be shown: before the string found, before a partial match and before an incomplete character.
  uint64_t safe() const;

 private:
  struct String {
    const uint8_t* bytes;
    const uint32_t* shorter;  // [i]: length of the longest proper prefix that is a suffix of the first i + 1 bytes
    uint32_t size;
    uint32_t matched;
  };
  // Updates how far the string matches with one more byte.
  static void Match(String& string, uint8_t byte);
  void ReadCharByte(uint8_t byte);

  String* strings_ = nullptr;
  uint32_t count_ = 0;
  uint32_t found_ = UINT32_MAX;
  uint64_t end_ = 0;
  uint32_t char_bytes_ = 0, char_size_ = 0;  // current incomplete character
};

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_STOP_H_
