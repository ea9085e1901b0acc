// Layout of a blob's text section, as README.md specifies it. Everything is little-endian.
#ifndef FOVEA_RUNTIME_TEXT_FORMAT_H_
#define FOVEA_RUNTIME_TEXT_FORMAT_H_

#include <stdint.h>

#include "runtime/base/profile.h"

namespace fovea::text {

inline constexpr uint32_t kMagic = 0x54585446;  // "FTXT"
inline constexpr uint32_t kVersion = 2;
inline constexpr uint32_t kNoId = 0xffffffff;

// Limits of the format.
inline constexpr uint32_t kMaxSteps = 16;         // records in kNormalizer, kPreTokenizer and kDecoderSteps each
inline constexpr uint32_t kMaxTemplate = 64;      // records in kTemplateSingle and kTemplatePair each
inline constexpr uint32_t kMaxPieceBytes = 4096;  // longest piece
inline constexpr uint32_t kMaxCharsmapKey = 255;  // longest key of a character map
inline constexpr uint32_t kMaxExpansion = 64;     // normalized bytes per byte of text
inline constexpr uint32_t kMaxCutClasses = 1024;  // per kCut step

enum class ModelKind : uint32_t { kWordPiece = 1, kUnigram = 2, kBpe = 3 };
// Whether this build includes the tokenizer.
inline constexpr bool kHasWordPiece = Includes("tokenizer", "wordpiece"),
                      kHasUnigram = Includes("tokenizer", "unigram"), kHasBpe = Includes("tokenizer", "bpe");
enum class DecoderKind : uint32_t {
  kNone = 0,  // pieces are concatenated
  kWordPiece = 1,
  kMetaspace = 2,
  kSentencePiece = 3,
  kByteLevel = 4,
  kSteps = 5,  // the steps in kDecoderSteps
};

enum TableIndex : uint32_t {
  kPool = 0,             // bytes: strings that records refer to
  kNormalizer,           // Step: in this order
  kPreTokenizer,         // Step: in this order
  kRanges,               // MapRange: the maps of all kMap steps, one after the other, each sorted
  kClasses,              // u32: first code point << 11 | class bits; sorted; valid until the next entry
  kCombining,            // u32: first code point << 11 | canonical combining class; likewise
  kCompositions,         // Composition: sorted by (first, second)
  kCharsmapTrie,         // u32 units: key bytes -> offset in kCharsmapStrings
  kCharsmapStrings,      // NUL-terminated strings
  kPieceOffsets,         // u32[vocabulary + 1]: piece id is kPieceText[offset[id], offset[id + 1])
  kPieceText,            // bytes
  kScores,               // f32[vocabulary] or f64[vocabulary] (kScores64), for kUnigram
  kTokenFlags,           // u8[vocabulary]
  kVocabularyTrie,       // u32 units: piece bytes -> id
  kAdded,                // Added
  kAddedRawTrie,         // u32 units: content -> index in kAdded, searched before normalization
  kAddedNormalizedTrie,  // u32 units: normalized content -> index in kAdded, searched after it
  kTemplateSingle,       // TemplateItem
  kTemplatePair,         // TemplateItem
  kMerges,               // Merge: all merges, grouped by the piece they make, in a group sorted by `left`, for kBpe
  kByteIds,              // u32[256]: id of the token for each byte, if there are such tokens
  kMergeOffsets,         // u32[vocabulary + 1]: piece id is made by kMerges[offset[id], offset[id + 1])
  kSuffix,               // bytes: end of a word's last character in the vocabulary, for kCharacters
  kDecoderSteps,         // Step, for DecoderKind::kSteps
  kCutClasses,           // u32: code point << 11 | class; first 128 entries for ASCII, then as in kClasses
  kCutTransitions,       // u16: tables of all kCut steps
  kTableCount
};
inline constexpr uint32_t kTableCountOfVersion1 = kMergeOffsets;

struct TableRef {
  uint32_t offset;  // from the section's first byte, a multiple of 8
  uint32_t size;    // bytes, a multiple of the record's size
};

struct Header {
  uint32_t magic;
  uint32_t version;
  uint32_t size;        // bytes of the whole section
  uint32_t vocabulary;  // ids are below this
  uint32_t model;       // ModelKind
  uint32_t model_flags;
  uint32_t unknown_id;  // kNoId: none
  uint32_t max_piece_bytes;
  uint32_t max_word_chars;  // kWordPiece: longer words are unknown
  uint32_t prefix_offset;   // kWordPiece, kCharacters: in kPool, the prefix of a continuing piece
  uint32_t prefix_size;
  uint32_t max_length;  // tokens of a whole sequence with its special tokens; 0: no limit
  uint32_t expansion;   // limit of bytes that a step makes of one byte of text
  uint32_t decoder;     // DecoderKind
  uint32_t decoder_flags;
  uint32_t pad_id;       // kNoId: none
  double unknown_score;  // kUnigram
  TableRef tables[kTableCount];
};

// Header::model_flags
enum : uint32_t {
  kScores64 = 1,          // kScores holds f64
  kAccumulateF32 = 2,     // path scores are rounded to f32 at every node (SentencePiece)
  kPreferLater = 4,       // the path with the later last piece wins ties, and a score of exactly 0 always loses
  kUnknownOnlyAlone = 8,  // an unknown character is a candidate only where no piece matches
  kIgnoreMerges = 16,     // kBpe: a word that is a piece is not split
  kCharacters = 32,       // kBpe: pieces consist of characters; one without a piece becomes bytes (kByteIds) or unknown
  kFuseUnknown = 64,      // kBpe: a run of unknown characters is one token
  kTiesByLeft = 128,      // kBpe: merges of equal rank are ordered by left id, then by position
  kCutLeft = 256,         // truncation removes the beginning of a text
};

// Header::decoder_flags
enum : uint32_t {
  kDecodeCleanup = 1,     // kWordPiece: remove spaces before punctuation and contractions
  kDecodeKeepPrefix = 2,  // kMetaspace, kSentencePiece: keep the mark before the text
  kDecodeDropOnce = 4,    // kSentencePiece: drop one mark before the text, not all
};

// kTokenFlags
enum : uint8_t {
  kTokenSpecial = 1,  // left out when decoding without special tokens
  kTokenControl = 2,  // decodes to nothing (SentencePiece)
  kTokenUnknown = 4,
  kTokenMask = 8,           // the mask token, a placeholder for a word to predict; the first one counts
  kTokenByte = 16,          // "<0xE4>": decodes to that byte (kDecodeBytes, kSentencePiece)
  kTokenWhole = 32,         // kBpe: merging the piece's own text gives exactly the piece
  kTokenFoundUnknown = 64,  // kUnigram: found in a text it is the unknown token; `piece` is only decoded
};

enum class StepKind : uint32_t {
#define FOVEA_TEXT_STEP(number, name, Name) k##Name = number,
#include "runtime/text/step_list.inc"
#undef FOVEA_TEXT_STEP
};

// kTakes<Name>: whether this build has the step.
#define FOVEA_TEXT_STEP(number, name, Name) inline constexpr bool kTakes##Name = Includes("text", #name);
#include "runtime/text/step_list.inc"
#undef FOVEA_TEXT_STEP

enum : uint32_t { kMapHangul = 1, kMapSpaceCjk = 2 };
enum : uint32_t { kOrderCompose = 1 };
enum : uint32_t { kSpmRemoveExtraSpaces = 1, kSpmDummyPrefix = 2, kSpmEscapeSpaces = 4 };
enum : uint32_t { kStripLeft = 1, kStripRight = 2 };
enum : uint32_t {
  kMetaspacePrependFirst = 1,   // mark before the text's first word only
  kMetaspacePrependAlways = 2,  // mark before every word that does not start with one
  kMetaspacePrependForce = 4,   // mark before every word
  kMetaspaceSplit = 8,          // every mark starts a new word
};
enum : uint32_t {
  kByteLevelPrefixSpace = 1,  // a space before every stretch that does not start with one
  kByteLevelTrim = 2,         // ranges exclude the spaces at a token's ends
  kByteLevelTrimPrefix = 4,   // except one space before a text's first token
};
// How a kCut step treats matches; the other parts of the text are words.
enum : uint32_t {
  kCutAlone = 0,         // each is a word
  kCutRemoved = 1,       // removed
  kCutWithPrevious = 2,  // each belongs to the preceding part, unless that is a match
  kCutWithNext = 3,      // each belongs to the following part, unless that is a match
  kCutTogether = 4,      // adjacent matches are one word
  kCutKinds = 7,         // mask
  kCutInverted = 8,      // swaps matches and other parts
  kCutBytes = 16,        // the pattern reads bytes, as the characters that represent them in byte-level vocabularies
};
// kCutTransitions of a step: for each state, from 1 on, and each class, the last one being the end of the text: the
// next state, 0 for none, and this bit if a match ends before that character.
inline constexpr uint32_t kCutMatch = 0x8000;
struct Step {
  uint32_t kind;  // StepKind
  uint32_t flags;
  uint32_t a, b, c, d;
};

// Maps `first + i` for i < count to: nothing, itself + delta, the same for even i only, or a string in kPool.
struct MapRange {
  uint32_t range;  // first | (count - 1) << 21
  uint32_t value;  // MapKind << 30 | low 30 bits: signed delta, or offset << 6 | bytes
};
enum class MapKind : uint32_t { kRemove = 0, kDelta = 1, kDeltaEven = 2, kString = 3 };
inline constexpr uint32_t kMapRangeCount = 2048;  // most code points in one MapRange
inline constexpr uint32_t kMapStringBytes = 63;

struct Composition {
  uint32_t first, second, composed;
};

// Class bits of kClasses.
enum : uint32_t {
  kClassWhitespace = 1,
  kClassPunctuation = 2,
  kClassWord = 4,
  kClassCjk = 8,
  kClassLetter = 16,
  kClassNumber = 32,
  kClassGraphemeShift = 6,  // four bits of Grapheme
};

// Grapheme cluster break property; Hangul syllables (LV, LVT) are computed from the code point.
enum class Grapheme : uint32_t {
  kOther = 0,
  kCr,
  kLf,
  kControl,
  kExtend,
  kZwj,
  kRegional,
  kPrepend,
  kSpacingMark,
  kL,
  kV,
  kT,
  kPictographic,
  kLv,
  kLvt
};

struct Added {
  uint32_t id;
  uint32_t flags;
};
// kAddedAtStart: found only where a text begins, or directly after a token without this flag.
enum : uint32_t { kAddedLstrip = 1, kAddedRstrip = 2, kAddedSingleWord = 4, kAddedSpecial = 8, kAddedAtStart = 16 };

enum class TemplateKind : uint32_t { kToken = 0, kTextA = 1, kTextB = 2 };
struct TemplateItem {
  uint32_t kind;  // TemplateKind
  uint32_t id;    // kToken
  uint32_t type;  // type id of the token or of the text's tokens
};

// One way to make a piece: from the piece `left` and the piece that spells the rest.
struct Merge {
  uint32_t left;  // id; kNoId: any
  uint32_t rank;  // lower ranks merge first
};

}  // namespace fovea::text

#endif  // FOVEA_RUNTIME_TEXT_FORMAT_H_
