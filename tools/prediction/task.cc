#include "tools/prediction/task.h"

#include <string.h>

#include "tools/base/fail.h"
#include "tools/prediction/result_reader.h"

namespace fovea::tools {

OutputTask TaskOf(const Model& model, uint32_t program) {
  const std::optional<fovea_result_info> info = FindResultInfo(model, program);
  if (!info) return FindOutput(model, program, "logits") ? OutputTask::kTags : OutputTask::kEmbedding;
  switch (info->kind) {
    case FOVEA_RESULT_CLASSES:
      return OutputTask::kClasses;
    case FOVEA_RESULT_TAGS:
      return OutputTask::kTags;
    case FOVEA_RESULT_WORDS:
    case FOVEA_RESULT_WORD_WEIGHTS:
      return OutputTask::kMaskedWords;
    default:
      return OutputTask::kEmbedding;
  }
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

}  // namespace fovea::tools
