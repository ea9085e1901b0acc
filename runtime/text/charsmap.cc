// Applies a precompiled character map.
#include "runtime/text/charsmap.h"

#include <algorithm>

#include "runtime/text/grapheme.h"

namespace fovea::text {
namespace {

constexpr uint8_t kMark[3] = {0xe2, 0x96, 0x81};  // U+2581

// The replacement string for `size` bytes of text; empty if it is longer than allowed.
Bytes StringAt(const Tokenizer& tokenizer, uint32_t offset, uint32_t size, Buffer* out) {
  const Table<uint8_t>& strings = tokenizer.charsmap_strings;
  if (offset >= strings.size) return {};
  const uint32_t most = std::min(strings.size - offset, size * kMaxExpansion);
  uint32_t end = 0;
  while (end < most && strings[offset + end] != 0) ++end;
  if (end < strings.size - offset && strings[offset + end] != 0) {
    out->overflow = true;
    return {};
  }
  return {strings.data + offset, end};
}

// Writes characters and keeps their origins. `change` is as in the original: 1: the new character has no old one, zero:
// it replaces one, -n: it replaces one and the n after it. A removal is charged to the preceding character, which is
// therefore held back; one at the very beginning is dropped, which shifts later origins, as in the original.
class Transformer {
 public:
  Transformer(const View& in, Buffer* out) : in_(in), out_(out) {}

  void Put(const uint8_t* bytes, uint32_t size, int64_t change) {
    Flush();
    bytes_ = bytes;
    size_ = size;
    change_ = change;
  }
  void Remove(uint32_t characters) {
    if (size_ != 0) change_ -= characters;
  }
  void Flush() {
    if (size_ == 0) return;
    uint32_t origin = 0;
    if (change_ > 0) {
      origin = old_ == 0 ? in_.OriginOf(0) : in_.OriginOf(std::min(old_, in_.size) - 1);
    } else {
      origin = in_.OriginOf(std::min(old_, in_.size - 1));
      for (int64_t i = change_; i <= 0 && old_ < in_.size; ++i) old_ += in_.At(old_).size;
    }
    out_->Append(bytes_, size_, origin);
    size_ = 0;
    change_ = 0;
  }

 private:
  const View& in_;
  Buffer* const out_;
  uint32_t old_ = 0;
  const uint8_t* bytes_ = nullptr;
  uint32_t size_ = 0;
  int64_t change_ = 0;
};

uint32_t CountChars(const uint8_t* bytes, uint32_t size) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < size; i += ReadChar(bytes + i, size - i).size) ++count;
  return count;
}

void Replace(const uint8_t* part, uint32_t part_size, Bytes with, Transformer* to) {
  const uint32_t old_count = CountChars(part, part_size);
  const uint32_t new_count = CountChars(with.data, with.size);
  uint32_t index = 0;
  for (uint32_t i = 0; i < with.size; ++index) {
    const uint32_t size = ReadChar(with.data + i, with.size - i).size;
    to->Put(with.data + i, size, index < old_count ? 0 : 1);
    i += size;
  }
  if (new_count < old_count) to->Remove(old_count - new_count);
}

// Finds the shortest key that `bytes` start with.
bool ShortestKey(const Trie& trie, const uint8_t* bytes, uint32_t size, uint32_t* value) {
  uint32_t node = 0;
  for (uint32_t i = 0; i < size; ++i) {
    if (!trie.Step(bytes[i], &node)) return false;
    if (trie.Value(node, value)) return true;
  }
  return false;
}

}  // namespace

void CharsmapByGrapheme(const Tokenizer& tokenizer, const Step& step, const View& in, Buffer* out) {
  Transformer to(in, out);
  const uint32_t longest = std::min(step.a, kMaxCharsmapKey);
  for (uint32_t at = 0; at < in.size && !out->overflow;) {
    const uint32_t size = GraphemeSize(tokenizer.classes, in, at);
    uint32_t value = 0;
    if (size < 6 && ShortestKey(tokenizer.charsmap, in.bytes + at, std::min(size, longest), &value)) {
      Replace(in.bytes + at, size, StringAt(tokenizer, value, size, out), &to);
      at += size;
      continue;
    }
    for (const uint32_t end = at + size; at < end;) {
      const uint32_t one = in.At(at).size;
      if (ShortestKey(tokenizer.charsmap, in.bytes + at, std::min(one, longest), &value)) {
        Replace(in.bytes + at, one, StringAt(tokenizer, value, one, out), &to);
      } else {
        to.Put(in.bytes + at, one, 0);
      }
      at += one;
    }
  }
  to.Flush();
}

void CharsmapSentencePiece(const Tokenizer& tokenizer, const Step& step, const View& in, Buffer* out) {
  const uint32_t longest = std::min(step.a, kMaxCharsmapKey);
  const bool remove = (step.flags & kSpmRemoveExtraSpaces) != 0;
  const uint8_t space = ' ';
  const Bytes mark = (step.flags & kSpmEscapeSpaces) != 0 ? Bytes{kMark, 3} : Bytes{&space, 1};
  bool after_space = remove;
  bool started = false;
  for (uint32_t at = 0; at < in.size && !out->overflow;) {
    uint32_t value = 0;
    // Added tokens are copied unchanged.
    const uint32_t kept =
        tokenizer.added_normalized.Longest(0, in.bytes + at, std::min(in.size - at, kMaxPieceBytes), &value);
    uint32_t size = tokenizer.charsmap.Longest(0, in.bytes + at, std::min(in.size - at, longest), &value);
    Bytes with = {in.bytes + at, kept};
    if (kept != 0) {
      size = kept;
    } else if (size != 0) {
      with = StringAt(tokenizer, value, size, out);
    } else {
      with.size = size = in.At(at).size;
    }
    const uint32_t origin = in.OriginOf(at);
    at += size;
    // Leading spaces are removed one by one, but only where the map yields exactly one space.
    if (!started && remove && with.size == 1 && with.data[0] == ' ') continue;
    if (!started && (step.flags & kSpmDummyPrefix) != 0) out->Append(mark.data, mark.size, origin);
    started = true;
    while (after_space && with.size != 0 && with.data[0] == ' ') {
      ++with.data;
      --with.size;
    }
    for (uint32_t i = 0; i < with.size; ++i) {
      if (with.data[i] == ' ') {
        out->Append(mark.data, mark.size, origin);
      } else {
        out->Append(with.data + i, 1, origin);
      }
    }
    if (with.size != 0) after_space = remove && with.data[with.size - 1] == ' ';
  }
  while (remove && out->size >= mark.size &&
         std::equal(mark.data, mark.data + mark.size, out->bytes + (out->size - mark.size))) {
    out->size -= mark.size;
  }
}

}  // namespace fovea::text
