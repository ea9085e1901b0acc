// Encodes texts as tokens with the model's tokenizer, and as inputs of a program.
#ifndef FOVEA_TOOLS_TEXT_TEXT_H_
#define FOVEA_TOOLS_TEXT_TEXT_H_

#include <stdint.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/model/batch.h"
#include "tools/model/model.h"

namespace fovea::tools {

struct Tokens {
  std::vector<int32_t> ids;
  std::vector<int32_t> types;
  std::vector<uint8_t> special;      // 1: a special token, added by the tokenizer
  std::vector<uint32_t> begin, end;  // byte range in the text
  std::vector<uint8_t> second;       // text pairs: 1 if begin and end refer to the second text
  uint64_t dropped = 0;              // tokens beyond the limit, of the text or of both texts of a pair

  // Documents: the sentences, with the tokens of each.
  struct Sentence {
    uint32_t tokens;
    uint32_t begin, end;  // byte range in the text
  };
  std::vector<Sentence> sentences;
  uint64_t dropped_sentences = 0;
};

class Tokenizer {
 public:
  // Fails if the model has no tokenizer.
  explicit Tokenizer(const Model& model);

  // At most `max_length` tokens, including special ones; 0: the tokenizer's maximum.
  Tokens Encode(const std::string& text, uint32_t max_length) const;
  // Encodes the whole text without truncation.
  Tokens EncodeWhole(const std::string& text) const;
  // Encodes a text pair by the tokenizer's template. Fails if it has none.
  Tokens EncodePair(const std::string& first, const std::string& second, uint32_t max_length) const;
  // Encodes each sentence. `wrapped`: see fovea_text_sentence.
  Tokens EncodeDocument(const std::string& text, uint32_t max_length, bool wrapped) const;
  std::string Piece(int32_t id) const;
  // Without special tokens.
  std::string Decode(const std::vector<int32_t>& ids) const;
  // The mask token.
  std::optional<int32_t> MaskId() const;
  std::optional<int32_t> PadId() const;
  // Whether a token continues the word of the token before: with WordPiece by its "##", else if no space is between
  // them; never for unknown tokens.
  bool ContinuesWord(const std::string& text, const Tokens& tokens, size_t token) const;

 private:
  Tokens EncodeWith(const std::string& text, uint32_t flags, uint32_t max_length) const;
  template <typename Call>
  Tokens Collect(const std::string& text, const Call& call) const;

  const Model& model_;
};

// Whether the program reads token ids; whether its tokens nest in sentences, and these in documents.
bool TakesTokens(const Model& model, uint32_t program);
bool ReadsDocuments(const Model& model, uint32_t program);
// The program of this name; for an empty name the first that reads token ids, or else the first.
uint32_t FindTextProgram(const Model& model, const std::string& name);
// The space whose rows are tokens.
uint32_t TokenSpace(const Model& model, uint32_t program);

// The maximum number of rows per text (or per sentence of a document); UINT32_MAX: no limit.
uint32_t MaxTokens(const Model& model, uint32_t program);

// Encodes a text for the program: as a whole or by sentences, each truncated to MaxTokens and `max_length` (if not 0),
// and padded if texts have a fixed length.
Tokens EncodeFor(const Model& model, const Tokenizer& tokenizer, uint32_t program, const std::string& text,
                 uint32_t max_length = 0, bool wrapped = false);

// Same for a pair of texts. Fails if the program reads documents.
Tokens EncodePairFor(const Model& model, const Tokenizer& tokenizer, uint32_t program, const std::string& first,
                     const std::string& second, uint32_t max_length = 0);

// Pads after the tokens if all texts of a program have one length, or if metadata "pad_to" states the length to which
// texts were padded in training. Fails if the length is fixed and there are more tokens, or the model has no padding
// token.
void PadTokens(const Model& model, uint32_t program, Tokens* tokens);

Batch BatchFromTokens(const Model& model, uint32_t program, const std::vector<Tokens>& texts);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_TEXT_TEXT_H_
