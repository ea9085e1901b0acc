// Grapheme cluster boundaries; rule numbers are from UAX 29.
#include "runtime/text/grapheme.h"

namespace fovea::text {
namespace {

Grapheme PropertyOf(Table<uint32_t> classes, uint32_t code) {
  if (code >= 0xac00 && code <= 0xd7a3) return (code - 0xac00) % 28 == 0 ? Grapheme::kLv : Grapheme::kLvt;
  return static_cast<Grapheme>(FindClass(classes, code) >> kClassGraphemeShift & 15);
}

bool IsControl(Grapheme g) { return g == Grapheme::kControl || g == Grapheme::kCr || g == Grapheme::kLf; }

}  // namespace

uint32_t GraphemeSize(Table<uint32_t> classes, const View& text, uint32_t at) {
  Char c = text.At(at);
  uint32_t end = at + c.size;
  Grapheme left = PropertyOf(classes, c.code);
  bool pictographic = left == Grapheme::kPictographic;  // ExtPict Extend* so far
  bool joined = false;                                  // and then ZWJ
  uint32_t regionals = left == Grapheme::kRegional ? 1 : 0;
  while (end < text.size) {
    c = text.At(end);
    // ASCII never extends a cluster, except in CR LF.
    const Grapheme right = PropertyOf(classes, c.code);
    bool together = false;
    if (left == Grapheme::kCr && right == Grapheme::kLf) {
      together = true;  // GB3
    } else if (IsControl(left) || IsControl(right)) {
      together = false;  // GB4, GB5
    } else if (left == Grapheme::kL) {
      together = right == Grapheme::kL || right == Grapheme::kV || right == Grapheme::kLv || right == Grapheme::kLvt;
    } else if (left == Grapheme::kLv || left == Grapheme::kV) {
      together = right == Grapheme::kV || right == Grapheme::kT;  // GB7
    } else if (left == Grapheme::kLvt || left == Grapheme::kT) {
      together = right == Grapheme::kT;  // GB8
    }
    if (!IsControl(left) && !IsControl(right)) {
      together = together || right == Grapheme::kExtend || right == Grapheme::kZwj ||                  // GB9
                 right == Grapheme::kSpacingMark || left == Grapheme::kPrepend ||                      // GB9a, GB9b
                 (joined && right == Grapheme::kPictographic) ||                                       // GB11
                 (left == Grapheme::kRegional && right == Grapheme::kRegional && regionals % 2 == 1);  // GB12, GB13
    }
    if (!together) break;
    joined = pictographic && right == Grapheme::kZwj;
    pictographic = right == Grapheme::kPictographic || (pictographic && right == Grapheme::kExtend);
    regionals = right == Grapheme::kRegional ? regionals + 1 : 0;
    left = right;
    end += c.size;
  }
  return end - at;
}

}  // namespace fovea::text
