#include "tools/prediction/embeddings.h"

#include "tools/base/fail.h"
#include "tools/prediction/result_reader.h"
#include "tools/prediction/task.h"

namespace fovea::tools {

std::optional<Matrix> ReadTokenEmbeddings(const Model& model, const Session& session) {
  const char* interaction = model.Metadata("interaction");
  const uint32_t program = session.request().program;
  const std::optional<uint32_t> value = FindOutput(model, program, "token_embeddings");
  if (interaction == nullptr || std::string(interaction) != "late" || !value || IsPerText(model, program, *value)) {
    return std::nullopt;
  }
  return session.Output(*value);
}

Embeddings ReadEmbeddings(const Model& model, const Session& session, uint32_t dimensions) {
  RefuseGenerators(model);
  if (TaskOf(model, session.request().program) != OutputTask::kEmbedding) {
    Fail(
        "{}: its output 'logits' holds scores of classes or words, not an embedding; fovea convert --task embedding "
        "converts the "
        "model without that head",
        model.name());
  }
  fovea_result_info info = ResultInfoOf(model, session.request().program);
  if (dimensions > info.width) {
    Fail("{}: embeddings have only {} dimensions, not {}", model.name(), info.width, dimensions);
  }
  const std::string name = model.Value(info.program, info.value).name;
  std::string source = info.pooling == FOVEA_POOLING_MEAN ? fmt::format("mean of {}", name) : name;
  if (dimensions != 0) {
    source += fmt::format(", the first {} numbers", dimensions);
    info.width = dimensions;
    info.normalize = 1;
  }
  return {ReadAllResults(model, session, info), source};
}

}  // namespace fovea::tools
