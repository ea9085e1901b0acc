#include "tools/convert/calibrated_tensors.h"

namespace fovea::tools {

CalibratedTensors::CalibratedTensors(const Resolved& model, const ExactModel& exact, const SampleSources& samples,
                                     const std::vector<DType>& types, Workers& workers)
    : model_(model), workers_(workers), types_(types), calibrator_(model, exact, samples, types, workers) {}

TensorReport CalibratedTensors::Make(size_t index, BlobTensor& tensor) {
  const auto key = static_cast<uint32_t>(index);
  const auto fit = [this](uint32_t weight, uint32_t bias, const RowStatistics& statistics) {
    Fit(weight, bias, statistics);
  };
  bool goes_on = calibrator_.MayChange(key);
  while (goes_on && fitted_.count(key) == 0) goes_on = calibrator_.Advance(fit);
  const auto at = fitted_.find(key);
  if (at == fitted_.end()) return Encode(model_, index, types_[index], tensor, workers_);
  tensor = std::move(at->second.first);
  const TensorReport report = at->second.second;
  fitted_.erase(at);
  return report;
}

CalibratedTensors::Made CalibratedTensors::Encoded(uint32_t index) const {
  Made made;
  made.first = model_.content.tensors[index];
  made.second = Encode(model_, index, types_[index], made.first, workers_);
  return made;
}

void CalibratedTensors::Fit(uint32_t weight, uint32_t bias, const RowStatistics& statistics) {
  Made fitted = Encoded(weight), fitted_bias;
  if (bias != kBlobNone) fitted_bias = Encoded(bias);
  const std::optional<double> change =
      FitLayer(model_.constants[weight], bias == kBlobNone ? nullptr : &model_.constants[bias], statistics,
               fitted.first, fitted.second, &fitted_bias.first, workers_);
  if (change) calibrated_.push_back({fitted.first.name, *change});
  fitted_[weight] = std::move(fitted);
  if (bias != kBlobNone) fitted_[bias] = std::move(fitted_bias);
}

}  // namespace fovea::tools
