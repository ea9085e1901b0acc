// Canonical ordering and composition without storage: a run of marks is walked once per combining class in it.
#include "runtime/text/order.h"

namespace fovea::text {
namespace {

constexpr uint32_t kNone = 0xffffffff;

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

// Calls f(code, class, origin) for the characters of in[begin, end), all of non-zero class, in canonical order.
template <typename F>
void InOrder(const Tokenizer& tokenizer, const View& in, uint32_t begin, uint32_t end, const F& f) {
  for (uint32_t done = 0;;) {
    uint32_t next = kNone;  // smallest class above `done`
    for (uint32_t i = begin; i < end; i += in.At(i).size) {
      const uint32_t c = FindClass(tokenizer.combining, in.At(i).code);
      if (c > done && c < next) next = c;
    }
    if (next == kNone) return;
    for (uint32_t i = begin; i < end; i += in.At(i).size) {
      if (FindClass(tokenizer.combining, in.At(i).code) == next) f(in.At(i).code, next, in.OriginOf(i));
    }
    done = next;
  }
}

}  // namespace

void CanonicalOrder(const Tokenizer& tokenizer, const Step& step, const View& in, Buffer* out) {
  const bool compose = (step.flags & kOrderCompose) != 0;
  uint32_t starter = kNone, starter_origin = 0;
  for (uint32_t at = 0; at < in.size;) {
    const Char c = in.At(at);
    uint32_t begin = at;
    if (FindClass(tokenizer.combining, c.code) == 0) {
      const uint32_t both = compose && starter != kNone ? Compose(tokenizer.compositions, starter, c.code) : kNone;
      if (both != kNone) {
        starter = both;
      } else {
        if (starter != kNone) out->AppendChar(starter, starter_origin);
        starter = c.code;
        starter_origin = in.OriginOf(at);
      }
      begin += c.size;
    }
    uint32_t end = begin;
    while (end < in.size && FindClass(tokenizer.combining, in.At(end).code) != 0) end += in.At(end).size;
    at = end;
    if (begin == end) continue;
    // Once to find what the starter becomes, once more to write the marks that did not go into it.
    uint32_t last_class = 0, whole = starter;
    bool rest = false;
    InOrder(tokenizer, in, begin, end, [&](uint32_t code, uint32_t mark_class, uint32_t) {
      const uint32_t both =
          compose && whole != kNone && last_class < mark_class ? Compose(tokenizer.compositions, whole, code) : kNone;
      if (both != kNone) {
        whole = both;
      } else {
        last_class = mark_class;
        rest = true;
      }
    });
    if (!rest) {
      starter = whole;
      continue;
    }
    if (whole != kNone) out->AppendChar(whole, starter_origin);
    last_class = 0;
    InOrder(tokenizer, in, begin, end, [&](uint32_t code, uint32_t mark_class, uint32_t origin) {
      const uint32_t both = compose && starter != kNone && last_class < mark_class
                                ? Compose(tokenizer.compositions, starter, code)
                                : kNone;
      if (both != kNone) {
        starter = both;
      } else {
        last_class = mark_class;
        out->AppendChar(code, origin);
      }
    });
    starter = kNone;
  }
  if (starter != kNone) out->AppendChar(starter, starter_origin);
}

}  // namespace fovea::text
