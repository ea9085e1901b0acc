// Canonical ordering and composition. Marks that are out of order are sorted in the unused part of the output.
#include "runtime/text/order.h"

#include <algorithm>

namespace fovea::text {
namespace {

constexpr uint32_t kNone = 0xffffffff;
constexpr uint32_t kClasses = 256;  // canonical combining classes are below
constexpr uint32_t kMaxCharBytes = 4;

uint32_t Compose(Table<Composition> pairs, uint32_t first, uint32_t second) {
  if (first >= 0x1100 && first < 0x1113 && second >= 0x1161 && second < 0x1176) {
    return 0xac00 + ((first - 0x1100) * 21 + (second - 0x1161)) * 28;
  }
  if (first >= 0xac00 && first <= 0xd7a3 && (first - 0xac00) % 28 == 0 && second > 0x11a7 && second < 0x11c3) {
    return first + (second - 0x11a7);
  }
  uint32_t low = 0, high = pairs.size;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const Composition& pair = pairs[middle];
    if (pair.first < first || (pair.first == first && pair.second < second)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == pairs.size || pairs[low].first != first || pairs[low].second != second) return kNone;
  return pairs[low].composed <= 0x10ffff ? pairs[low].composed : kNone;
}

// Reads starters and the marks that follow them; writes them ordered and, with kOrderCompose, composed.
class Orderer {
 public:
  Orderer(const Tokenizer& tokenizer, const Step& step, Buffer* out)
      : t_(tokenizer), compose_((step.flags & kOrderCompose) != 0), out_(out) {}

  uint32_t ClassOf(uint32_t code) const { return std::min(FindClass(t_.combining, code), kClasses - 1); }

  void PutStarter(uint32_t code, uint32_t origin) {
    const uint32_t both = Both(starter_, code);
    if (both == kNone) {
      Flush();
      origin_ = origin;
    }
    starter_ = both != kNone ? both : code;
  }

  // `marks`: characters of a combining class other than 0, in order or not.
  void PutMarks(const View& marks, bool in_order) {
    if (in_order) return PutOrdered(marks);
    if (Fits(marks.size)) PutOrdered(Sorted(marks));
  }

  void Flush() {
    if (starter_ != kNone) out_->AppendChar(starter_, origin_);
    starter_ = kNone;
  }

 private:
  uint32_t Both(uint32_t first, uint32_t second) const {
    return compose_ && first != kNone ? Compose(t_.compositions, first, second) : kNone;
  }
  bool Fits(uint32_t size) { return out_->Fits(uint64_t{kMaxCharBytes} + size); }

  // Counting sort into the unused part of the output, after room for a starter: marks move down from there.
  View Sorted(const View& marks) {
    uint32_t next[kClasses] = {};  // bytes per class, then the position of its next mark
    for (uint32_t at = 0; at < marks.size; at += marks.At(at).size)
      next[ClassOf(marks.At(at).code)] += marks.At(at).size;
    uint32_t begin = 0;
    for (uint32_t& place : next) {
      const uint32_t size = place;
      place = begin;
      begin += size;
    }
    uint8_t* const bytes = out_->bytes + out_->size + kMaxCharBytes;
    uint32_t* const origins = out_->origin + out_->size + kMaxCharBytes;
    for (uint32_t at = 0; at < marks.size;) {
      const Char c = marks.At(at);
      uint32_t& place = next[ClassOf(c.code)];
      for (uint32_t i = 0; i < c.size; ++i, ++place) bytes[place] = marks.bytes[at + i];
      at += c.size;
    }
    // Positions in the text keep their order: the first mark gets the first origin.
    const View sorted{bytes, origins, 0, marks.size};
    for (uint32_t at = 0, from = 0; at < marks.size; from += marks.At(from).size) {
      const uint32_t origin = marks.OriginOf(from);
      for (const uint32_t end = at + sorted.At(at).size; at < end; ++at) origins[at] = origin;
    }
    return sorted;
  }

  // Returns the starter composed with the marks that it absorbs; calls f(at, size) for the remaining marks.
  template <typename F>
  uint32_t Take(const View& marks, const F& f) const {
    uint32_t whole = starter_, last_class = 0;
    for (uint32_t at = 0; at < marks.size;) {
      const Char mark = marks.At(at);
      const uint32_t mark_class = ClassOf(mark.code);
      const uint32_t both = last_class < mark_class ? Both(whole, mark.code) : kNone;
      if (both != kNone) {
        whole = both;
      } else {
        last_class = mark_class;
        f(at, mark.size);
      }
      at += mark.size;
    }
    return whole;
  }

  // First pass: composes the starter. Second pass: writes the marks that were not absorbed.
  void PutOrdered(const View& marks) {
    uint32_t rest = 0;
    const uint32_t whole = Take(marks, [&](uint32_t, uint32_t) { ++rest; });
    if (rest == 0) {
      starter_ = whole;
      return;
    }
    if (whole != kNone) out_->AppendChar(whole, origin_);
    // The starter absorbs the first origins, so the remaining marks get the last ones.
    uint32_t from = marks.size;
    for (; rest > 0; --rest) from = PreviousChar(marks.bytes, from);
    Take(marks, [&](uint32_t at, uint32_t size) {
      const uint32_t place = from;
      from += marks.At(from).size;  // before the output overwrites it
      out_->Append(marks.bytes + at, size, marks.OriginOf(place));
    });
    starter_ = kNone;
  }

  const Tokenizer& t_;
  const bool compose_;
  Buffer* const out_;
  uint32_t starter_ = kNone, origin_ = 0;
};

}  // namespace

void CanonicalOrder(const Tokenizer& tokenizer, const Step& step, const View& in, Buffer* out) {
  Orderer orderer(tokenizer, step, out);
  for (uint32_t at = 0; at < in.size && !out->overflow;) {
    const Char c = in.At(at);
    if (orderer.ClassOf(c.code) == 0) {
      orderer.PutStarter(c.code, in.OriginOf(at));
      at += c.size;
    }
    const uint32_t begin = at;
    bool in_order = true;
    for (uint32_t last = 0; at < in.size;) {
      const Char mark = in.At(at);
      const uint32_t mark_class = orderer.ClassOf(mark.code);
      if (mark_class == 0) break;
      in_order = in_order && last <= mark_class;
      last = mark_class;
      at += mark.size;
    }
    if (begin != at) orderer.PutMarks(in.Sub(begin, at), in_order);
  }
  orderer.Flush();
}

}  // namespace fovea::text
