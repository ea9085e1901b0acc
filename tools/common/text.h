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
  std::vector<uint8_t> special;  // put there by the tokenizer, not by the text
  std::vector<uint32_t> begin, end;  // bytes of the text
  uint64_t dropped = 0;  // tokens of the text that the limit cut off
};

class Tokenizer {
 public:
  // Fails where the model has no tokenizer.
  explicit Tokenizer(const Model& model);

  // At most `max_length` tokens, special ones included; 0: as the tokenizer says.
  Tokens Encode(const std::string& text, uint32_t max_length) const;
  std::string Piece(int32_t id) const;
  // The token that stands for a hidden word.
  std::optional<int32_t> MaskId() const;

 private:
  const Model& model_;
};

// The rows that the program takes per text; UINT32_MAX: any number.
uint32_t MaxTokens(const Model& model, uint32_t program);

Batch BatchFromTokens(const Model& model, uint32_t program, const std::vector<Tokens>& texts);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_TEXT_H_
