// Receives the tokens of a text: writes a window of them to the caller's arrays, and counts all of them.
#ifndef FOVEA_RUNTIME_TEXT_SINK_H_
#define FOVEA_RUNTIME_TEXT_SINK_H_

#include <stdint.h>

#include "runtime/text/buffer.h"
#include "runtime/text/format.h"

namespace fovea::text {

// The caller's arrays; every pointer may be null. Entries at and above `capacity` are counted, not written.
struct TokenArrays {
  int32_t* ids = nullptr;
  int32_t* types = nullptr;
  uint8_t* special = nullptr;
  uint32_t* ranges = nullptr;  // [begin, end) pairs
  uint64_t capacity = 0;
  uint64_t count = 0;
  uint64_t spelled = 0;  // special tokens among them that the text spells
  uint32_t origin = 0;   // added to ranges: offset of the text in the caller's text

  void Put(uint32_t id, uint32_t type, bool is_special, uint32_t begin, uint32_t end) {
    if (count < capacity) {
      if (ids != nullptr) ids[count] = static_cast<int32_t>(id);
      if (types != nullptr) types[count] = static_cast<int32_t>(type);
      if (special != nullptr) special[count] = is_special ? 1 : 0;
      if (ranges != nullptr) {
        const uint32_t from = is_special ? 0 : origin;
        ranges[2 * count] = from + begin;
        ranges[2 * count + 1] = from + end;
      }
    }
    ++count;
  }
};

class Sink {
 public:
  // Writes tokens first to last - 1 of the text to `arrays` with the given type id. `trim`: kByteLevelTrim*.
  Sink(View text, uint64_t first, uint64_t last, uint32_t type, uint32_t trim, TokenArrays* arrays)
      : text_(text), first_(first), last_(last), type_(type), trim_(trim), arrays_(arrays) {}

  // Adds a token made of the bytes [begin, end) of `word`, with begin < end.
  void Add(uint32_t id, const View& word, uint32_t begin, uint32_t end) {
    if (seen_ >= first_ && seen_ < last_) {
      uint32_t from = word.OriginOf(begin);
      uint32_t to = word.OriginOf(end - 1);
      to = to < text_.size ? to + text_.At(to).size : text_.size;
      if ((trim_ & kByteLevelTrim) != 0) Trim(word, begin, end, &from, &to);
      arrays_->Put(id, type_, false, from, to);
    }
    ++seen_;
  }

  // The same for a special token that the text spells.
  void AddSpelled(uint32_t id, const View& word, uint32_t begin, uint32_t end) {
    const uint64_t before = arrays_->count;
    Add(id, word, begin, end);
    arrays_->spelled += arrays_->count - before;
  }

  // Lets models undo a word that turns out to be unknown.
  struct Mark {
    uint64_t seen, count;
  };
  Mark mark() const { return {seen_, arrays_->count}; }
  void Rewind(Mark mark) {
    seen_ = mark.seen;
    arrays_->count = mark.count;
  }
  uint64_t seen() const { return seen_; }

 private:
  // Excludes the spaces at a token's ends from its range, as byte-level post-processors do, regardless of the range.
  void Trim(const View& word, uint32_t begin, uint32_t end, uint32_t* from, uint32_t* to) const {
    uint32_t leading = 0, trailing = 0;
    while (begin + leading < end && word.bytes[begin + leading] == ' ') ++leading;
    while (end - trailing > begin && word.bytes[end - trailing - 1] == ' ') ++trailing;
    if (leading > 0 && (seen_ == 0 || *from == 0) && (trim_ & kByteLevelTrimPrefix) != 0) --leading;
    *from = *from + leading < *to ? *from + leading : *to;
    if (trailing > 0 && *to >= trailing) *to = *to - trailing > *from ? *to - trailing : *from;
  }

  const View text_;
  const uint64_t first_, last_;
  const uint32_t type_, trim_;
  TokenArrays* const arrays_;
  uint64_t seen_ = 0;
};

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_SINK_H_
