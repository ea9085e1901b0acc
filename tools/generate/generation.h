// Tokens that a blob's encoder and decoder make of texts.
#ifndef FOVEA_TOOLS_GENERATE_GENERATION_H_
#define FOVEA_TOOLS_GENERATE_GENERATION_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fovea/generate.h"
#include "tools/base/sized.h"
#include "tools/common/text.h"

namespace fovea::tools {

struct GenerationRequest {
  uint32_t workers = 1;
  // Of a decoder that keeps texts: the most tokens of a text with its prompt; 0: as many as it needs, if there is a
  // limit of tokens, else 2048 or as many as the model has positions for. And how rows are kept, see SessionRequest.
  uint32_t context = 0;
  std::optional<uint32_t> cache_type;
  uint32_t max_tokens = 0;  // of a text; 0: as the model says
  bool alignments = false;  // of the decoder's attention (metadata "generate.alignment", else its first one)
  fovea_sampling sampling = Sized<fovea_sampling>();
  bool stops = true;  // at the tokens that the model says end a text
};

struct Generation {
  std::vector<int32_t> input, tokens;                       // with padding and the token that ended the text
  std::vector<float> scores;                                // of each token
  std::vector<float> logprobs;                              // of each token, where the sampling asks for them
  std::vector<std::vector<std::pair<int32_t, float>>> top;  // of each step the likeliest tokens and theirs
  std::string text;                                         // of the tokens, without that one
  std::vector<std::vector<float>> alignment;                // [tokens][input], the mean of all heads
};

// Whether the model has no encoder: its decoder goes on with texts.
bool ContinuesTexts(const Model& model);

// All texts in one batch: what an encoder reads, or what the decoder goes on with. Where texts have a fixed length they
// are filled up with the tokenizer's padding token.
std::vector<Generation> Generate(const Model& model, const std::vector<std::vector<int32_t>>& inputs,
                                 const GenerationRequest& request);

// What a token of the decoder stands for: its label, or its piece if the model has no labels.
std::string GeneratedPiece(const Model& model, int32_t token);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_GENERATION_H_
