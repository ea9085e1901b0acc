// The model with f32 weights, which others are measured by.
#ifndef FOVEA_TOOLS_CONVERT_EXACT_MODEL_H_
#define FOVEA_TOOLS_CONVERT_EXACT_MODEL_H_

#include <vector>

#include "tools/base/workers.h"
#include "tools/common/model.h"
#include "tools/convert/loaded_blob.h"
#include "tools/convert/resolve.h"
#include "tools/convert/staged_model.h"

namespace fovea::tools {

class ExactModel {
 public:
  // As the resolved model is now, whose constants stay. Both live as long as this does.
  ExactModel(const Resolved& model, Workers& workers, uint64_t most_bytes = StagedModel::kMostBytes);

  const StagedModel& staged() const { return staged_; }
  // What the model takes and makes, and its tokenizer. Its weights are zeros.
  const Model& outline() const { return outline_.model; }

 private:
  StagedModel staged_;
  LoadedBlob outline_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_EXACT_MODEL_H_
