// Tasks of models, and outputs that are scores.
#ifndef FOVEA_TOOLS_PREDICTION_TASK_H_
#define FOVEA_TOOLS_PREDICTION_TASK_H_

#include <stdint.h>

#include <optional>
#include <string>

#include "tools/model/model.h"
#include "tools/model/session.h"

namespace fovea::tools {

enum class OutputTask { kEmbedding, kClasses, kTags, kMaskedWords };

// As the library reads the program's results (fovea/result.h); a program that generates text has scores of each token,
// as tags are.
OutputTask TaskOf(const Model& model, uint32_t program);

// The output of this name.
std::optional<uint32_t> FindOutput(const Model& model, uint32_t program, const char* name);
// Whether a value has a row for each whole text, sound or image.
bool IsPerText(const Model& model, uint32_t program, uint32_t value);

// Rows of the output "logits": one for each text, sound, image or token. Fails if the program has no such output.
Matrix ReadLogits(const Model& model, const Session& session);

// Name of a class or tag.
std::string ClassName(const Model& model, uint32_t index);

// Whether metadata "task" is this one.
bool HasTask(const Model& model, const char* task);

// Fails for a model that generates text: next-token scores are not classes, and the values that an encoder passes to a
// decoder are not an embedding. Also fails for one that answers questions, or reads only pairs (`pairs`: they are
// given). Predict and PredictMedia also check it; checking earlier saves a run.
void RefuseGenerators(const Model& model, bool pairs = false);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_PREDICTION_TASK_H_
