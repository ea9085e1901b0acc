// Perplexity of decoders.
#ifndef FOVEA_TOOLS_EVAL_PERPLEXITY_H_
#define FOVEA_TOOLS_EVAL_PERPLEXITY_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/eval/evaluation.h"

namespace fovea::tools {

struct PerplexityRequest {
  std::vector<std::string> texts;
  std::string file;
  uint32_t window = 0;  // tokens; 0: the model's maximum, or 2048 if it has none
  uint32_t stride = 0;  // 0: half a window
  uint32_t workers = 1;
  uint32_t batch_size = 16;            // windows at a time
  uint32_t rows = 2048;                // most rows per run; fewer for a large vocabulary
  std::optional<uint32_t> cache_type;  // see SessionRequest
};

// Same result as Evaluate(). Perplexity is exp of the mean of -log p over all counted tokens; bits per byte divide the
// same sum by the bytes of these tokens, which makes models with different tokenizers comparable.
OrderedJson EvaluatePerplexity(const std::vector<const Model*>& models, const PerplexityRequest& request,
                               const ShowProgress& show);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_PERPLEXITY_H_
