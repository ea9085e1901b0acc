// A tokenizer as its files describe it, before it becomes a text section.
#ifndef FOVEA_TOOLS_CONVERT_TEXT_MODEL_H_
#define FOVEA_TOOLS_CONVERT_TEXT_MODEL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/text/format.h"
#include "tools/convert/text/pattern.h"

namespace fovea::tools {

// One step of normalizer or pre-tokenizer; the fields have the meaning of text::Step.
struct TextStep {
  text::StepKind kind;
  uint32_t flags = 0;
  // kReplace, kDecodeReplace: pattern, content; kPrepend, kMetaspace, other steps of decoders: first; kReplaceMatches:
  // second.
  std::string first = {}, second = {};
  std::function<std::string(uint32_t)> map = {};    // kMap: code point to UTF-8, may be empty
  std::shared_ptr<const PatternNode> pattern = {};  // kCut, kReplaceMatches
  uint32_t count = 0;                               // kDecodeStrip: most characters
};

struct TextToken {
  std::string piece;
  double score = 0;
  uint8_t flags = 0;     // text::kToken*
  bool matches = false;  // the model can produce it from text
};

struct AddedToken {
  std::string content;
  uint32_t id = 0;
  uint32_t flags = 0;       // text::kAdded*
  bool normalized = false;  // searched after normalization
  bool spelled = false;     // ... in this spelling
};

// `left` and `right` are merged to `merged`; lower ranks first.
struct TextMerge {
  uint32_t left, right, rank, merged;
};

// TextModel::continuation of a vocabulary of whole words, which is part of no piece.
inline constexpr char kWholeWords[] = "\x01";

struct TextModel {
  text::ModelKind kind = text::ModelKind::kWordPiece;
  uint32_t flags = 0;
  std::vector<TextToken> tokens;          // by id
  std::map<uint32_t, std::string> found;  // texts that are found instead of the pieces of these ids
  uint32_t unknown_id = text::kNoId;
  uint32_t pad_id = text::kNoId;
  uint32_t mask_id = text::kNoId;
  double unknown_score = 0;
  std::string continuation = "##";
  uint32_t max_word_chars = 100;
  uint32_t max_length = 0;
  std::vector<TextStep> normalizer, pre_tokenizer;
  std::string charsmap;            // as SentencePiece publishes it: size of the trie, trie, strings
  std::vector<TextMerge> merges;   // kBpe; left kNoId: any pair that spells `merged`
  std::vector<uint32_t> byte_ids;  // 256 ids of byte tokens (kNoId: none); empty if there are none
  std::string suffix;              // kBpe: suffix of the last character of a word in the vocabulary
  std::vector<AddedToken> added;
  std::vector<text::TemplateItem> single, pair;
  text::DecoderKind decoder = text::DecoderKind::kNone;
  uint32_t decoder_flags = 0;
  std::vector<TextStep> decoder_steps;  // DecoderKind::kSteps

  // Grows the list to include `id`; returns the token.
  TextToken& At(uint32_t id) {
    if (tokens.size() <= id) tokens.resize(id + 1);
    return tokens[id];
  }
  // Id of a piece; fails with its name if there is none.
  uint32_t IdOf(const std::string& piece) const;
  // A text between two tokens, each optional (kNoId).
  static std::vector<text::TemplateItem> Around(uint32_t open, text::TemplateKind which, uint32_t close, uint32_t type);
  // Sets the templates of BERT and RoBERTa: open A close [close] B close, without tokens that are kNoId.
  void Wrap(uint32_t open, uint32_t close, bool close_twice, uint32_t second_type);
};

// "<0x0A>".
std::string BytePiece(int byte);
// The byte of a piece such as "<0x0A>"; -1 for other pieces.
int ByteOf(const std::string& piece);
// The ids of byte pieces for TextModel::byte_ids; empty if no piece has the usual capital digits.
std::vector<uint32_t> ByteIds(const TextModel& model);

// The bytes of the section, with the Unicode tables that the steps need, and the expansion.
std::vector<uint8_t> WriteTextSection(const TextModel& model);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_MODEL_H_
