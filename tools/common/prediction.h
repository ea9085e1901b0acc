// What a model says about texts, sounds or pictures, in the terms of its task.
#ifndef FOVEA_TOOLS_COMMON_PREDICTION_H_
#define FOVEA_TOOLS_COMMON_PREDICTION_H_

#include <ostream>
#include <string>
#include <vector>

#include "tools/common/print.h"
#include "tools/common/spans.h"
#include "tools/common/text.h"

namespace fovea::tools {

enum class Task { kEmbedding, kClasses, kTags, kMaskedWords };

// From metadata "task"; else from where the output "logits" stands.
Task TaskOf(const Model& model, uint32_t program);

struct PredictionOptions {
  uint32_t top = 5;         // classes or words to list at most
  uint32_t dimensions = 0;  // of embeddings, see ReadEmbeddings
  bool sparse = false;      // of masked language models: weights of words (sparse.h)
  // Of tags: spans of the text, by what the tokens of a word together say; or each token.
  bool tokens = false;
  Aggregation aggregation = Aggregation::kSimple;
};

// An embedding per text, and how it came about.
struct Embeddings {
  Matrix rows;
  std::string source;  // "sentence_embedding", "pooler_output", "mean of last_hidden_state"
};

// `dimensions`: only so many of their first numbers, of length 1 again, as models that were trained for it (Matryoshka,
// Kusupati et al., arXiv 2205.13147) may be cut; 0: as they are.
Embeddings ReadEmbeddings(const Model& model, const Session& session, uint32_t dimensions = 0);

// What the program's output "logits" says: a row for each text, sound or picture, or for each token. Fails where there
// is none.
Matrix ReadLogits(const Model& model, const Session& session);

// The name of a class or tag.
std::string ClassName(const Model& model, uint32_t index);

// Whether classes are alternatives of which one is right: not numbers of a regression, and not each by itself.
bool ChoosesOneClass(const Model& model, uint32_t classes);

// Fails for a model that writes texts: scores of next tokens are no classes, and the values that its encoder passes to
// the decoder are no embedding. Predict and PredictWholes call it; earlier, it spares a run.
void RefuseWriters(const Model& model);

// One entry per text, as --json prints it.
OrderedJson Predict(const Model& model, const Tokenizer& tokenizer, const Session& session,
                    const std::vector<std::string>& texts, const std::vector<Tokens>& tokens,
                    const PredictionOptions& options);

// The same of sounds or pictures, in the order of `entries`, which say what they are: classes or embeddings are added.
void PredictWholes(const Model& model, const Session& session, const PredictionOptions& options,
                   std::vector<OrderedJson>& entries);

// One entry for people.
void PrintPrediction(std::ostream& out, const OrderedJson& entry);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_PREDICTION_H_
