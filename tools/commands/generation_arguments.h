// Options of commands that write texts.
#ifndef FOVEA_TOOLS_COMMANDS_GENERATION_ARGUMENTS_H_
#define FOVEA_TOOLS_COMMANDS_GENERATION_ARGUMENTS_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/commands/arguments.h"
#include "tools/generate/generation.h"

namespace fovea::tools {

struct GenerationArguments {
  GenerationRequest request;
  std::optional<uint32_t> beams, stop, min_tokens, no_repeat_ngram, no_repeat_source_ngram;
  std::optional<float> length_penalty;
  std::vector<std::string> suppressed;

  // How long texts get and how they are searched for.
  void AddSearch(CLI::App* command);
  // How tokens are drawn, and what is told of them.
  void AddSampling(CLI::App* command);

  // What was given, else as the model says of the task, else in general.
  GenerationRequest RequestFor(const Model& model, const std::string& task = "") const;

 private:
  std::optional<fovea_beams> BeamsFor(const std::optional<fovea_beams>& usual) const;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMANDS_GENERATION_ARGUMENTS_H_
