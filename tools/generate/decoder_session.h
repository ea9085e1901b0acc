// Requests for the sessions of generation, sized for the texts.
#ifndef FOVEA_TOOLS_GENERATE_DECODER_SESSION_H_
#define FOVEA_TOOLS_GENERATE_DECODER_SESSION_H_

#include <optional>
#include <vector>

#include "tools/generate/generation.h"

namespace fovea::tools {

// Default maximum length if neither request nor model sets one.
inline constexpr uint32_t kUsualMaxTokens = 512;

// The programs that generate text. `encode`: the one whose outputs the decoder reads.
struct GeneratePrograms {
  uint32_t decode;
  std::optional<uint32_t> encode;
};
// No value: the model generates no text.
std::optional<GeneratePrograms> FindGeneratePrograms(const Model& model);

// The program that computes the next token.
uint32_t DecodeProgram(const Model& model);

// The number of tokens that it scores; 0 if the metadata does not name its scores.
uint32_t ScoredTokens(const Model& model);

// For a decoder-only model with a KV cache; `prompts`: the number of tokens of each prompt.
SessionRequest ContinueRequest(const Model& model, const std::vector<uint32_t>& prompts,
                               const GenerationRequest& request);

// For the draft model of speculative decoding with the session `decode` of `model`.
SessionRequest DraftRequest(const Model& draft, const Model& model, const SessionRequest& decode, size_t texts);

// For a decoder that reads an encoder's session. `longest`: tokens of the longest prompt.
SessionRequest DecodeRequest(const Model& model, const Session& encode, size_t texts, size_t longest,
                             const GenerationRequest& request);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_DECODER_SESSION_H_
