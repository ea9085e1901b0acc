// How well decoders foretell texts.
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
  uint32_t window = 0;  // tokens; 0: as many as the model takes, 2048 at most where it has no limit
  uint32_t stride = 0;  // 0: half a window
  uint32_t workers = 1;
  uint32_t batch_size = 16;            // windows at a time
  uint32_t rows = 2048;                // of a run at most; fewer where there are many words
  std::optional<uint32_t> cache_type;  // see SessionRequest
};

// As Evaluate() does. Perplexity is exp of the mean of -log p over all tokens that count; bits per byte are the same
// sum by the bytes of these tokens, and so compare models with other tokens.
OrderedJson EvaluatePerplexity(const std::vector<const Model*>& models, const PerplexityRequest& request,
                               const ShowProgress& show);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_PERPLEXITY_H_
