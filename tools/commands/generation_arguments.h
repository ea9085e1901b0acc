// Options of commands that generate text.
#ifndef FOVEA_TOOLS_COMMANDS_GENERATION_ARGUMENTS_H_
#define FOVEA_TOOLS_COMMANDS_GENERATION_ARGUMENTS_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/base/print.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/generate/generation.h"

namespace fovea::tools {

struct GenerationArguments {
  GenerationRequest request;
  std::optional<uint32_t> beams, stop, min_tokens, no_repeat_ngram, no_repeat_source_ngram;
  std::optional<float> length_penalty;
  std::vector<std::string> suppressed, suppressed_ids;
  std::vector<std::string> scored, scored_ids;  // texts to score, not generated

  // Length limits and the search: tokens, beams, what is suppressed.
  void AddSearch(Command command);
  // Context size of a decoder without an encoder.
  void AddRoom(Command command);
  // Sampling: temperature, top-k and the like, and the log-probabilities to report.
  void AddSampling(Command command);
  // Continuations to score: their log-probability.
  void AddScoring(Command command);
  bool Scores() const { return !scored.empty() || !scored_ids.empty(); }

  // The options given, else the model's defaults for the task, else the general defaults.
  GenerationRequest RequestFor(const Model& model, const std::string& task = "") const;

  // Scores each continuation after each input; returns JSON entries or prints to the console. `texts`: the text of each
  // input, "" if only its token ids are known; `names`: how each input is shown.
  OrderedJson Score(const Model& model, const std::vector<std::vector<int32_t>>& inputs,
                    const std::vector<std::string>& texts, const std::vector<std::string>& names,
                    const GenerationRequest& search, bool json, Console* console) const;

 private:
  std::optional<fovea_beams> BeamsFor(const std::optional<fovea_beams>& usual) const;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMANDS_GENERATION_ARGUMENTS_H_
