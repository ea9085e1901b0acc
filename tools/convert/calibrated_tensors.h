// The tensors of a model as a blob stores them, integer weights calibrated.
#ifndef FOVEA_TOOLS_CONVERT_CALIBRATED_TENSORS_H_
#define FOVEA_TOOLS_CONVERT_CALIBRATED_TENSORS_H_

#include <map>
#include <utility>
#include <vector>

#include "tools/convert/calibrate.h"

namespace fovea::tools {

// Made when they are asked for, each once: the model with f32 weights runs as far as it must. In the order of the
// model, which is that of its programs, hardly more than one of them is in memory at a time.
class CalibratedTensors {
 public:
  // All arguments stay.
  CalibratedTensors(const Resolved& model, const ExactModel& exact, const SampleSources& samples,
                    const std::vector<DType>& types, Workers& workers);

  TensorReport Make(size_t index, BlobTensor& tensor);
  // What was fitted so far.
  const std::vector<CalibrationReport>& calibrated() const { return calibrated_; }

 private:
  using Made = std::pair<BlobTensor, TensorReport>;
  Made Encoded(uint32_t index) const;
  void Fit(uint32_t weight, uint32_t bias, const RowStatistics& statistics);

  const Resolved& model_;
  Workers& workers_;
  const std::vector<DType>& types_;
  Calibrator calibrator_;
  std::map<uint32_t, Made> fitted_;  // that nobody has asked for yet
  std::vector<CalibrationReport> calibrated_;
};

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_CALIBRATED_TENSORS_H_
