// Pre-tokenization: step i cuts what step i - 1 made and passes every part on to step i + 1, the last one to the model.
#include "runtime/text/pretokenizer.h"

#include <string.h>

#include "runtime/text/added_tokens.h"
#include "runtime/text/models.h"

namespace fovea::text {
namespace {

class PreTokenizer {
 public:
  PreTokenizer(const Tokenizer& tokenizer, Scratch* scratch, Sink* sink)
      : t_(tokenizer), scratch_(scratch), sink_(sink) {}

  // Recursion ends after kMaxSteps levels.
  bool Run(uint32_t index, const View& text) {
    if (text.size == 0) return true;
    if (index == t_.pre_tokenizer.size) {
      Pieces(t_, text, *scratch_, sink_);
      return true;
    }
    const Step& step = t_.pre_tokenizer[index];
    switch (static_cast<StepKind>(step.kind)) {
      case StepKind::kSplitWhitespace:
        return SplitWhitespace(index, text, 0);
      case StepKind::kSplitBert:
        return SplitWhitespace(index, text, kClassPunctuation);
      case StepKind::kMetaspace:
        return Metaspace(index, step, text);
      case StepKind::kByteLevel:
        return ByteLevel(index, step, text);
      default:
        return Run(index + 1, text);
    }
  }

 private:
  // Words between whitespace; a character of class `alone` is a word of its own.
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

  // Spaces become marks, and a mark may come in front.
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

  // GPT-2's words: 's|'t|'re|'ve|'m|'ll|'d| ?letters| ?numbers| ?others|whitespace not before a word|whitespace
  bool ByteLevel(uint32_t index, const Step& step, View text) {
    if ((step.flags & kByteLevelPrefixSpace) != 0 && text.bytes[0] != ' ') {
      Buffer* const to = Other(text);
      to->Clear();
      const uint8_t space = ' ';
      to->Append(&space, 1, text.OriginOf(0));
      for (uint32_t i = 0; i < text.size; ++i) to->Append(text.bytes + i, 1, text.OriginOf(i));
      if (to->overflow) return false;
      text = to->view();
    }
    for (uint32_t at = 0; at < text.size;) {
      const uint32_t end = WordEnd(text, at);
      if (!Run(index + 1, text.Sub(at, end))) return false;
      at = end;
    }
    return true;
  }

  uint32_t ClassAt(const View& text, uint32_t at) const {
    return FindClass(t_.classes, text.At(at).code) & (kClassWhitespace | kClassLetter | kClassNumber);
  }

  uint32_t WordEnd(const View& text, uint32_t at) const {
    if (text.bytes[at] == '\'') {
      for (const char* ending : {"s", "t", "re", "ve", "m", "ll", "d"}) {
        const uint32_t size = static_cast<uint32_t>(strlen(ending));
        if (text.size - at > size && memcmp(text.bytes + at + 1, ending, size) == 0) return at + 1 + size;
      }
    }
    const uint32_t begin = text.bytes[at] == ' ' ? at + 1 : at;
    if (begin < text.size && (ClassAt(text, begin) & kClassWhitespace) == 0) {
      const uint32_t kind = ClassAt(text, begin);
      uint32_t end = begin;
      while (end < text.size && ClassAt(text, end) == kind) end += text.At(end).size;
      return end;
    }
    uint32_t end = at, last = at;
    while (end < text.size && (ClassAt(text, end) & kClassWhitespace) != 0) {
      last = end;
      end += text.At(end).size;
    }
    if (end == at) return at + text.At(at).size;  // a damaged class table: go on anyway
    return end == text.size || last == at ? end : last;
  }

  // The buffer that does not hold `text`.
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
