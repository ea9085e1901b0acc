#include "tools/prediction/embeddings.h"

#include "tools/base/fail.h"
#include "tools/prediction/result_reader.h"
#include "tools/prediction/task.h"

namespace fovea::tools {

std::optional<uint32_t> FindTokenEmbeddings(const Model& model, uint32_t program) {
  const char* interaction = model.Metadata("interaction");
  const std::optional<uint32_t> value = FindOutput(model, program, "token_embeddings");
  if (interaction == nullptr || std::string(interaction) != "late" || !value || IsPerText(model, program, *value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<Matrix> ReadTokenEmbeddings(const Model& model, const Session& session) {
  const std::optional<uint32_t> value = FindTokenEmbeddings(model, session.request().program);
  return value ? std::optional<Matrix>(session.Output(*value)) : std::nullopt;
}

void CheckEmbeds(const Model& model, uint32_t program) {
  RefuseGenerators(model);
  const OutputTask task = TaskOf(model, program);
  if (task == OutputTask::kEmbedding) return;
  Fail(
      "{}: its output 'logits' holds scores of {}, not an embedding; fovea run prints them, and fovea convert --task "
      "embedding converts the model without that head",
      model.name(),
      task == OutputTask::kClasses ? "classes"
      : task == OutputTask::kTags  ? "tags"
                                   : "words");
}

Embeddings ReadEmbeddings(const Model& model, const Session& session, uint32_t dimensions, bool normalize) {
  CheckEmbeds(model, session.request().program);
  fovea_result_info info = ResultInfoOf(model, session.request().program);
  if (dimensions > info.width) {
    Fail("{}: embeddings have only {} dimensions, not {}", model.name(), info.width, dimensions);
  }
  const std::string name = model.Value(info.program, info.value).name;
  std::string source = info.pooling == FOVEA_POOLING_MEAN ? fmt::format("mean of {}", name) : name;
  if (normalize) info.normalize = 1;
  if (dimensions != 0) {
    source += fmt::format(", the first {} numbers", dimensions);
    info.width = dimensions;
    info.normalize = 1;
  }
  return {ReadAllResults(model, session, info), source};
}

}  // namespace fovea::tools
