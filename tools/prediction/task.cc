#include "tools/prediction/task.h"

#include <math.h>
#include <string.h>

#include "tools/base/fail.h"

namespace fovea::tools {

OutputTask TaskOf(const Model& model, uint32_t program) {
  const char* task = model.Metadata("task");
  const std::string name = task == nullptr ? "" : task;
  if (name == "sequence-classification") return OutputTask::kClasses;
  if (name == "token-classification") return OutputTask::kTags;
  if (name == "masked-lm") return OutputTask::kMaskedWords;
  const std::optional<uint32_t> logits = FindOutput(model, program, "logits");
  if (name == "embedding" || !logits) return OutputTask::kEmbedding;
  return IsPerText(model, program, *logits) ? OutputTask::kClasses : OutputTask::kTags;
}

std::optional<uint32_t> FindOutput(const Model& model, uint32_t program, const char* name) {
  const std::optional<uint32_t> value = model.FindValue(program, name);
  return value && model.Value(program, *value).role == FOVEA_ROLE_OUTPUT ? value : std::nullopt;
}

bool IsPerText(const Model& model, uint32_t program, uint32_t value) {
  return model.Space(model.Value(program, value).space).parent == FOVEA_NONE;
}

bool HasTask(const Model& model, const char* task) {
  const char* own = model.Metadata("task");
  return own != nullptr && strcmp(own, task) == 0;
}

double ActivatedScore(const Model& model, double logit) {
  const char* activation = model.Metadata("score_activation");
  return activation != nullptr && strcmp(activation, "sigmoid") == 0 ? 1 / (1 + exp(-logit)) : logit;
}

void RefuseGenerators(const Model& model, bool pairs) {
  if (HasTask(model, "question-answering")) {
    Fail("{}: it answers questions; give --question and --context to fovea run", model.name());
  }
  if (!pairs && (HasTask(model, "multiple-choice") || HasTask(model, "next-sentence-prediction"))) {
    Fail("{}: it reads pairs of texts; give the second ones with --pair to fovea run", model.name());
  }
  const char* task = model.Metadata("task");
  const std::string name = task == nullptr ? "" : task;
  if (name == "causal-lm") {
    Fail(
        "{}: it is a language model (task causal-lm); use fovea generate, or fovea convert --task "
        "embedding converts it to a model of its hidden states",
        model.name());
  }
  if (name == "seq2seq-lm") {
    Fail(
        "{}: it is an encoder-decoder model (task seq2seq-lm); use fovea generate, translate or "
        "transcribe, or convert its encoder alone with fovea convert --task encoder",
        model.name());
  }
}

Matrix ReadLogits(const Model& model, const Session& session) {
  const std::optional<uint32_t> logits = FindOutput(model, session.request().program, "logits");
  if (!logits) Fail("{}: the program has no output 'logits'", model.name());
  return session.Output(*logits);
}

std::string ClassName(const Model& model, uint32_t index) {
  const char* label = model.Metadata(fmt::format("label.{}", index));
  return label == nullptr ? fmt::format("class {}", index) : label;
}

ClassProblem ClassProblemOf(const Model& model, uint32_t classes) {
  const char* metadata = model.Metadata("problem_type");
  const std::string type = metadata == nullptr ? "" : metadata;
  if (classes <= 1 || type == "regression") return ClassProblem::kRegression;
  return type == "multi_label_classification" ? ClassProblem::kManyLabels : ClassProblem::kOneClass;
}

}  // namespace fovea::tools
