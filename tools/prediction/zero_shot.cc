// Scores of labels by a model of natural language inference.
#include "tools/prediction/zero_shot.h"

#include <algorithm>

#include "fovea/result.h"
#include "tools/base/fail.h"
#include "tools/model/library_error.h"

namespace fovea::tools {

std::vector<std::string> SplitLabels(const std::string& labels) {
  std::vector<std::string> all;
  size_t at = 0;
  while (at <= labels.size()) {
    const size_t comma = std::min(labels.find(',', at), labels.size());
    const std::string label = labels.substr(at, comma - at);
    const size_t first = label.find_first_not_of(" \t\n\r"), last = label.find_last_not_of(" \t\n\r");
    if (first != std::string::npos) all.push_back(label.substr(first, last - first + 1));
    at = comma + 1;
  }
  return all;
}

std::string HypothesisFor(const std::string& hypothesis, const std::string& label) {
  const size_t at = hypothesis.find("{}");
  if (at == std::string::npos || hypothesis.find("{}", at + 2) != std::string::npos) {
    Fail("--hypothesis \"{}\": exactly one {} must mark the place of the label", hypothesis, "{}");
  }
  return hypothesis.substr(0, at) + label + hypothesis.substr(at + 2);
}

std::optional<uint32_t> EntailmentClass(const std::vector<std::string>& classes) {
  for (size_t i = 0; i < classes.size(); ++i) {
    std::string name = classes[i].substr(0, 6);
    for (char& letter : name) letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
    if (name == "entail") return static_cast<uint32_t>(i);
  }
  return std::nullopt;
}

std::vector<float> LabelScores(const Matrix& logits, uint32_t entailment, bool many) {
  std::vector<float> scores;
  const bool alone = many || logits.rows == 1;
  const uint32_t contradiction = entailment == 0 ? logits.width - 1 : 0;
  for (uint32_t i = 0; i < logits.rows; ++i) {
    const float* row = logits.Row(i);
    scores.push_back(row[entailment] - (alone ? row[contradiction] : 0));
  }
  Check(fovea_result_activate(alone ? FOVEA_ACTIVATION_SIGMOID : FOVEA_ACTIVATION_SOFTMAX, scores.data(), logits.rows),
        "");
  return scores;
}

}  // namespace fovea::tools
