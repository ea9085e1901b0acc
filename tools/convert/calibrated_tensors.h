// The tensors of a model as a blob stores them, integer weights calibrated.
#ifndef FOVEA_TOOLS_CONVERT_CALIBRATED_TENSORS_H_
#define FOVEA_TOOLS_CONVERT_CALIBRATED_TENSORS_H_

#include <map>
#include <utility>
#include <vector>

#include "tools/convert/calibrate.h"

namespace fovea::tools {

// Tensors are created on request, once each: the model with f32 weights runs as far as necessary. In the order of the
// model's programs, little more than one tensor is in memory at a time.
class CalibratedTensors {
 public:
  // All arguments must outlive this.
  CalibratedTensors(const Resolved& model, const ExactModel& exact, const SampleSources& samples,
                    const std::vector<DType>& types, Workers& workers);

  TensorReport Make(size_t index, BlobTensor& tensor);
  // Layers fitted so far.
  const std::vector<CalibrationReport>& calibrated() const { return calibrated_; }

 private:
  using Made = std::pair<BlobTensor, TensorReport>;
  Made Encoded(uint32_t index) const;
  void Fit(uint32_t weight, uint32_t bias, const RowStatistics& statistics);

  const Resolved& model_;
  Workers& workers_;
  const std::vector<DType>& types_;
  Calibrator calibrator_;
  std::map<uint32_t, Made> fitted_;  // fitted, but not yet requested
  std::vector<CalibrationReport> calibrated_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_CALIBRATED_TENSORS_H_
