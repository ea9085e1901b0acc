// Validation of a text section. After Open no read can leave the section, whatever its bytes: ids and offsets that are
// used without a further comparison are all checked here.
#include "runtime/text/tokenizer.h"

#include <string.h>

namespace fovea {
namespace {

using text::Header;
using text::Step;
using text::StepKind;
using text::Table;
using text::TableIndex;
using text::TableRef;

class Opener {
 public:
  Opener(const uint8_t* bytes, uint64_t size, Reporter& reporter, Tokenizer* out)
      : bytes_(bytes), size_(size), reporter_(reporter), out_(out) {}

  Status Run(uint32_t vocabulary_limit) {
    if (reinterpret_cast<uintptr_t>(bytes_) % 8 != 0) {
      return reporter_.Fail(FOVEA_E_MISALIGNED, "the text section is not aligned", 8);
    }
    if (size_ < sizeof(Header)) return Fail("the text section is shorter than its header", sizeof(Header), size_);
    Header& header = out_->header;
    memcpy(&header, bytes_, sizeof(Header));
    if (header.magic != text::kMagic) return Fail("the text section does not start with its magic number");
    if (header.version != text::kVersion) {
      return reporter_.Fail(FOVEA_E_VERSION, "unknown version of the text section", text::kVersion, header.version);
    }
    if (header.size != size_) return Fail("the text section has another size than its header says", header.size, size_);
    FOVEA_TRY(ReadHeader(vocabulary_limit));
    FOVEA_TRY(ReadTables());
    FOVEA_TRY(CheckPieces());
    FOVEA_TRY(CheckSteps(out_->normalizer, StepKind::kMap, StepKind::kPrepend));
    FOVEA_TRY(CheckSteps(out_->pre_tokenizer, StepKind::kSplitWhitespace, StepKind::kByteLevel));
    FOVEA_TRY(CheckTemplate(out_->single, false));
    FOVEA_TRY(CheckTemplate(out_->pair, true));
    for (uint32_t i = 0; i < out_->added.size; ++i) {
      if (out_->added[i].id >= header.vocabulary) return Fail("an added token's id is out of range", i);
    }
    return CheckModel();
  }

 private:
  Status Fail(const char* text, uint64_t expected = 0, uint64_t found = 0) {
    return reporter_.Fail(FOVEA_E_TEXT_DATA, text, expected, found);
  }

  Status ReadHeader(uint32_t vocabulary_limit) {
    const Header& header = out_->header;
    if (header.vocabulary == 0 || header.vocabulary > INT32_MAX) return Fail("the vocabulary is empty or too large");
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
    if (header.decoder > static_cast<uint32_t>(text::DecoderKind::kByteLevel)) {
      return reporter_.Fail(FOVEA_E_TOO_COMPLEX, "unknown decoder of the text section", 0, header.decoder);
    }
    return kOk;
  }

  template <typename T>
  Status Read(TableIndex index, Table<T>* table) {
    const TableRef ref = out_->header.tables[index];
    if (!InBounds(ref.offset, ref.size, size_) || ref.offset % 8 != 0 || ref.size % sizeof(T) != 0) {
      return Fail("a table of the text section is out of bounds", size_, ref.offset);
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
    return Read(text::kByteIds, &t.byte_ids);
  }

  Status CheckPieces() {
    Tokenizer& t = *out_;
    if (t.piece_offsets.size != t.header.vocabulary + 1 || t.token_flags.size != t.header.vocabulary) {
      return Fail("a table does not have one record per token", t.header.vocabulary, t.token_flags.size);
    }
    if (t.piece_offsets[0] != 0) return Fail("the first piece does not start at 0");
    for (uint32_t i = 0; i < t.header.vocabulary; ++i) {
      if (t.piece_offsets[i] > t.piece_offsets[i + 1]) return Fail("the pieces are out of order", i);
      if (t.mask_id == text::kNoId && (t.token_flags[i] & text::kTokenMask) != 0) t.mask_id = i;
    }
    if (t.piece_offsets[t.header.vocabulary] > t.piece_text.size) return Fail("the last piece is out of bounds");
    return kOk;
  }

  Status CheckString(uint32_t offset, uint32_t size) {
    return InBounds(offset, size, out_->pool.size) ? kOk : Fail("a string is out of bounds", out_->pool.size, offset);
  }

  Status CheckSteps(Table<Step> steps, StepKind first, StepKind last) {
    if (steps.size > text::kMaxSteps) return Fail("too many steps", text::kMaxSteps, steps.size);
    for (uint32_t i = 0; i < steps.size; ++i) {
      const Step& step = steps[i];
      if (step.kind < static_cast<uint32_t>(first) || step.kind > static_cast<uint32_t>(last)) {
        return reporter_.Fail(FOVEA_E_TOO_COMPLEX, "unknown step of the text section", 0, step.kind);
      }
      switch (static_cast<StepKind>(step.kind)) {
        case StepKind::kMap:
          if (!InBounds(step.a, step.b, out_->ranges.size)) return Fail("a character map is out of bounds", i);
          break;
        case StepKind::kCharsmapGraphemes:
        case StepKind::kCharsmapSentencePiece:
          if (step.a > text::kMaxCharsmapKey) return Fail("a character map's key is too long", i);
          break;
        case StepKind::kReplace:
          if (step.b == 0) return Fail("an empty pattern", i);
          FOVEA_TRY(CheckString(step.a, step.b));
          FOVEA_TRY(CheckString(step.c, step.d));
          break;
        case StepKind::kPrepend:
          FOVEA_TRY(CheckString(step.a, step.b));
          break;
        case StepKind::kMetaspace:
          if (step.b == 0 || step.b > 4) return Fail("a mark must be one character", i);
          FOVEA_TRY(CheckString(step.a, step.b));
          break;
        default:
          break;
      }
    }
    return kOk;
  }

  Status CheckTemplate(Table<text::TemplateItem> items, bool pair) {
    if (items.size > text::kMaxTemplate) return Fail("a template is too long", text::kMaxTemplate, items.size);
    uint32_t texts[3] = {};
    for (uint32_t i = 0; i < items.size; ++i) {
      if (items[i].kind > 2) return Fail("unknown record of a template", i);
      ++texts[items[i].kind];
      if (items[i].kind == 0 && items[i].id >= out_->header.vocabulary)
        return Fail("a template's id is out of range", i);
    }
    if (items.size != 0 && (texts[1] != 1 || texts[2] != (pair ? 1u : 0u))) {
      return Fail("a template must hold each text once");
    }
    return kOk;
  }

  Status CheckModel() {
    Tokenizer& t = *out_;
    switch (static_cast<text::ModelKind>(t.header.model)) {
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
        if (t.scores.size + t.scores64.size != t.header.vocabulary) return Fail("not one score per token");
        return kOk;
      case text::ModelKind::kBpe:
        if (t.byte_ids.size != 256) return Fail("not one id per byte", 256, t.byte_ids.size);
        for (uint32_t i = 0; i < 256; ++i) {
          if (t.byte_ids[i] != text::kNoId && t.byte_ids[i] >= t.header.vocabulary)
            return Fail("a byte's id is out of range");
        }
        if ((t.merges.size & (t.merges.size - 1)) != 0) return Fail("the table of merges is not a power of two");
        return kOk;
      default:
        break;
    }
    return reporter_.Fail(FOVEA_E_TOO_COMPLEX, "unknown model of the text section", 0, t.header.model);
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
