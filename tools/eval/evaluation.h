// Evaluates one blob, or two that alternate, on the samples of a file.
#ifndef FOVEA_TOOLS_EVAL_EVALUATION_H_
#define FOVEA_TOOLS_EVAL_EVALUATION_H_

#include <functional>

#include "tools/base/print.h"
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

// Blob and metrics of each model; for two models also their agreement and times. After an interrupt, results are for
// the samples so far ("interrupted").
OrderedJson Evaluate(const std::vector<const Model*>& models, const EvaluationRequest& request,
                     const ShowProgress& show);

// Name and bytes of each blob, as objects to which results are added.
OrderedJson AboutBlobs(const std::vector<const Model*>& models);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_EVAL_EVALUATION_H_
