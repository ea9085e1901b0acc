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

// One step of normalizer or pre-tokenizer; the meaning of the fields is that of text::Step.
struct TextStep {
  text::StepKind kind;
  uint32_t flags = 0;
  // kReplace, kDecodeReplace: pattern, content; kPrepend, kMetaspace, other steps of decoders: first; kReplaceMatches:
  // second.
  std::string first = {}, second = {};
  std::function<std::string(uint32_t)> map = {};    // kMap: code point to UTF-8, may be empty
  std::shared_ptr<const PatternNode> pattern = {};  // kCut, kReplaceMatches
  uint32_t count = 0;                               // kDecodeStrip: how often
};

struct TextToken {
  std::string piece;
  double score = 0;
  uint8_t flags = 0;     // text::kToken*
  bool matches = false;  // the model finds it in text
};

struct AddedToken {
  std::string content;
  uint32_t id = 0;
  uint32_t flags = 0;       // text::kAdded*
  bool normalized = false;  // searched after normalization
  bool spelled = false;     // .. where it looks like this
};

// `left` and `right` make `merged`; those of lower rank come first.
struct TextMerge {
  uint32_t left, right, rank, merged;
};

struct TextModel {
  text::ModelKind kind = text::ModelKind::kWordPiece;
  uint32_t flags = 0;
  std::vector<TextToken> tokens;  // by id
  uint32_t unknown_id = text::kNoId;
  uint32_t pad_id = text::kNoId;
  uint32_t mask_id = text::kNoId;
  double unknown_score = 0;
  std::string continuation = "##";
  uint32_t max_word_chars = 100;
  uint32_t max_length = 0;
  std::vector<TextStep> normalizer, pre_tokenizer;
  std::string charsmap;            // as SentencePiece publishes it: size of the trie, trie, strings
  std::vector<TextMerge> merges;   // kBpe; left kNoId: whatever spells `merged`
  std::vector<uint32_t> byte_ids;  // of the tokens that stand for bytes, if there are any: 256, kNoId for none
  std::string suffix;              // kBpe: what the last character of a word has in the vocabulary
  std::vector<AddedToken> added;
  std::vector<text::TemplateItem> single, pair;
  text::DecoderKind decoder = text::DecoderKind::kNone;
  uint32_t decoder_flags = 0;
  std::vector<TextStep> decoder_steps;  // DecoderKind::kSteps

  // Makes room for `id` and returns it.
  TextToken& At(uint32_t id) {
    if (tokens.size() <= id) tokens.resize(id + 1);
    return tokens[id];
  }
  // Id of a piece; fails with its name when there is none.
  uint32_t IdOf(const std::string& piece) const;
  // A text between two tokens, either of which may be none (kNoId).
  static std::vector<text::TemplateItem> Around(uint32_t open, text::TemplateKind which, uint32_t close, uint32_t type);
  // The templates of BERT and RoBERTa: open A close [close] B close, without those that are none (kNoId).
  void Wrap(uint32_t open, uint32_t close, bool close_twice, uint32_t second_type);
};

// "<0x0A>".
std::string BytePiece(int byte);
// The byte that a piece such as "<0x0A>" stands for; -1 if it is none.
int ByteOf(const std::string& piece);
// The ids of such pieces as TextModel::byte_ids, of which there are none if none has the usual capital digits.
std::vector<uint32_t> ByteIds(const TextModel& model);

// The bytes of the section. Computes the tables of Unicode that the steps need, and the expansion.
std::vector<uint8_t> WriteTextSection(const TextModel& model);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_TEXT_MODEL_H_
