// Scores of labels by a model of natural language inference (NLI), by the rules of transformers'
// ZeroShotClassificationPipeline: each label makes a hypothesis, which the text entails or not.
#ifndef FOVEA_TOOLS_PREDICTION_ZERO_SHOT_H_
#define FOVEA_TOOLS_PREDICTION_ZERO_SHOT_H_

#include <stdint.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/model/session.h"

namespace fovea::tools {

// "a, b,,c" -> a, b, c.
std::vector<std::string> SplitLabels(const std::string& labels);

// The hypothesis with the label in place of its "{}". Fails unless there is exactly one.
std::string HypothesisFor(const std::string& hypothesis, const std::string& label);

// The first class whose name begins with "entail", in any case.
std::optional<uint32_t> EntailmentClass(const std::vector<std::string>& classes);

// `logits`: a row for each label. One label is right: a softmax of the entailment scores over all labels. Any number
// (`many`), or a single label: entailment against contradiction, the first class, or the last if entailment is first.
std::vector<float> LabelScores(const Matrix& logits, uint32_t entailment, bool many);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_PREDICTION_ZERO_SHOT_H_
