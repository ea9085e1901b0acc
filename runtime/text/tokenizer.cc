// Validates a text section. After Open no read can leave the section, for any content: all ids and offsets that are
// used without a further comparison are checked here.
#include "runtime/text/tokenizer.h"

#include <stddef.h>
#include <string.h>

#include "runtime/text/normalizer.h"

namespace fovea {
namespace {

using text::Header;
using text::Step;
using text::StepKind;
using text::Table;
using text::TableIndex;
using text::TableRef;

constexpr size_t kHeaderOfVersion1 = offsetof(Header, tables) + text::kTableCountOfVersion1 * sizeof(TableRef);

class Opener {
 public:
  Opener(const uint8_t* bytes, uint64_t size, Reporter& reporter, Tokenizer* out)
      : bytes_(bytes), size_(size), reporter_(reporter), out_(out) {}

  Status Run(uint32_t vocabulary_limit) {
    if (reinterpret_cast<uintptr_t>(bytes_) % 8 != 0) {
      return reporter_.Fail(FOVEA_E_MISALIGNED, "the text section is not aligned", 8);
    }
    if (size_ < kHeaderOfVersion1) return Fail("the text section is shorter than its header", sizeof(Header), size_);
    Header& header = out_->header;
    memcpy(&header, bytes_, kHeaderOfVersion1);
    if (header.magic != text::kMagic) return Fail("the text section does not start with its magic number");
    // Version 1 has fewer tables, and a different byte-pair encoding.
    const bool older = header.version == 1 && header.model != static_cast<uint32_t>(text::ModelKind::kBpe);
    if (header.version != text::kVersion && !older) {
      return reporter_.Fail(FOVEA_E_VERSION, "unsupported version of the text section", text::kVersion, header.version);
    }
    if (!older) {
      if (size_ < sizeof(Header)) return Fail("the text section is shorter than its header", sizeof(Header), size_);
      memcpy(&header, bytes_, sizeof(Header));
    }
    if (header.size != size_)
      return Fail("the text section's size differs from the size in its header", header.size, size_);
    FOVEA_TRY(ReadHeader(vocabulary_limit));
    FOVEA_TRY(ReadTables());
    FOVEA_TRY(CheckPieces());
    FOVEA_TRY(CheckSteps(out_->normalizer, StepKind::kMap, StepKind::kReplaceMatches));
    FOVEA_TRY(CheckSteps(out_->pre_tokenizer, StepKind::kSplitWhitespace,
                         header.version == 1 ? StepKind::kMetaspace : StepKind::kCut));
    FOVEA_TRY(CheckSteps(out_->decoder, StepKind::kDecodeReplace, StepKind::kDecodeJoin));
    FOVEA_TRY(CheckTemplate(out_->single, false));
    FOVEA_TRY(CheckTemplate(out_->pair, true));
    for (uint32_t i = 0; i < out_->added.size; ++i) {
      const uint32_t id = out_->added[i].id;
      if (id >= header.vocabulary) return FailAt(i, "an added token's id is out of range", header.vocabulary, id);
    }
    return CheckModel();
  }

 private:
  Status Fail(const char* text, uint64_t expected = 0, uint64_t found = 0) {
    return reporter_.Fail(FOVEA_E_TEXT_DATA, text, expected, found);
  }
  Status FailAt(uint32_t record, const char* text, uint64_t expected = 0, uint64_t found = 0) {
    return reporter_.Fail(FOVEA_E_TEXT_DATA, text, expected, found, record);
  }

