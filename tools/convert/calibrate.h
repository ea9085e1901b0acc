// Integer weights that fit the rows which a model multiplies them with.
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

// The error of a rounded weight is the same for every row of a text, and the rows have much in common. So integer
// weights of linear layers are rounded with regard to the rows that the model with f32 weights has for samples, made up
// or given (rounding.h), and what the error then does to the mean row is taken back by the layer's bias. The model runs
// as fast as before. Programs that take numbers, such as sounds, are left alone unless samples of those are given,
// since nothing is known about them.
class Calibrator {
 public:
  // Of tensors for which integers are asked by `types`. All arguments stay.
  Calibrator(const Resolved& model, const ExactModel& exact, const SampleSources& samples,
             const std::vector<DType>& types, Workers& workers);

  // Whether a tensor is the weight of a layer that may be fitted, or its bias. That is kBlobNone where there is none,
  // or where other layers have it, too.
  bool MayChange(uint32_t tensor) const { return may_change_.count(tensor) != 0; }

  using Fit = std::function<void(uint32_t weight, uint32_t bias, const RowStatistics& statistics)>;
  // Runs on, and calls `fit` for layers whose rows are there then, in the order of the program. False at the end.
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
  std::vector<std::map<uint32_t, Layer>> layers_;  // by program, by weight
  std::set<uint32_t> may_change_;

  size_t next_program_ = 0;
  const std::map<uint32_t, Layer>* running_ = nullptr;  // of layers_
  // Layers that read the same share statistics: their values, width, and whether without the mean; and their weights.
  std::map<std::tuple<std::set<uint32_t>, uint32_t, bool>, std::vector<uint32_t>> groups_;
  std::optional<StagedModel::Run> run_;
  StagedModel::Rows rows_;
};

// Fits an encoded weight, if it is of integers, and makes the bias that goes with it, if there is one to change.
// Returns the largest change of it; nothing where the weight is no integers.
std::optional<double> FitLayer(const Constant& weight, const Constant* bias, const RowStatistics& statistics,
                               BlobTensor& fitted, TensorReport& report, BlobTensor* fitted_bias, Workers& workers);

}  // namespace fovea::tools

#endif  // FOVEA_TOOLS_CONVERT_CALIBRATE_H_
