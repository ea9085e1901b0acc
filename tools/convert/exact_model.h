// The model with f32 weights, the reference for comparison and calibration.
#ifndef FOVEA_TOOLS_CONVERT_EXACT_MODEL_H_
#define FOVEA_TOOLS_CONVERT_EXACT_MODEL_H_

#include <vector>

#include "tools/base/workers.h"
#include "tools/convert/loaded_blob.h"
#include "tools/convert/resolve.h"
#include "tools/convert/staged_model.h"
#include "tools/model/model.h"

namespace fovea::tools {

class ExactModel {
 public:
  // For the resolved model in its current state; its constants must not change. Both must outlive this.
  ExactModel(const Resolved& model, Workers& workers, uint64_t most_bytes = StagedModel::kMostBytes);

  const StagedModel& staged() const { return staged_; }
  // The model's inputs, outputs and tokenizer. Its weights are zeros.
  const Model& outline() const { return outline_.model; }

 private:
  StagedModel staged_;
  LoadedBlob outline_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_EXACT_MODEL_H_