  Status ReadHeader(uint32_t vocabulary_limit) {
    const Header& header = out_->header;
    if (header.vocabulary == 0 || header.vocabulary > INT32_MAX) {
      return Fail("the vocabulary is empty or too large", INT32_MAX, header.vocabulary);
    }
    if (vocabulary_limit != 0 && header.vocabulary > vocabulary_limit) {
      return Fail("the vocabulary is larger than the embedding table", vocabulary_limit, header.vocabulary);
    }
    if (header.unknown_id != text::kNoId && header.unknown_id >= header.vocabulary) {
      return Fail("the unknown token's id is out of range", header.vocabulary, header.unknown_id);
    }
    if (header.pad_id != text::kNoId && header.pad_id >= header.vocabulary) {
      return Fail("the padding token's id is out of range", header.vocabulary, header.pad_id);
    }
    if (header.max_piece_bytes > text::kMaxPieceBytes) {
      return Fail("a piece is too long", text::kMaxPieceBytes, header.max_piece_bytes);
    }
    if (header.expansion == 0 || header.expansion > text::kMaxExpansion) {
      return Fail("the expansion is out of range", text::kMaxExpansion, header.expansion);
    }
    if (header.decoder > static_cast<uint32_t>(text::DecoderKind::kSteps)) {
      return reporter_.Fail(FOVEA_E_TOO_COMPLEX, "unknown decoder of the text section",
                            static_cast<uint32_t>(text::DecoderKind::kSteps), header.decoder);
    }
    return kOk;
  }

  template <typename T>
  Status Read(TableIndex index, Table<T>* table) {
    const TableRef ref = out_->header.tables[index];
    if (!InBounds(ref.offset, ref.size, size_) || ref.offset % 8 != 0 || ref.size % sizeof(T) != 0) {
      return FailAt(index, "a table of the text section is misaligned or out of bounds", size_,
                    uint64_t{ref.offset} + ref.size);
    }
    table->data = ref.size == 0 ? nullptr : reinterpret_cast<const T*>(bytes_ + ref.offset);
    table->size = static_cast<uint32_t>(ref.size / sizeof(T));
    return kOk;
  }

  Status Read(TableIndex index, text::Trie* trie) {
    Table<uint32_t> units;
    FOVEA_TRY(Read(index, &units));
    trie->units = units.data;
    trie->count = units.size;
    return kOk;
  }

  Status ReadTables() {
    Tokenizer& t = *out_;
    FOVEA_TRY(Read(text::kPool, &t.pool));
    FOVEA_TRY(Read(text::kNormalizer, &t.normalizer));
    FOVEA_TRY(Read(text::kPreTokenizer, &t.pre_tokenizer));
    FOVEA_TRY(Read(text::kRanges, &t.ranges));
    FOVEA_TRY(Read(text::kClasses, &t.classes));
    FOVEA_TRY(Read(text::kCombining, &t.combining));
    FOVEA_TRY(Read(text::kCompositions, &t.compositions));
    FOVEA_TRY(Read(text::kCharsmapTrie, &t.charsmap));
    FOVEA_TRY(Read(text::kCharsmapStrings, &t.charsmap_strings));
    FOVEA_TRY(Read(text::kPieceOffsets, &t.piece_offsets));
    FOVEA_TRY(Read(text::kPieceText, &t.piece_text));
    if ((t.header.model_flags & text::kScores64) != 0) {
      FOVEA_TRY(Read(text::kScores, &t.scores64));
    } else {
      FOVEA_TRY(Read(text::kScores, &t.scores));
    }
    FOVEA_TRY(Read(text::kTokenFlags, &t.token_flags));
    FOVEA_TRY(Read(text::kVocabularyTrie, &t.vocabulary));
    FOVEA_TRY(Read(text::kAdded, &t.added));
    FOVEA_TRY(Read(text::kAddedRawTrie, &t.added_raw));
    FOVEA_TRY(Read(text::kAddedNormalizedTrie, &t.added_normalized));
    FOVEA_TRY(Read(text::kTemplateSingle, &t.single));
    FOVEA_TRY(Read(text::kTemplatePair, &t.pair));
    FOVEA_TRY(Read(text::kMerges, &t.merges));
    FOVEA_TRY(Read(text::kByteIds, &t.byte_ids));
    FOVEA_TRY(Read(text::kMergeOffsets, &t.merge_offsets));
    FOVEA_TRY(Read(text::kSuffix, &t.suffix));
    FOVEA_TRY(Read(text::kDecoderSteps, &t.decoder));
    FOVEA_TRY(Read(text::kCutClasses, &t.cut_classes));
    return Read(text::kCutTransitions, &t.cut_transitions);
  }

