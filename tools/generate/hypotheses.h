// Hypotheses of a beam search as JSON.
#ifndef FOVEA_TOOLS_GENERATE_HYPOTHESES_H_
#define FOVEA_TOOLS_GENERATE_HYPOTHESES_H_

#include "tools/base/print.h"
#include "tools/generate/generation.h"

namespace fovea::tools {

// All hypotheses with their scores, best first.
OrderedJson HypothesesJson(const Generation& generation);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_HYPOTHESES_H_
