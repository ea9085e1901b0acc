// Finds strings by content, and lists of strings that are sorted by bytes.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_STRING_INDEX_H_
#define FOVEA_TOOLS_CONVERT_TEXT_STRING_INDEX_H_

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace fovea::tools {

// A hash table from strings to the values that they were added with. It holds no strings: `text(value)` is the string
// of a value, which must stay the same.
template <typename TextOf>
class StringIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  StringIndex(size_t strings, TextOf text) : text_(std::move(text)) {
    size_t size = 16;
    while (size < 2 * strings) size *= 2;
    slots_.resize(size);
  }

  // Adds the string of a value; returns the value that has this string already, else kNone.
  uint32_t Add(uint32_t value) {
    const std::string_view text = text_(value);
    const uint32_t hash = Hash(text);
    Slot& slot = slots_[Find(text, hash)];
    if (slot.value != kNone) return slot.value;
    slot = {hash, value};
    return kNone;
  }
  // The value of a string; kNone if it was not added.
  uint32_t operator[](std::string_view text) const { return slots_[Find(text, Hash(text))].value; }

 private:
  struct Slot {
    uint32_t hash = 0, value = kNone;
  };

  static uint32_t Hash(std::string_view text) { return static_cast<uint32_t>(std::hash<std::string_view>()(text)); }
  // At most half of the slots are taken, so each search ends.
  size_t Find(std::string_view text, uint32_t hash) const {
    const size_t mask = slots_.size() - 1;
    size_t at = hash & mask;
    while (slots_[at].value != kNone && (slots_[at].hash != hash || text_(slots_[at].value) != text)) {
      at = (at + 1) & mask;
    }
    return at;
  }

  const TextOf text_;
  std::vector<Slot> slots_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_STRING_INDEX_H_