  Status CheckPieces() {
    Tokenizer& t = *out_;
    if (t.piece_offsets.size != t.header.vocabulary + 1) {
      return Fail("the text section needs one offset per token and one for the end", t.header.vocabulary + 1,
                  t.piece_offsets.size);
    }
    if (t.token_flags.size != t.header.vocabulary) {
      return Fail("the text section needs one record of flags per token", t.header.vocabulary, t.token_flags.size);
    }
    if (t.piece_offsets[0] != 0) return Fail("the first piece does not start at 0");
    for (uint32_t i = 0; i < t.header.vocabulary; ++i) {
      const uint32_t begin = t.piece_offsets[i], end = t.piece_offsets[i + 1];
      if (begin > end) return FailAt(i, "the pieces are out of order", begin, end);
      if (end - begin > text::kMaxPieceBytes) {
        return FailAt(i, "a piece is too long", text::kMaxPieceBytes, end - begin);
      }
      if (t.mask_id == text::kNoId && (t.token_flags[i] & text::kTokenMask) != 0) t.mask_id = i;
    }
    const uint32_t last = t.piece_offsets[t.header.vocabulary];
    if (last > t.piece_text.size) return Fail("the last piece is out of bounds", t.piece_text.size, last);
    return kOk;
  }

  Status CheckString(uint32_t offset, uint32_t size) {
    if (InBounds(offset, size, out_->pool.size)) return kOk;
    return Fail("a string is out of bounds", out_->pool.size, uint64_t{offset} + size);
  }

  Status CheckSteps(Table<Step> steps, StepKind first, StepKind last) {
    if (steps.size > text::kMaxSteps) return Fail("too many steps", text::kMaxSteps, steps.size);
    uint32_t writing = 0;  // pre-tokenizer steps that write: several could each double the words
    for (uint32_t i = 0; i < steps.size; ++i) {
      const Step& step = steps[i];
      if (step.kind < static_cast<uint32_t>(first) || step.kind > static_cast<uint32_t>(last)) {
        return reporter_.Fail(FOVEA_E_TOO_COMPLEX, "unknown step of the text section", static_cast<uint32_t>(last),
                              step.kind, i);
      }
      FOVEA_TRY(CheckIncluded(i, step));
      FOVEA_TRY(CheckStep(i, step));
      const bool writes =
          static_cast<StepKind>(step.kind) == StepKind::kMetaspace ||
          (static_cast<StepKind>(step.kind) == StepKind::kByteLevel && (step.flags & text::kByteLevelPrefixSpace) != 0);
      if (writes && ++writing > 1) return FailAt(i, "more than one step inserts marks or spaces", 1, writing);
    }
    return kOk;
  }

