#include "tools/prediction/word_weights.h"

#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/prediction/task.h"

namespace fovea::tools {

namespace {

struct Rule {
  bool sums = false, twice = false;
};

Rule RuleOf(const Model& model) {
  const char* metadata = model.Metadata("word_weights");
  const std::string rule = metadata == nullptr ? "max relu" : metadata;
  for (const bool sums : {false, true}) {
    for (const bool twice : {false, true}) {
      if (rule == std::string(sums ? "sum " : "max ") + (twice ? "log1p_relu" : "relu")) return {sums, twice};
    }
  }
  Fail("{}: metadata word_weights: '{}' is unknown", model.name(), rule);
}

}  // namespace

bool MakesWordWeights(const Model& model) { return model.Metadata("word_weights") != nullptr; }

Matrix WordWeights(const Model& model, const Session& session, const std::vector<Tokens>& tokens) {
  const Matrix scores = ReadLogits(model, session);
  const Rule rule = RuleOf(model);
  const std::optional<int32_t> padding = Tokenizer(model).PadId();
  Matrix weights{static_cast<uint32_t>(tokens.size()), scores.width,
                 std::vector<float>(tokens.size() * size_t{scores.width})};
  uint32_t first = 0;
  for (size_t text = 0; text < tokens.size(); ++text) {
    size_t count = tokens[text].ids.size();
    float* row = weights.values.data() + text * scores.width;
    const uint32_t next = first + static_cast<uint32_t>(count);
    if (next > scores.rows) Fail("{}: the program's output has {} rows", model.name(), scores.rows);
    while (count > 0 && tokens[text].special[count - 1] != 0 && tokens[text].ids[count - 1] == padding) --count;
    for (uint32_t i = 0; i < count; ++i) {
      const float* of_token = scores.Row(first + i);
      if (rule.sums) {
        for (uint32_t word = 0; word < scores.width; ++word) {
          const float weight = log1pf(std::max(0.0f, of_token[word]));
          row[word] += rule.twice ? log1pf(weight) : weight;
        }
        continue;
      }
      for (uint32_t word = 0; word < scores.width; ++word) row[word] = std::max(row[word], of_token[word]);
    }
    // The logarithm is monotonic, so it can be applied after the maximum.
    for (uint32_t word = 0; word < scores.width && !rule.sums; ++word) {
      row[word] = log1pf(row[word]);
      if (rule.twice) row[word] = log1pf(row[word]);
    }
    first = next;
  }
  return weights;
}

}  // namespace fovea::tools
