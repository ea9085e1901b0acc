// Sparse word weights of texts by a masked language model (SPLADE).
#ifndef FOVEA_TOOLS_PREDICTION_WORD_WEIGHTS_H_
#define FOVEA_TOOLS_PREDICTION_WORD_WEIGHTS_H_

#include <vector>

#include "tools/model/session.h"
#include "tools/text/tokenizer.h"

namespace fovea::tools {

// Whether the model was published for word weights (metadata word_weights), so that they are its usual output.
bool MakesWordWeights(const Model& model);

// One row per text, a weight for each word of the vocabulary: the scores of all tokens of the text, including special
// ones but not padding, pooled and activated as the model was published (fovea_result_get_info), else the maximum of
// log(1 + relu(score)). Most are 0.
Matrix WordWeights(const Model& model, const Session& session, const std::vector<Tokens>& tokens);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_PREDICTION_WORD_WEIGHTS_H_
