// Options of fovea run for pairs of texts: --pair, --pairs, --question, --labels.
#ifndef FOVEA_TOOLS_COMMANDS_RUN_PAIRS_H_
#define FOVEA_TOOLS_COMMANDS_RUN_PAIRS_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/prediction/prediction.h"
#include "tools/text/text_run.h"
#include "tools/text/text_windows.h"

namespace fovea::tools {

struct PairArguments {
  std::vector<std::string> seconds, questions, contexts;
  std::string file, labels;
  std::string hypothesis = "This example is {}.";
  bool many_labels = false, allow_none = false;
  uint32_t longest = 15;
  std::optional<uint32_t> stride;

  // After the options of TextArguments.
  void AddTo(Command command);
  bool Given() const { return !seconds.empty() || !questions.empty() || !file.empty() || !labels.empty(); }
};

struct PairRequest {
  const ModelArguments* model;
  const TextArguments* text;
  const PairArguments* pairs;
  PredictionOptions prediction;
  bool top_given;
  TextRunOptions run;
  std::string program;
  ListForm json;
  BatchLimits limits;
};

// Runs the task that PairArguments::Given() found in the arguments, and prints the result.
void RunPairsCommand(const PairRequest& request, Console* console);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMANDS_RUN_PAIRS_H_
