#include "tools/generate/scoring.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/generate/defaults.h"
#include "tools/generate/target_tokens.h"

namespace fovea::tools {

std::vector<Likelihood> ScoreTexts(const Model& model, const std::vector<std::vector<int32_t>>& inputs,
                                   const std::vector<std::vector<int32_t>>& continuations,
                                   const GenerationRequest& request) {
  const std::vector<int32_t> ends = DefaultsOf(model).stop_ids;
  GenerationRequest forcing = request;
  forcing.sampling = Sized<fovea_sampling>();
  forcing.sampling.logprobs = 1;
  forcing.rules = {};
  forcing.beams = std::nullopt;
  forcing.stops = false;
  forcing.forced = continuations;
  forcing.max_tokens = 0;
  for (std::vector<int32_t>& tokens : forcing.forced) {
    if (!ends.empty()) tokens.push_back(ends[0]);
    if (tokens.empty()) Fail("the text to score has no tokens");
    forcing.max_tokens = std::max(forcing.max_tokens, static_cast<uint32_t>(tokens.size()));
  }
  const std::vector<Generation> made = Generate(model, inputs, forcing);
  std::vector<Likelihood> all;
  for (size_t i = 0; i < made.size(); ++i) {
    const size_t count = continuations[i].size();
    const std::vector<float>& logprobs = made[i].logprobs;
    if (logprobs.size() < count) Fail("a text of {} tokens is too long; at most {} fit", count, logprobs.size());
    Likelihood& likelihood = all.emplace_back();
    likelihood.tokens = continuations[i];
    likelihood.logprobs.assign(logprobs.begin(), logprobs.begin() + static_cast<ptrdiff_t>(count));
    for (const float logprob : likelihood.logprobs) likelihood.sum += logprob;
    if (!ends.empty() && logprobs.size() > count) likelihood.end = logprobs[count];
  }
  return all;
}

std::vector<int32_t> ContinuationTokens(const Model& model, const std::string& input, const std::string& text,
                                        const std::optional<std::string>& separator) {
  if (ContinuesTexts(model) && model.Info().has_text != 0 && model.Metadata("label.0") == nullptr) {
    const Tokenizer tokenizer(model);
    const std::vector<int32_t> ids = tokenizer.EncodeWhole(input).ids, both = tokenizer.EncodeWhole(input + text).ids;
    const bool goes_on = both.size() >= ids.size() && std::equal(ids.begin(), ids.end(), both.begin());
    if (goes_on) return {both.begin() + static_cast<ptrdiff_t>(ids.size()), both.end()};
  }
  return TargetTokens(model, text, separator);
}

OrderedJson LikelihoodJson(const Model& model, const Likelihood& likelihood) {
  OrderedJson pieces = OrderedJson::array();
  for (const int32_t token : likelihood.tokens) pieces.push_back(GeneratedPiece(model, token));
  OrderedJson json = {{"tokens", likelihood.tokens},
                      {"pieces", pieces},
                      {"logprobs", likelihood.logprobs},
                      {"logprob", likelihood.sum}};
  if (likelihood.end) json["end_logprob"] = *likelihood.end;
  return json;
}

}  // namespace fovea::tools