  Status CheckIncluded(uint32_t i, const Step& step) {
    switch (static_cast<StepKind>(step.kind)) {
#define FOVEA_TEXT_STEP(number, name, Name) \
  case StepKind::k##Name:                   \
    if (text::kTakes##Name) return kOk;     \
    return reporter_.Fail(FOVEA_E_BUILD, "this build's profile lacks text " #name, 0, step.kind, i);
#include "runtime/text/step_list.inc"
#undef FOVEA_TEXT_STEP
    }
    return kOk;
  }

  Status CheckStep(uint32_t i, const Step& step) {
    switch (static_cast<StepKind>(step.kind)) {
      case StepKind::kMap:
        if (InBounds(step.a, step.b, out_->ranges.size)) return kOk;
        return FailAt(i, "a character map is out of bounds", out_->ranges.size, uint64_t{step.a} + step.b);
      case StepKind::kCharsmapGraphemes:
      case StepKind::kCharsmapSentencePiece:
        if (step.a <= text::kMaxCharsmapKey) return kOk;
        return FailAt(i, "a character map's key is too long", text::kMaxCharsmapKey, step.a);
      case StepKind::kReplace:
        if (step.b == 0) return FailAt(i, "a pattern is empty", 1, 0);
        if (step.b > text::kMaxPattern) return FailAt(i, "a pattern is too long", text::kMaxPattern, step.b);
        FOVEA_TRY(CheckString(step.a, step.b));
        return CheckString(step.c, step.d);
      case StepKind::kPrepend:
        if (step.b > text::kMaxPrefix) return FailAt(i, "a prefix is too long", text::kMaxPrefix, step.b);
        return CheckString(step.a, step.b);
      case StepKind::kMetaspace:
        if (step.b == 0 || step.b > 4) return FailAt(i, "a mark must be one character", 4, step.b);
        return CheckString(step.a, step.b);
      case StepKind::kReplaceMatches:
        FOVEA_TRY(CheckString(step.d, step.flags));
        return CheckCut(i, step);
      case StepKind::kCut:
        if ((step.flags & text::kCutKinds) > text::kCutTogether) return FailAt(i, "unknown kind of cut");
        return CheckCut(i, step);
      case StepKind::kDecodeReplace:
        if (step.b == 0) return FailAt(i, "a pattern is empty", 1, 0);
        if (step.b > text::kMaxPattern) return FailAt(i, "a pattern is too long", text::kMaxPattern, step.b);
        if (step.d > text::kMaxPattern) return FailAt(i, "a replacement is too long", text::kMaxPattern, step.d);
        FOVEA_TRY(CheckString(step.c, step.d));
        return CheckString(step.a, step.b);
      case StepKind::kDecodeStrip:
      case StepKind::kDecodeSuffix:
        if (step.b == 0) return FailAt(i, "a pattern is empty", 1, 0);
        [[fallthrough]];
      case StepKind::kDecodeJoin:
        if (step.b > text::kMaxPattern) return FailAt(i, "a pattern is too long", text::kMaxPattern, step.b);
        return CheckString(step.a, step.b);
      default:
        return kOk;
    }
  }

  // Next states are compared with a bound where they are used.
  Status CheckCut(uint32_t i, const Step& step) {
    if (out_->cut_classes.size < 128) return FailAt(i, "a pattern has no classes", 128, out_->cut_classes.size);
    if (step.b < 2 || step.b >= text::kCutMatch || step.c == 0 || step.c > text::kMaxCutClasses) {
      return FailAt(i, "the size of a pattern's table is out of range", text::kMaxCutClasses, step.c);
    }
    if (!InBounds(step.a, uint64_t{step.b - 1} * (step.c + 1), out_->cut_transitions.size)) {
      return FailAt(i, "a pattern's table is out of bounds", out_->cut_transitions.size, step.a);
    }
    return kOk;
  }

  Status CheckTemplate(Table<text::TemplateItem> items, bool pair) {
    if (items.size > text::kMaxTemplate) return Fail("a template is too long", text::kMaxTemplate, items.size);
    uint32_t texts[3] = {};
    for (uint32_t i = 0; i < items.size; ++i) {
      if (items[i].kind > 2) return FailAt(i, "unknown record of a template", 2, items[i].kind);
      ++texts[items[i].kind];
      if (items[i].kind == 0 && items[i].id >= out_->header.vocabulary) {
        return FailAt(i, "a template's id is out of range", out_->header.vocabulary, items[i].id);
      }
    }
    if (items.size != 0 && (texts[1] != 1 || texts[2] != (pair ? 1u : 0u))) {
      return Fail("a template must contain each text once");
    }
    return kOk;
  }

  Status CheckModel() {
    Tokenizer& t = *out_;
    const auto kind = static_cast<text::ModelKind>(t.header.model);
    if ((!text::kHasWordPiece && kind == text::ModelKind::kWordPiece) ||
        (!text::kHasUnigram && kind == text::ModelKind::kUnigram) ||
        (!text::kHasBpe && kind == text::ModelKind::kBpe)) {
      return reporter_.Fail(FOVEA_E_BUILD, "this build's profile lacks this kind of tokenizer", 0, t.header.model);
    }
    switch (kind) {
      case text::ModelKind::kWordPiece:
        if (t.header.unknown_id == text::kNoId) return Fail("word pieces need an unknown token");
        FOVEA_TRY(CheckString(t.header.prefix_offset, t.header.prefix_size));
        t.prefix = text::Slice(t.pool, t.header.prefix_offset, t.header.prefix_size);
        t.prefix_node = 0;
        t.prefix_found = true;
        for (uint32_t i = 0; i < t.prefix.size && t.prefix_found; ++i) {
          t.prefix_found = t.vocabulary.Step(t.prefix.data[i], &t.prefix_node);
        }
        return kOk;
      case text::ModelKind::kUnigram:
        if (t.header.unknown_id == text::kNoId) return Fail("unigram pieces need an unknown token");
        if (t.scores.size + t.scores64.size != t.header.vocabulary) {
          return Fail("unigram pieces need one score per token", t.header.vocabulary, t.scores.size + t.scores64.size);
        }
        return t.byte_ids.size == 0 ? kOk : CheckByteIds();
      case text::ModelKind::kBpe:
        if (t.byte_ids.size != 0) FOVEA_TRY(CheckByteIds());
        return CheckMerges();
      default:
        break;
    }
    return reporter_.Fail(FOVEA_E_TOO_COMPLEX, "unknown model of the text section",
                          static_cast<uint32_t>(text::ModelKind::kBpe), t.header.model);
  }

  Status CheckByteIds() {
    const Tokenizer& t = *out_;
    if (t.byte_ids.size != 256) return Fail("the table of byte ids needs 256 entries", 256, t.byte_ids.size);
    for (uint32_t i = 0; i < 256; ++i) {
      if (t.byte_ids[i] != text::kNoId && t.byte_ids[i] >= t.header.vocabulary) {
        return FailAt(i, "a byte's id is out of range", t.header.vocabulary, t.byte_ids[i]);
      }
    }
    return kOk;
  }

  Status CheckMerges() {
    Tokenizer& t = *out_;
    FOVEA_TRY(CheckString(t.header.prefix_offset, t.header.prefix_size));
    t.prefix = text::Slice(t.pool, t.header.prefix_offset, t.header.prefix_size);
    if (t.merge_offsets.size != t.header.vocabulary + 1) {
      return Fail("byte pairs need one offset of merges per token and one for the end", t.header.vocabulary + 1,
                  t.merge_offsets.size);
    }
    for (uint32_t i = 0; i < t.header.vocabulary; ++i) {
      const uint32_t begin = t.merge_offsets[i], end = t.merge_offsets[i + 1];
      if (begin > end) return FailAt(i, "the merges are out of order", begin, end);
    }
    const uint32_t last = t.merge_offsets[t.header.vocabulary];
    if (last > t.merges.size) return Fail("the last merge is out of bounds", t.merges.size, last);
    if (t.suffix.size > text::kMaxPieceBytes) return Fail("a suffix is too long", text::kMaxPieceBytes, t.suffix.size);
    if (t.prefix.size > text::kMaxPieceBytes) return Fail("a prefix is too long", text::kMaxPieceBytes, t.prefix.size);
    return kOk;
  }

  const uint8_t* const bytes_;
  const uint64_t size_;
  Reporter& reporter_;
  Tokenizer* const out_;
};

}  // namespace

Status Tokenizer::Open(const uint8_t* bytes, uint64_t size, uint32_t vocabulary_limit, Reporter& reporter,
                       Tokenizer* out) {
  *out = Tokenizer();
  return Opener(bytes, size, reporter, out).Run(vocabulary_limit);
}

}  // namespace fovea
