// Tokenizer of a model: encodes texts as tokens, decodes tokens.
#ifndef FOVEA_TOOLS_TEXT_TOKENIZER_H_
#define FOVEA_TOOLS_TEXT_TOKENIZER_H_

#include <stdint.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/model/model.h"

namespace fovea::tools {

struct Tokens {
  std::vector<int32_t> ids;
  std::vector<int32_t> types;
  std::vector<uint8_t> special;      // 1: a special token, added by the tokenizer
  std::vector<uint32_t> begin, end;  // byte range in the text
  std::vector<uint8_t> second;       // text pairs: 1 from the second text's first token on
  uint64_t dropped = 0;              // tokens beyond the limit, of the text or of both texts of a pair
  uint64_t spelled = 0;              // special tokens that the text spells, except masks

  // Documents: the sentences, with the tokens of each.
  struct Sentence {
    uint32_t tokens;
    uint32_t begin, end;  // byte range in the text
  };
  std::vector<Sentence> sentences;
  uint64_t dropped_sentences = 0;
};

// Which text of a pair is truncated.
enum class PairCut {
  kLongest,  // the longer one, then both alike
  kFirst,    // fails if it is too short for that
  kNone,     // neither; `max_length` is not used
};

class Tokenizer {
 public:
  // Fails if the model has no tokenizer. Special tokens that a text spells are tokens unless the model was opened with
  // literal_texts.
  explicit Tokenizer(const Model& model) : Tokenizer(model, model.literal_texts()) {}
  Tokenizer(const Model& model, bool literal);

  // At most `max_length` tokens, including special ones; 0: the tokenizer's maximum.
  Tokens Encode(const std::string& text, uint32_t max_length) const;
  // Encodes the whole text without truncation.
  Tokens EncodeWhole(const std::string& text) const;
  // Encodes a text pair by the tokenizer's template. Fails if it has none.
  Tokens EncodePair(const std::string& first, const std::string& second, uint32_t max_length,
                    PairCut cut = PairCut::kLongest) const;
  // Encodes each sentence. `wrapped`: see fovea_text_sentence.
  Tokens EncodeDocument(const std::string& text, uint32_t max_length, bool wrapped) const;
  std::string Piece(int32_t id) const;
  // Without special tokens.
  std::string Decode(const std::vector<int32_t>& ids) const;
  // The mask token.
  std::optional<int32_t> MaskId() const;
  std::optional<int32_t> PadId() const;

 private:
  Tokens EncodeWith(const std::string& text, uint32_t flags, uint32_t max_length) const;
  template <typename Call>
  Tokens Collect(const std::string& text, const Call& call) const;

  const Model& model_;
  const bool literal_;
};

// The padding id of the tokenizer, or else of the model's configuration.
std::optional<int32_t> PaddingId(const Model& model);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_TOKENIZER_H_
