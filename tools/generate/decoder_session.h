// The sessions that generation needs, as large as its texts get.
#ifndef FOVEA_TOOLS_GENERATE_DECODER_SESSION_H_
#define FOVEA_TOOLS_GENERATE_DECODER_SESSION_H_

#include <vector>

#include "tools/generate/generation.h"

namespace fovea::tools {

// Tokens of texts of which nobody says how long they get.
inline constexpr uint32_t kUsualMaxTokens = 512;

// The program that makes a text's next token.
uint32_t DecodeProgram(const Model& model);

// How many tokens it has scores for; 0 where the metadata does not say by what name.
uint32_t ScoredTokens(const Model& model);

// Of a decoder that keeps texts, which begin with prompts of so many tokens.
SessionRequest ContinueRequest(const Model& model, const std::vector<uint32_t>& prompts,
                               const GenerationRequest& request);

// Of one that guesses for such a session, which is of another model.
SessionRequest DraftRequest(const Model& draft, const Model& model, const SessionRequest& decode, size_t texts);

// Of a decoder that goes with an encoder's session. `longest`: tokens that a text begins with.
SessionRequest DecodeRequest(const Model& model, const Session& encode, size_t texts, size_t longest,
                             const GenerationRequest& request);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_DECODER_SESSION_H_
