// Calibrates integer weights for the rows that a model multiplies them with.
#ifndef FOVEA_TOOLS_CONVERT_CALIBRATE_H_
#define FOVEA_TOOLS_CONVERT_CALIBRATE_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "tools/base/workers.h"
#include "tools/convert/convert.h"
#include "tools/convert/encoder.h"
#include "tools/convert/exact_model.h"
#include "tools/convert/resolve.h"
#include "tools/convert/rounding.h"

namespace fovea::tools {

// Rows of a layer's input have much in common, so the error of a rounded weight affects all of them in the same way.
// Integer weights of linear layers are therefore rounded for the rows that the model with f32 weights has for samples,
// generated or given (rounding.h), and the error for the mean row is subtracted from the layer's bias. The run time
// does not change. Programs that read numbers, such as audio, are calibrated only if samples are given, since typical
// inputs are unknown.
class Calibrator {
 public:
  // For tensors whose type in `types` is an integer type. All arguments must outlive this.
  Calibrator(const Resolved& model, const ExactModel& exact, const SampleSources& samples,
             const std::vector<DType>& types, Workers& workers);

  // Whether a tensor can change: the weight of a layer that can be fitted, or its bias. The bias of a layer is
  // kBlobNone if it has none or shares it with other layers.
  bool MayChange(uint32_t tensor) const { return may_change_.count(tensor) != 0; }

  using Fit = std::function<void(uint32_t weight, uint32_t bias, const RowStatistics& statistics)>;
  // Runs the next part and calls `fit` for layers whose rows it provides, in program order. False at the end.
  bool Advance(const Fit& fit);

 private:
  // A weight of linear layers.
  struct Layer {
    std::set<uint32_t> inputs;  // values of the program
    uint32_t bias = kBlobNone;
    uint32_t uses = 0;
  };
  std::map<uint32_t, Layer> LayersOf(const BlobProgram& program, const std::map<uint32_t, uint32_t>& uses) const;
  bool BeginNextProgram();
  std::optional<RowStatistics> StatisticsOf(const std::set<uint32_t>& values, uint32_t width, bool centered) const;

  const Resolved& model_;
  const ExactModel& exact_;
  const SampleSources& samples_;
  const std::vector<DType>& types_;
  Workers& workers_;
  std::vector<std::map<uint32_t, Layer>> layers_;  // [program][weight]
  std::set<uint32_t> may_change_;

  size_t next_program_ = 0;
  const std::map<uint32_t, Layer>* running_ = nullptr;  // element of layers_
  // Layers with the same inputs share statistics: (inputs, width, centered) to weights.
  std::map<std::tuple<std::set<uint32_t>, uint32_t, bool>, std::vector<uint32_t>> groups_;
  std::optional<StagedModel::Run> run_;
  StagedModel::Rows rows_;
};

// Fits an encoded weight of integer type, and creates its changed bias if there is one. Returns the largest change of
// the bias; nothing if the weight is not of integer type.
std::optional<double> FitLayer(const Constant& weight, const Constant* bias, const RowStatistics& statistics,
                               BlobTensor& fitted, TensorReport& report, BlobTensor* fitted_bias, Workers& workers);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_CALIBRATE_H_
