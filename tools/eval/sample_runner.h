// Runs samples through a blob, some at a time, in one session for all of them.
#ifndef FOVEA_TOOLS_EVAL_SAMPLE_RUNNER_H_
#define FOVEA_TOOLS_EVAL_SAMPLE_RUNNER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/model/growing_session.h"
#include "tools/prediction/prediction.h"
#include "tools/prediction/prompts.h"
#include "tools/text/tokenizer.h"
#include "tools/text/truncation.h"

namespace fovea::tools {

enum class SampleKind { kTexts, kPictures, kSounds };

struct RunnerOptions {
  std::string program;
  uint32_t workers = 1;
  uint32_t max_length = 0;       // tokens of a text; 0: the model's maximum
  uint32_t dimensions = 0;       // see ReadEmbeddings
  std::string prompt_name = "";  // see ChoosePrompt
  bool sparse = false;           // masked language models: one row of sparse word weights for each text
};

// One input: a text, a pair of texts, or a file.
struct Item {
  std::vector<std::string> parts;
  std::string place;  // begins messages
};

class SampleRunner {
 public:
  SampleRunner(const Model& model, SampleKind kind, const RunnerOptions& options);

  const Model& model() const { return model_; }
  // Images can have additional programs, for other sizes.
  uint32_t program() const { return programs_[0]; }
  OutputTask task() const { return TaskOf(model_, program()); }

  // Converts items to inputs.
  void Prepare(const std::vector<Item>& items);
  // Runs the prepared items; returns the seconds of the runs alone.
  double Run();
  // The task's output for each item: one row, or one row for each token that is not special.
  const std::vector<Matrix>& results() const { return results_; }
  const Prompt& prompt() const { return prompt_; }
  // Truncated texts so far.
  const Truncations& cuts() const { return cuts_; }
  // Assumptions about the files of all items so far, and their parts that were not read.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  // Items of one run.
  struct Job {
    uint32_t program;
    std::vector<size_t> items;
    std::vector<Tokens> tokens;
    Batch batch;
  };

  void PrepareTexts(const std::vector<Item>& items);
  void PreparePictures(const std::vector<Item>& items);
  void PrepareSounds(const std::vector<Item>& items);
  Session& SessionOf(const Job& job);
  void Keep(const Job& job, const Session& session);

  const Model& model_;
  const SampleKind kind_;
  const RunnerOptions options_;
  std::vector<uint32_t> programs_;
  std::unique_ptr<Tokenizer> tokenizer_;
  Prompt prompt_;  // for embeddings
  std::vector<Job> jobs_;
  std::map<uint32_t, GrowingSession> sessions_;  // by program
  std::vector<Matrix> results_;
  Truncations cuts_;
  std::vector<std::string> notes_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_SAMPLE_RUNNER_H_
