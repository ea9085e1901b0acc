// Pre-tokenization: step i cuts the parts made by step i - 1 and passes its parts to step i + 1, the last one to the
// model.
#include "runtime/text/pretokenizer.h"

#include <string.h>

#include "runtime/text/cutter.h"
#include "runtime/text/models.h"

namespace fovea::text {
namespace {

class PreTokenizer {
 public:
  PreTokenizer(const Tokenizer& tokenizer, Scratch* scratch, Sink* sink)
      : t_(tokenizer), scratch_(scratch), sink_(sink) {}

  // Recursion is at most kMaxSteps levels deep.
  bool Run(uint32_t index, const View& text) {
    if (text.size == 0) return true;
    if (index == t_.pre_tokenizer.size) {
      Pieces(t_, text, *scratch_, sink_);
      return true;
    }
    const Step& step = t_.pre_tokenizer[index];
    const auto kind = static_cast<StepKind>(step.kind);
    if (kTakesSplitWhitespace && kind == StepKind::kSplitWhitespace) return SplitWhitespace(index, text, 0);
    if (kTakesSplitBert && kind == StepKind::kSplitBert) return SplitWhitespace(index, text, kClassPunctuation);
    if (kTakesMetaspace && kind == StepKind::kMetaspace) return Metaspace(index, step, text);
    if (kTakesByteLevel && kind == StepKind::kByteLevel) return PrefixSpace(index, step, text);
    if (kTakesCut && kind == StepKind::kCut) return Cut(index, step, text);
    return Run(index + 1, text);
  }

 private:
  // Words between whitespace; a character of class `alone` is a separate word.
  bool SplitWhitespace(uint32_t index, const View& text, uint32_t alone) {
    uint32_t begin = 0;
    for (uint32_t at = 0; at < text.size;) {
      const Char c = text.At(at);
      const uint32_t bits = FindClass(t_.classes, c.code);
      if ((bits & (kClassWhitespace | alone)) == 0) {
        at += c.size;
        continue;
      }
      if (begin < at && !Run(index + 1, text.Sub(begin, at))) return false;
      begin = at + c.size;
      if ((bits & kClassWhitespace) == 0 && !Run(index + 1, text.Sub(at, begin))) return false;
      at = begin;
    }
    return begin == text.size || Run(index + 1, text.Sub(begin, text.size));
  }

  // Replaces spaces by marks, and may put a mark before the word.
  bool Metaspace(uint32_t index, const Step& step, const View& text) {
    const Bytes mark = Slice(t_.pool, step.a, step.b);
    Buffer* const to = Other(text);
    to->Clear();
    const bool marked = text.bytes[0] == ' ' || StartsWith(text, mark);
    const bool first = (step.flags & kMetaspacePrependFirst) != 0 && text.OriginOf(0) == 0;
    if ((step.flags & kMetaspacePrependForce) != 0 ||
        (!marked && ((step.flags & kMetaspacePrependAlways) != 0 || first))) {
      to->Append(mark.data, mark.size, text.OriginOf(0));
    }
    for (uint32_t i = 0; i < text.size; ++i) {
      if (text.bytes[i] == ' ') {
        to->Append(mark.data, mark.size, text.OriginOf(i));
      } else {
        to->Append(text.bytes + i, 1, text.OriginOf(i));
      }
    }
    if (to->overflow) return false;
    const View whole = to->view();
    if ((step.flags & kMetaspaceSplit) == 0) return Run(index + 1, whole);
    uint32_t begin = 0;
    for (uint32_t at = 1; at < whole.size; ++at) {
      if (whole.size - at < mark.size || memcmp(whole.bytes + at, mark.data, mark.size) != 0) continue;
      if (!Run(index + 1, whole.Sub(begin, at))) return false;
      begin = at;
    }
    return Run(index + 1, whole.Sub(begin, whole.size));
  }

  bool PrefixSpace(uint32_t index, const Step& step, const View& text) {
    if ((step.flags & kByteLevelPrefixSpace) == 0 || text.bytes[0] == ' ') return Run(index + 1, text);
    Buffer* const to = Other(text);
    to->Clear();
    const uint8_t space = ' ';
    to->Append(&space, 1, text.OriginOf(0));
    for (uint32_t i = 0; i < text.size; ++i) to->Append(text.bytes + i, 1, text.OriginOf(i));
    return !to->overflow && Run(index + 1, to->view());
  }

  // Splits the text at matches of a pattern.
  bool Cut(uint32_t index, const Step& step, const View& text) {
    const uint32_t kind = step.flags & kCutKinds;
    const bool inverted = (step.flags & kCutInverted) != 0;
    Cutter cutter(t_, step, text);
    Cutter::Part part;
    uint32_t begin = 0, end = 0;  // range of the unfinished word
    bool last = false;            // whether its last part is a match
    while (cutter.Next(&part)) {
      const bool match = part.match != inverted;
      const bool joins = (kind == kCutTogether && match == last) || (kind == kCutWithPrevious && match && !last) ||
                         (kind == kCutWithNext && !match && last);
      if (end != 0 && !joins) {
        if (!(kind == kCutRemoved && last) && !Run(index + 1, text.Sub(begin, end))) return false;
        begin = end;
      }
      end = part.end;
      last = match;
    }
    if (!cutter.ok()) return false;
    return (kind == kCutRemoved && last) || Run(index + 1, text.Sub(begin, end));
  }

  // The buffer that `text` is not in.
  Buffer* Other(const View& text) const {
    return &scratch_->buffers[text.origin != nullptr && Holds(scratch_->buffers[0], text) ? 1 : 0];
  }
  static bool Holds(const Buffer& buffer, const View& text) {
    return buffer.bytes != nullptr && text.bytes >= buffer.bytes && text.bytes < buffer.bytes + buffer.capacity;
  }
  static bool StartsWith(const View& text, Bytes prefix) {
    return text.size >= prefix.size && memcmp(text.bytes, prefix.data, prefix.size) == 0;
  }

  const Tokenizer& t_;
  Scratch* const scratch_;
  Sink* const sink_;
};

}  // namespace

bool PreTokenize(const Tokenizer& tokenizer, const View& text, Scratch* scratch, Sink* sink) {
  return PreTokenizer(tokenizer, scratch, sink).Run(0, text);
}

}  // namespace fovea::text
