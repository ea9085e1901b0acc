// Scores given texts: their log-probability under the model.
#ifndef FOVEA_TOOLS_GENERATE_SCORING_H_
#define FOVEA_TOOLS_GENERATE_SCORING_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/base/print.h"
#include "tools/generate/generation.h"

namespace fovea::tools {

struct Likelihood {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;  // per token, given the tokens before it
  double sum = 0;               // their sum
  std::optional<float> end;     // log-probability of the end of text after them; nothing if the model has no such token
};

// Scores `continuations[i]` after input i, as read by Generate, and the request's prefix.
std::vector<Likelihood> ScoreTexts(const Model& model, const std::vector<std::vector<int32_t>>& inputs,
                                   const std::vector<std::vector<int32_t>>& continuations,
                                   const GenerationRequest& request);

// The tokens of a text that follows `input`. For decoder-only models: the additional tokens of both texts together,
// since a tokenizer may split a text differently on its own. Nothing is truncated.
std::vector<int32_t> ContinuationTokens(const Model& model, const std::string& input, const std::string& text,
                                        const std::optional<std::string>& separator = {});

OrderedJson LikelihoodJson(const Model& model, const Likelihood& likelihood);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_SCORING_H_
