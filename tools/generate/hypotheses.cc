#include "tools/generate/hypotheses.h"

#include <nlohmann/json.hpp>

namespace fovea::tools {

OrderedJson HypothesesJson(const Generation& generation) {
  OrderedJson list = OrderedJson::array();
  for (const Hypothesis& hypothesis : generation.hypotheses) {
    list.push_back({{"text", hypothesis.text}, {"tokens", hypothesis.tokens}, {"score", hypothesis.score}});
  }
  return list;
}

}  // namespace fovea::tools
