// How likely a model thinks texts are that somebody else wrote.
#ifndef FOVEA_TOOLS_GENERATE_SCORING_H_
#define FOVEA_TOOLS_GENERATE_SCORING_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/common/print.h"
#include "tools/generate/generation.h"

namespace fovea::tools {

struct Likelihood {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;  // of each token after those before it
  double sum = 0;               // of these
  std::optional<float> end;     // of the first token that ends texts, after them all; nothing if there is none
};

// Of `continuations[i]` after input i, as Generate reads it, and the request's prefix.
std::vector<Likelihood> ScoreTexts(const Model& model, const std::vector<std::vector<int32_t>>& inputs,
                                   const std::vector<std::vector<int32_t>>& continuations,
                                   const GenerationRequest& request);

// The tokens of a text that follows `input`: where a decoder continues texts, those that both together have more, as a
// tokenizer may split a text in another way where it stands alone. Nothing is cut.
std::vector<int32_t> ContinuationTokens(const Model& model, const std::string& input, const std::string& text,
                                        const std::optional<std::string>& separator = {});

OrderedJson LikelihoodJson(const Model& model, const Likelihood& likelihood);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_SCORING_H_
