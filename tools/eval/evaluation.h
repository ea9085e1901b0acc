// One blob, or two that take turns, on the samples of a file.
#ifndef FOVEA_TOOLS_EVAL_EVALUATION_H_
#define FOVEA_TOOLS_EVAL_EVALUATION_H_

#include <functional>

#include "tools/common/print.h"
#include "tools/eval/sample_runner.h"
#include "tools/eval/samples.h"

namespace fovea::tools {

enum class Measure { kScores, kClasses, kNothing };

struct EvaluationRequest {
  Samples samples;
  SampleKind kind = SampleKind::kTexts;
  Measure measure = Measure::kNothing;
  RunnerOptions runner;
  uint32_t batch_size = 16;
};

using ShowProgress = std::function<void(size_t done, size_t total)>;

// Blob and metrics of each model; of two also how far they agree, and their times. Where the user interrupts, it is of
// the samples until then ("interrupted").
OrderedJson Evaluate(const std::vector<const Model*>& models, const EvaluationRequest& request,
                     const ShowProgress& show);

// Bytes of each blob, in whose object the rest of what is said of a model is put.
OrderedJson AboutBlobs(const std::vector<const Model*>& models);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_EVALUATION_H_
