// Predictions for texts, sounds or images, by the task of the model.
#ifndef FOVEA_TOOLS_PREDICTION_PREDICTION_H_
#define FOVEA_TOOLS_PREDICTION_PREDICTION_H_

#include <ostream>
#include <string>
#include <vector>

#include "tools/base/print.h"
#include "tools/prediction/spans.h"
#include "tools/text/text.h"

namespace fovea::tools {

enum class Task { kEmbedding, kClasses, kTags, kMaskedWords };

// From metadata "task"; else from the space of the output "logits".
Task TaskOf(const Model& model, uint32_t program);

struct PredictionOptions {
  uint32_t top = 5;         // most classes or words to list
  uint32_t dimensions = 0;  // see ReadEmbeddings
  bool sparse = false;      // masked language models: sparse word weights (word_weights.h)
  // Tagging: spans of the text, with the tags of a word's tokens aggregated; or each token.
  bool tokens = false;
  Aggregation aggregation = Aggregation::kSimple;
};

// An embedding per text, and its source.
struct Embeddings {
  Matrix rows;
  std::string source;  // "sentence_embedding", "pooler_output", "mean of last_hidden_state"
};

// `dimensions`: keep only the first ones, normalised again, for models trained for it (Matryoshka representation
// learning, Kusupati et al., arXiv 2205.13147); 0: all.
Embeddings ReadEmbeddings(const Model& model, const Session& session, uint32_t dimensions = 0);

// Rows of the output "logits": one for each text, sound, image or token. Fails if the program has no such output.
Matrix ReadLogits(const Model& model, const Session& session);

// Name of a class or tag.
std::string ClassName(const Model& model, uint32_t index);

// Whether exactly one class is right: false for regression and for multi-label classification.
bool ChoosesOneClass(const Model& model, uint32_t classes);

// Fails for a model that generates text: next-token scores are not classes, and the values that an encoder passes to a
// decoder are not an embedding. Predict and PredictMedia also check it; checking earlier saves a run.
void RefuseGenerators(const Model& model);

// One entry per text, as --json prints it.
OrderedJson Predict(const Model& model, const Tokenizer& tokenizer, const Session& session,
                    const std::vector<std::string>& texts, const std::vector<Tokens>& tokens,
                    const PredictionOptions& options);

// Same for sounds or images, in the order of `entries`, which describe them: classes or embeddings are added.
void PredictMedia(const Model& model, const Session& session, const PredictionOptions& options,
                  std::vector<OrderedJson>& entries);

// Prints one entry in readable form.
void PrintPrediction(std::ostream& out, const OrderedJson& entry);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_PREDICTION_PREDICTION_H_
