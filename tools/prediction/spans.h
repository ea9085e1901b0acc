// Tags of tokens merged into spans of the text, by the library.
#ifndef FOVEA_TOOLS_PREDICTION_SPANS_H_
#define FOVEA_TOOLS_PREDICTION_SPANS_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "fovea/result.h"
#include "tools/model/model.h"
#include "tools/model/session.h"
#include "tools/text/tokenizer.h"

namespace fovea::tools {

// `scores`: probabilities of the labels for each token; `aggregation`: a fovea_aggregation. Names belong to the model.
std::vector<fovea_span> SpansOf(const Model& model, const Matrix& scores, const std::string& text, const Tokens& tokens,
                                uint32_t aggregation);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_PREDICTION_SPANS_H_
