// Embeddings of texts, sounds or images.
#ifndef FOVEA_TOOLS_PREDICTION_EMBEDDINGS_H_
#define FOVEA_TOOLS_PREDICTION_EMBEDDINGS_H_

#include <stdint.h>

#include <optional>
#include <string>

#include "tools/model/model.h"
#include "tools/model/session.h"

namespace fovea::tools {

// An embedding per text, and its source.
struct Embeddings {
  Matrix rows;
  std::string source;  // "sentence_embedding", "pooler_output", "mean of last_hidden_state"
};

// `dimensions`: keep only the first ones, normalised again, for models trained for it (Matryoshka representation
// learning, Kusupati et al., arXiv 2205.13147); 0: all. `normalize`: to length 1.
Embeddings ReadEmbeddings(const Model& model, const Session& session, uint32_t dimensions = 0, bool normalize = false);

// Fails with the way out if the program's results are not embeddings, before a long run.
void CheckEmbeds(const Model& model, uint32_t program);

// The output of a model with an embedding for each token (late interaction, metadata "interaction"); nothing for other
// models.
std::optional<uint32_t> FindTokenEmbeddings(const Model& model, uint32_t program);
// Its rows.
std::optional<Matrix> ReadTokenEmbeddings(const Model& model, const Session& session);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_PREDICTION_EMBEDDINGS_H_
