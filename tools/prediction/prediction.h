// Predictions for texts, sounds or images, by the task of the model.
#ifndef FOVEA_TOOLS_PREDICTION_PREDICTION_H_
#define FOVEA_TOOLS_PREDICTION_PREDICTION_H_

#include <ostream>
#include <string>
#include <vector>

#include "tools/base/print.h"
#include "tools/prediction/embeddings.h"
#include "tools/prediction/spans.h"
#include "tools/prediction/task.h"
#include "tools/text/tokenizer.h"

namespace fovea::tools {

struct PredictionOptions {
  uint32_t top = 5;         // most classes or words to list
  uint32_t dimensions = 0;  // see ReadEmbeddings
  bool pairs = false;       // the texts are the first ones of pairs
  bool sparse = false;      // masked language models: sparse word weights (word_weights.h)
  // Tagging: spans of the text, with the tags of a word's tokens aggregated; or each token.
  bool tokens = false;
  uint32_t aggregation = FOVEA_AGGREGATION_SIMPLE;
};

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
