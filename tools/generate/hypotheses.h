// Texts of a search other than the best.
#ifndef FOVEA_TOOLS_GENERATE_HYPOTHESES_H_
#define FOVEA_TOOLS_GENERATE_HYPOTHESES_H_

#include "tools/common/print.h"
#include "tools/generate/generation.h"

namespace fovea::tools {

// All of them, the best first, with their scores.
OrderedJson HypothesesJson(const Generation& generation);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_GENERATE_HYPOTHESES_H_
