// Normalization steps that work on single characters or plain strings.
#include "runtime/text/normalizer.h"

#include <string.h>

#include <algorithm>

#include "runtime/text/charsmap.h"
#include "runtime/text/cutter.h"
#include "runtime/text/order.h"

namespace fovea::text {
namespace {

void AppendHangul(uint32_t code, uint32_t origin, Buffer* out) {
  const uint32_t index = code - 0xac00;
  out->AppendChar(0x1100 + index / 588, origin);
  out->AppendChar(0x1161 + index % 588 / 28, origin);
  if (index % 28 != 0) out->AppendChar(0x11a7 + index % 28, origin);
}

void Map(const Tokenizer& tokenizer, const Step& step, const View& in, Buffer* out) {
  const Table<MapRange> ranges{tokenizer.ranges.data + step.a, step.b};
  const uint8_t space = ' ';
  for (uint32_t at = 0; at < in.size && !out->overflow;) {
    const Char c = in.At(at);
    const uint32_t origin = in.OriginOf(at);
    const uint8_t* const bytes = in.bytes + at;
    at += c.size;
    if ((step.flags & kMapHangul) != 0 && c.code >= 0xac00 && c.code <= 0xd7a3) {
      AppendHangul(c.code, origin, out);
      continue;
    }
    const bool cjk =
        (step.flags & kMapSpaceCjk) != 0 && c.code >= 0x3400 && (FindClass(tokenizer.classes, c.code) & kClassCjk) != 0;
    if (cjk) out->Append(&space, 1, origin);
    const MapRange* const range = FindRange(ranges, c.code);
    const uint32_t value = range == nullptr ? 0 : range->value & 0x3fffffff;
    const uint32_t delta = value | (value & 0x20000000 ? 0xc0000000 : 0);
    if (range == nullptr) {
      out->Append(bytes, c.size, origin);
    } else {
      switch (static_cast<MapKind>(range->value >> 30)) {
        case MapKind::kRemove:
          break;
        case MapKind::kDelta:
          out->AppendChar(std::min<uint32_t>(c.code + delta, 0x10ffff), origin);
          break;
        case MapKind::kDeltaEven: {
          const bool even = (c.code - (range->range & 0x1fffff)) % 2 == 0;
          out->AppendChar(std::min<uint32_t>(even ? c.code + delta : c.code, 0x10ffff), origin);
          break;
        }
        case MapKind::kString: {
          const Bytes string = Slice(tokenizer.pool, value >> 6, value & 63);
          out->Append(string.data, string.size, origin);
          break;
        }
      }
    }
    if (cjk) out->Append(&space, 1, origin);
  }
}

bool IsWhitespace(const Tokenizer& tokenizer, uint32_t code) {
  return (FindClass(tokenizer.classes, code) & kClassWhitespace) != 0;
}

View Strip(const Tokenizer& tokenizer, const Step& step, View in) {
  uint32_t begin = 0, end = in.size;
  while ((step.flags & kStripLeft) != 0 && begin < end && IsWhitespace(tokenizer, in.At(begin).code)) {
    begin += in.At(begin).size;
  }
  while ((step.flags & kStripRight) != 0 && end > begin) {
    const uint32_t last = PreviousChar(in.bytes, end);
    if (!IsWhitespace(tokenizer, ReadChar(in.bytes + last, end - last).code)) break;
    end = last;
  }
  return in.Sub(begin, end);
}

void Replace(const Tokenizer& tokenizer, const Step& step, const View& in, Buffer* out) {
  const Bytes pattern = Slice(tokenizer.pool, step.a, step.b);
  const Bytes content = Slice(tokenizer.pool, step.c, step.d);
  const uint32_t least = std::max<uint32_t>(step.flags, 1);
  for (uint32_t at = 0; at < in.size && !out->overflow;) {
    uint32_t end = at, times = 0;
    while ((step.flags != 0 || times == 0) && in.size - end >= pattern.size &&
           memcmp(in.bytes + end, pattern.data, pattern.size) == 0) {
      end += pattern.size;
      ++times;
    }
    if (times >= least) {
      out->Append(content.data, content.size, in.OriginOf(end - 1));
    } else {
      end = std::max(end, at + in.At(at).size);
      for (uint32_t i = at; i < end; ++i) out->Append(in.bytes + i, 1, in.OriginOf(i));
    }
    at = end;
  }
}

bool ReplaceMatches(const Tokenizer& tokenizer, const Step& step, const View& in, Buffer* out) {
  const Bytes content = Slice(tokenizer.pool, step.d, step.flags);
  Cutter cutter(tokenizer, step, in);
  Cutter::Part part;
  for (uint32_t at = 0; !out->overflow && cutter.Next(&part); at = part.end) {
    if (part.match) out->Append(content.data, content.size, in.OriginOf(part.end - 1));
    for (uint32_t i = at; i < part.end && !part.match; ++i) out->Append(in.bytes + i, 1, in.OriginOf(i));
  }
  return cutter.ok();
}

void Copy(const View& in, Buffer* out) {
  for (uint32_t i = 0; i < in.size; ++i) out->Append(in.bytes + i, 1, in.OriginOf(i));
}

void Prepend(const Tokenizer& tokenizer, const Step& step, const View& in, Buffer* out) {
  const Bytes content = Slice(tokenizer.pool, step.a, step.b);
  if (in.size != 0) out->Append(content.data, content.size, in.OriginOf(0));
  Copy(in, out);
}

}  // namespace

bool Normalize(const Tokenizer& tokenizer, const View& in, Buffer buffers[2], View* out, uint32_t* peak) {
  // A per-stretch limit: otherwise many short stretches could each grow to the memory of the whole text.
  const uint64_t most = uint64_t{in.size} * tokenizer.header.expansion + kMaxPrefix;
  View text = in;
  uint32_t next = 0;
  for (uint32_t i = 0; i < tokenizer.normalizer.size; ++i) {
    const Step& step = tokenizer.normalizer[i];
    const auto kind = static_cast<StepKind>(step.kind);
    if (kTakesStrip && kind == StepKind::kStrip) {
      text = Strip(tokenizer, step, text);
      continue;
    }
    Buffer* const to = &buffers[next];
    to->Clear(most);
    if (kTakesMap && kind == StepKind::kMap) {
      Map(tokenizer, step, text, to);
    } else if (kTakesOrder && kind == StepKind::kOrder) {
      CanonicalOrder(tokenizer, step, text, to);
    } else if (kTakesCharsmapGraphemes && kind == StepKind::kCharsmapGraphemes) {
      CharsmapByGrapheme(tokenizer, step, text, to);
    } else if (kTakesCharsmapSentencePiece && kind == StepKind::kCharsmapSentencePiece) {
      CharsmapSentencePiece(tokenizer, step, text, to);
    } else if (kTakesReplace && kind == StepKind::kReplace) {
      Replace(tokenizer, step, text, to);
    } else if (kTakesReplaceMatches && kind == StepKind::kReplaceMatches) {
      if (!ReplaceMatches(tokenizer, step, text, to)) return false;
    } else if (kTakesPrepend && kind == StepKind::kPrepend) {
      Prepend(tokenizer, step, text, to);
    } else {
      Copy(text, to);
    }
    if (to->overflow) return false;
    if (peak != nullptr) *peak = std::max(*peak, to->size);
    text = to->view();
    next ^= 1;
  }
  *out = text;
  return true;
}

}  // namespace fovea::text
