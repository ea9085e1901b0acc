#include "tools/prediction/embeddings.h"

#include <math.h>

#include <vector>

#include "tools/base/fail.h"
#include "tools/model/batch.h"
#include "tools/prediction/task.h"

namespace fovea::tools {
namespace {

Embeddings WholeEmbeddings(const Model& model, const Session& session) {
  const uint32_t program = session.request().program;
  for (const char* name : {"sentence_embedding", "pooler_output"}) {
    if (const auto value = FindOutput(model, program, name)) return {session.Output(*value), name};
  }
  for (const uint32_t value : OutputsOf(model, program)) {
    if (IsPerText(model, program, value)) return {session.Output(value), model.Value(program, value).name};
  }
  const std::vector<uint32_t> outputs = OutputsOf(model, program);
  if (outputs.empty()) Fail("{}: the program has no outputs", model.name());
  const uint32_t value = FindOutput(model, program, "last_hidden_state").value_or(outputs[0]);
  const Matrix states = session.Output(value);
  const std::vector<uint32_t> lengths = session.Lengths(model.Value(program, value).space);
  Matrix means{static_cast<uint32_t>(lengths.size()), states.width, {}};
  uint32_t row = 0;
  for (const uint32_t length : lengths) {
    std::vector<double> sums(states.width);
    for (uint32_t i = 0; i < length; ++i, ++row) {
      for (uint32_t j = 0; j < states.width; ++j) sums[j] += states.Row(row)[j];
    }
    for (const double sum : sums) means.values.push_back(static_cast<float>(length == 0 ? 0 : sum / length));
  }
  return {means, fmt::format("mean of {}", model.Value(program, value).name)};
}

// The first numbers of each row, normalised again.
Matrix Cut(const Matrix& whole, uint32_t dimensions) {
  Matrix cut{whole.rows, dimensions, {}};
  for (uint32_t row = 0; row < whole.rows; ++row) {
    const float* numbers = whole.Row(row);
    double squares = 0;
    for (uint32_t i = 0; i < dimensions; ++i) squares += static_cast<double>(numbers[i]) * numbers[i];
    const double scale = squares == 0 ? 0 : 1 / sqrt(squares);
    for (uint32_t i = 0; i < dimensions; ++i) cut.values.push_back(static_cast<float>(numbers[i] * scale));
  }
  return cut;
}

}  // namespace

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
  Embeddings embeddings = WholeEmbeddings(model, session);
  if (dimensions == 0) return embeddings;
  if (dimensions > embeddings.rows.width) {
    Fail("{}: embeddings have only {} dimensions, not {}", model.name(), embeddings.rows.width, dimensions);
  }
  return {Cut(embeddings.rows, dimensions), fmt::format("{}, the first {} numbers", embeddings.source, dimensions)};
}

}  // namespace fovea::tools
