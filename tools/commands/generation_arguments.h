// Options of commands that write texts.
#ifndef FOVEA_TOOLS_COMMANDS_GENERATION_ARGUMENTS_H_
#define FOVEA_TOOLS_COMMANDS_GENERATION_ARGUMENTS_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/common/print.h"
#include "tools/generate/generation.h"

namespace fovea::tools {

struct GenerationArguments {
  GenerationRequest request;
  std::optional<uint32_t> beams, stop, min_tokens, no_repeat_ngram, no_repeat_source_ngram;
  std::optional<float> length_penalty;
  std::vector<std::string> suppressed, suppressed_ids;
  std::vector<std::string> scored, scored_ids;  // texts that are given, not written

  // How long texts get and how they are searched for.
  void AddSearch(CLI::App* command);
  // How much a decoder without an encoder keeps of a text.
  void AddRoom(CLI::App* command);
  // How tokens are drawn, and what is told of them.
  void AddSampling(CLI::App* command);
  // Texts whose likelihood is asked for.
  void AddScoring(CLI::App* command);
  bool Scores() const { return !scored.empty() || !scored_ids.empty(); }

  // What was given, else as the model says of the task, else in general.
  GenerationRequest RequestFor(const Model& model, const std::string& task = "") const;

  // The likelihood of each text that is given, after each input: entries of JSON, or written to the console. `texts`:
  // what inputs are the tokens of, "" where nobody knows; `names`: what they are called.
  OrderedJson Score(const Model& model, const std::vector<std::vector<int32_t>>& inputs,
                    const std::vector<std::string>& texts, const std::vector<std::string>& names,
                    const GenerationRequest& search, bool json, Console* console) const;

 private:
  std::optional<fovea_beams> BeamsFor(const std::optional<fovea_beams>& usual) const;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMANDS_GENERATION_ARGUMENTS_H_
