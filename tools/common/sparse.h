// Texts as weights of words, as SPLADE makes them of a masked language model.
#ifndef FOVEA_TOOLS_COMMON_SPARSE_H_
#define FOVEA_TOOLS_COMMON_SPARSE_H_

#include <vector>

#include "tools/common/text.h"

namespace fovea::tools {

// A row for each text, a weight for each word of the vocabulary: the largest of log(1 + relu(score)) over all of the
// text's tokens, special ones included, but not padding (Formal et al., arXiv 2109.10086). Most are 0.
Matrix SparseWeightsOf(const Model& model, const Session& session, const std::vector<Tokens>& tokens);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_COMMON_SPARSE_H_
