// Texts to tokens with a model's own tokenizer, and to the inputs of a program.
#ifndef FOVEA_TOOLS_COMMON_TEXT_H_
#define FOVEA_TOOLS_COMMON_TEXT_H_

#include <stdint.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/common/batch.h"
#include "tools/common/model.h"

namespace fovea::tools {

struct Tokens {
  std::vector<int32_t> ids;
  std::vector<int32_t> types;
  std::vector<uint8_t> special;      // put there by the tokenizer, not by the text
  std::vector<uint32_t> begin, end;  // bytes of the text
  std::vector<uint8_t> second;       // of a pair: 1 where begin and end count bytes of the second text
  uint64_t dropped = 0;              // tokens of the text, or of both of a pair, that the limit cut off

  // Of a document: its sentences, with the tokens of each.
  struct Sentence {
    uint32_t tokens;
    uint32_t begin, end;  // bytes of the text
  };
  std::vector<Sentence> sentences;
  uint64_t dropped_sentences = 0;
};

class Tokenizer {
 public:
  // Fails where the model has no tokenizer.
  explicit Tokenizer(const Model& model);

  // At most `max_length` tokens, special ones included; 0: as the tokenizer says.
  Tokens Encode(const std::string& text, uint32_t max_length) const;
  // Of any length: nothing is cut off.
  Tokens EncodeWhole(const std::string& text) const;
  // Two texts as the tokenizer puts them together. Fails where it does not.
  Tokens EncodePair(const std::string& first, const std::string& second, uint32_t max_length) const;
  // The same for each sentence. `wrapped`: see fovea_text_sentence.
  Tokens EncodeDocument(const std::string& text, uint32_t max_length, bool wrapped) const;
  std::string Piece(int32_t id) const;
  // Without special tokens.
  std::string Decode(const std::vector<int32_t>& ids) const;
  // The token that stands for a hidden word.
  std::optional<int32_t> MaskId() const;
  std::optional<int32_t> PadId() const;
  // Whether a token of a text goes on with the word of the token before: by the "##" of WordPiece, else where no space
  // is between them; never if it stands for something unknown.
  bool ContinuesWord(const std::string& text, const Tokens& tokens, size_t token) const;

 private:
  Tokens EncodeWith(const std::string& text, uint32_t flags, uint32_t max_length) const;
  template <typename Call>
  Tokens Collect(const std::string& text, const Call& call) const;

  const Model& model_;
};

// Does the program read ids of tokens? And do its tokens nest in sentences, and these in documents?
bool TakesTokens(const Model& model, uint32_t program);
bool ReadsDocuments(const Model& model, uint32_t program);
// The program of this name; without a name the first that reads ids of tokens, or the first of all.
uint32_t FindTextProgram(const Model& model, const std::string& name);
// Whose rows the tokens are.
uint32_t TokenSpace(const Model& model, uint32_t program);

// The rows that the program takes per text (or sentence of a document); UINT32_MAX: any number.
uint32_t MaxTokens(const Model& model, uint32_t program);

// A text as the program reads it: encoded at once or by sentences, each at most MaxTokens and `max_length` (if not 0)
// long; filled up where texts have a fixed length.
Tokens EncodeFor(const Model& model, const Tokenizer& tokenizer, uint32_t program, const std::string& text,
                 uint32_t max_length = 0, bool wrapped = false);

// The same of two texts. Fails where the program reads documents.
Tokens EncodePairFor(const Model& model, const Tokenizer& tokenizer, uint32_t program, const std::string& first,
                     const std::string& second, uint32_t max_length = 0);

// Where all texts of a program have one length, or metadata "pad_to" says that it was trained with texts filled up to
// so many tokens: padding after the tokens. Fails where the length is fixed and there are more, or the model has no
// padding.
void FillUp(const Model& model, uint32_t program, Tokens* tokens);

Batch BatchFromTokens(const Model& model, uint32_t program, const std::vector<Tokens>& texts);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_TEXT_H_
