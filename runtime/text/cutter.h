// Matches of a regular expression in a text, one after the other. The converter compiles the expression to a table of
// states: the next state for each class of characters, and whether a match ends before that character.
#ifndef FOVEA_RUNTIME_TEXT_CUTTER_H_
#define FOVEA_RUNTIME_TEXT_CUTTER_H_

#include "runtime/text/buffer.h"
#include "runtime/text/tokenizer.h"

namespace fovea::text {

class Cutter {
 public:
  // `step` is a kCut step.
  Cutter(const Tokenizer& tokenizer, const Step& step, const View& text)
      : classes_(tokenizer.cut_classes),
        rows_(tokenizer.cut_transitions.data + step.a),
        states_(step.b),
        end_class_(step.c),
        bytes_(static_cast<StepKind>(step.kind) == StepKind::kCut && (step.flags & kCutBytes) != 0),
        text_(text) {}

  // A match, or the text between two matches. Parts follow each other from the beginning to the end of the text.
  struct Part {
    uint32_t end;
    bool match;
  };
  bool Next(Part* part) {
    if (at_ == text_.size || !ok_) return false;
    uint32_t end = found_ != 0 ? found_ : Match(at_);
    found_ = 0;
    part->match = end != at_;
    while (end == at_ && ok_) {
      at_ += At(at_).size;
      end = at_ == text_.size ? at_ + 1 : Match(at_);
    }
    if (part->match) {
      at_ = end;
    } else if (at_ != text_.size) {
      found_ = end;
    }
    part->end = at_;
    return ok_;
  }
  // False if the search was aborted: no table made by the converter takes this long.
  bool ok() const { return ok_; }

 private:
  static constexpr uint64_t kScans = 16;  // limit of average visits per character

  // The printable characters that represent bytes in byte-level vocabularies.
  static uint32_t PrintedByte(uint32_t byte) {
    if (byte <= 0x20) return 0x100 + byte;
    if (byte >= 0x7f && byte <= 0xa0) return 0x100 + 0x21 + (byte - 0x7f);
    return byte == 0xad ? 0x100 + 0x21 + 0x22 : byte;
  }
  Char At(uint32_t at) const { return bytes_ ? Char{PrintedByte(text_.bytes[at]), 1} : text_.At(at); }

  uint32_t ClassAt(uint32_t at, uint32_t* size) const {
    if (at == text_.size) return end_class_;
    const Char c = At(at);
    *size = c.size;
    const uint32_t found = c.code < 128 ? classes_[c.code] & 0x7ff : FindClass(classes_, c.code);
    return found < end_class_ ? found : 0;
  }

  // The end of the match that begins at `begin`, or `begin` if there is none. The first alternative wins.
  uint32_t Match(uint32_t begin) {
    uint32_t end = begin, state = 1, at = begin, since = begin;
    while (!(state == lost_.state && at >= lost_.from && at <= lost_.to)) {
      if (++work_ > kScans * (uint64_t{text_.size} + kScans)) {
        ok_ = false;
        return end;
      }
      uint32_t size = 1;
      const uint32_t to = rows_[(state - 1) * (end_class_ + 1) + ClassAt(at, &size)];
      const uint32_t next = to & (kCutMatch - 1);
      if ((to & kCutMatch) != 0) {
        end = at;
        since = at + 1;
      }
      if (next == 0 || next >= states_ || at == text_.size) {
        if (since <= at && at >= lost_.to) lost_ = {state, since, at};
        break;
      }
      at += size;
      if (next != state) since = at;
      state = next;
    }
    return end;
  }

  const Table<uint32_t> classes_;
  const uint16_t* const rows_;
  const uint32_t states_, end_class_;
  const bool bytes_;
  const View& text_;
  uint32_t at_ = 0;
  uint32_t found_ = 0;  // the end of a match that begins at at_; 0: not searched yet
  uint64_t work_ = 0;
  bool ok_ = true;
  // A search that reaches this state between these positions finds no further match. So searches that would all run to
  // the same end, such as searches for spaces before a line's end, do it once.
  struct {
    uint32_t state = 0, from = 0, to = 0;
  } lost_;
};

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_CUTTER_H_
