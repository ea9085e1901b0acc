#include "tools/prediction/word_weights.h"

#include "tools/base/fail.h"
#include "tools/model/library_error.h"
#include "tools/prediction/result_reader.h"
#include "tools/prediction/task.h"

namespace fovea::tools {

bool MakesWordWeights(const Model& model) { return model.Metadata("word_weights") != nullptr; }

Matrix WordWeights(const Model& model, const Session& session, const std::vector<Tokens>& tokens) {
  const Matrix scores = ReadLogits(model, session);
  fovea_result_info info = ResultInfoOf(model, session.request().program);
  if (info.kind != FOVEA_RESULT_WORD_WEIGHTS) {
    info.pooling = FOVEA_POOLING_MAX;
    info.activation = FOVEA_ACTIVATION_LOG1P;
  }
  const std::optional<int32_t> padding = Tokenizer(model).PadId();
  Matrix weights{static_cast<uint32_t>(tokens.size()), scores.width,
                 std::vector<float>(tokens.size() * size_t{scores.width})};
  uint32_t first = 0;
  for (size_t text = 0; text < tokens.size(); ++text) {
    size_t count = tokens[text].ids.size();
    const uint32_t next = first + static_cast<uint32_t>(count);
    if (next > scores.rows) Fail("{}: the program's output has {} rows", model.name(), scores.rows);
    while (count > 0 && tokens[text].special[count - 1] != 0 && tokens[text].ids[count - 1] == padding) --count;
    Check(fovea_result_pool(info.pooling, info.activation, scores.Row(first), count, scores.width,
                            weights.values.data() + text * scores.width),
          model.name());
    first = next;
  }
  return weights;
}

}  // namespace fovea::tools
