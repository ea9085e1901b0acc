#include "tools/prediction/spans.h"

#include "tools/model/library_error.h"
#include "tools/text/token_arrays.h"

namespace fovea::tools {

std::vector<fovea_span> SpansOf(const Model& model, const Matrix& scores, const std::string& text, const Tokens& tokens,
                                uint32_t aggregation) {
  TokenArrays arrays(tokens);
  std::vector<fovea_span> spans(tokens.ids.size());
  uint64_t count = 0;
  fovea_error error = {};
  Check(fovea_result_get_spans(model.get(), scores.values.data(), scores.width, arrays.get(), text.data(), text.size(),
                               aggregation, spans.data(), spans.size(), &count, &error),
        error, model.name());
  spans.resize(count);
  return spans;
}

}  // namespace fovea::tools
