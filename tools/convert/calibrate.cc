// Integer weights that fit the rows which a model multiplies them with.
#include "tools/convert/calibrate.h"

#include <math.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "tools/convert/blob_attributes.h"
#include "tools/convert/rounding.h"
#include "tools/convert/sample_batches.h"

namespace fovea::tools {
namespace {

// Time grows with the square of the width, for each row of a weight.
constexpr uint32_t kMostWidth = 4096;

// The value whose rows, as far as the weight is wide, an operation multiplies with its weight; kBlobNone where there is
// none. A recurrent layer multiplies the states that it makes; only those of a gru that resets first are not its h.
uint32_t MultipliedValue(const BlobOperation& operation) {
  switch (static_cast<OpCode>(operation.code)) {
    case OpCode::kLinear:
      return operation.inputs[0];
    case OpCode::kExperts:  // of rows as they are; what an expert makes of its own ones is not like another's
      return NumberOr(operation, Attribute::kKind, 0) == 0 ? operation.inputs[0] : kBlobNone;
    case OpCode::kCell:
    case OpCode::kRecurrent:
      if (NumberOr(operation, Attribute::kCell, 0) == 0 && NumberOr(operation, Attribute::kResetAfter, 1) == 0)
        return kBlobNone;
      return static_cast<OpCode>(operation.code) == OpCode::kCell ? operation.inputs[1] : operation.output;
    default:
      return kBlobNone;
  }
}

bool Multiplies(const BlobOperation& operation) {
  const auto code = static_cast<OpCode>(operation.code);
  return code == OpCode::kLinear || code == OpCode::kExperts || code == OpCode::kCell || code == OpCode::kRecurrent;
}

// The first columns of rows.
Matrix FirstColumns(Matrix rows, uint32_t width) {
  for (size_t r = 0; r < rows.rows; ++r) {
    std::copy_n(rows.values.begin() + static_cast<ptrdiff_t>(r * rows.width), width,
                rows.values.begin() + static_cast<ptrdiff_t>(r * width));
  }
  rows.values.resize(size_t{rows.rows} * width);
  rows.width = width;
  return rows;
}

// A weight of linear layers.
struct Layer {
  std::set<uint32_t> inputs;  // values of the program
  uint32_t bias = kBlobNone;  // where nothing but these layers has it
  uint32_t uses = 0;
};

class Calibrator {
 public:
  Calibrator(const Resolved& model, const SampleSources& samples, const std::vector<EncodedTensors*>& versions,
             Workers& workers)
      : model_(model), samples_(samples), versions_(versions), workers_(workers) {
    for (size_t i = 0; i < model.content.programs.size(); ++i) {
      if (model.is_part[i]) continue;  // its layers are another program's
      for (const BlobOperation& operation : model.content.programs[i].operations) {
        for (const uint32_t tensor : operation.tensors) ++uses_[tensor];
      }
    }
  }

  void Run(const ExactModel& exact, uint32_t index, const Progress& progress) {
    const std::map<uint32_t, Layer> layers = LayersOf(model_.content.programs[index]);
    std::set<uint32_t> values;
    // Layers that read the same share statistics.
    std::map<std::tuple<std::set<uint32_t>, uint32_t, bool>, std::vector<uint32_t>> groups;
    for (const auto& [weight, layer] : layers) {
      values.insert(layer.inputs.begin(), layer.inputs.end());
      groups[{layer.inputs, model_.content.tensors[weight].width, layer.bias != kBlobNone}].push_back(weight);
    }
    if (values.empty()) return;
    const std::vector<Batch> batches = SampleBatches(exact.outline(), index, values, samples_);
    if (batches.empty()) return;
    ExactModel::Rows rows;
    size_t done = 0;
    exact.Run(index, batches, values, [&](ExactModel::Rows& made) {
      rows.merge(made);
      std::set<uint32_t> read_later;
      for (auto at = groups.begin(); at != groups.end();) {
        const auto& [inputs, width, centered] = at->first;
        const auto is_there = [&](uint32_t value) { return rows.count(value) != 0; };
        if (!std::all_of(inputs.begin(), inputs.end(), is_there)) {
          read_later.insert(inputs.begin(), inputs.end());
          ++at;
          continue;
        }
        if (const std::optional<RowStatistics> statistics = StatisticsOf(rows, inputs, width, centered)) {
          for (const uint32_t weight : at->second) {
            if (progress) progress("calibrate", model_.content.tensors[weight].name, done++, layers.size());
            Fit(weight, layers.at(weight).bias, *statistics);
          }
        }
        at = groups.erase(at);
      }
      for (auto at = rows.begin(); at != rows.end();) {
        at = read_later.count(at->first) == 0 ? rows.erase(at) : std::next(at);
      }
    });
  }

  std::vector<CalibratedLayer> calibrated;

 private:
  std::map<uint32_t, Layer> LayersOf(const BlobProgram& program) const {
    std::map<uint32_t, Layer> layers;
    std::set<uint32_t> excluded;
    for (const BlobOperation& operation : program.operations) {
      if (!Multiplies(operation)) continue;
      const uint32_t weight = operation.tensors[0], value = MultipliedValue(operation);
      const BlobTensor& tensor = versions_[0]->tensors[weight];
      const uint32_t bias = operation.tensors.size() < 2 ? kBlobNone : operation.tensors[1];
      const bool integers = tensor.type == DType::kI8 || tensor.type == DType::kI4;
      Layer& layer = layers[weight];
      if (!integers || tensor.width > kMostWidth || value == kBlobNone || IsInput(program.values[value].role) ||
          (layer.uses != 0 && layer.bias != bias)) {
        excluded.insert(weight);
      }
      layer.inputs.insert(value);
      layer.bias = bias;
      ++layer.uses;
    }
    for (auto at = layers.begin(); at != layers.end();) {
      Layer& layer = at->second;
      // Tables of embeddings, and what another program uses too, stay as they are.
      const bool own = uses_.at(at->first) == layer.uses && excluded.count(at->first) == 0;
      if (layer.bias != kBlobNone && uses_.at(layer.bias) != layer.uses) layer.bias = kBlobNone;
      at = own ? std::next(at) : layers.erase(at);
    }
    return layers;
  }

  // Of the first columns of values; nothing where these texts choose no rows.
  std::optional<RowStatistics> StatisticsOf(const ExactModel::Rows& rows, const std::set<uint32_t>& values,
                                            uint32_t width, bool centered) const {
    std::deque<Matrix> parts;
    std::vector<const Matrix*> inputs;
    for (const uint32_t value : values) {
      for (const Matrix& matrix : rows.at(value)) {
        if (matrix.rows == 0) continue;
        const bool whole = matrix.width == width;
        inputs.push_back(whole ? &matrix : &parts.emplace_back(FirstColumns(matrix, width)));
      }
    }
    if (inputs.empty()) return std::nullopt;
    return MakeStatistics(inputs, centered, workers_);
  }

  void Fit(uint32_t index, uint32_t bias, const RowStatistics& statistics) {
    const std::vector<float> wanted = model_.constants[index].load();
    CalibratedLayer layer = {index, bias, {}};
    for (EncodedTensors* version : versions_) {
      BlobTensor& weight = version->tensors[index];
      RoundWeights(wanted, statistics, weight, workers_);
      const std::vector<float> stored = DecodeTensor(weight, &workers_);
      version->reports[index].error = CompareTensors(wanted, stored);
      layer.bias_changes.push_back(bias == kBlobNone ? 0
                                                     : Shift(wanted, stored, statistics, bias, version->tensors[bias]));
    }
    calibrated.push_back(std::move(layer));
  }

  // Takes back what the stored weight's error does to the mean row. Returns the largest change.
  double Shift(const std::vector<float>& wanted, const std::vector<float>& stored, const RowStatistics& statistics,
               uint32_t bias, BlobTensor& tensor) const {
    std::vector<float> values = model_.constants[bias].load();
    const size_t width = statistics.mean.size();
    double largest = 0;
    for (size_t r = 0; r < wanted.size() / width; ++r) {
      double shift = 0;
      for (size_t i = 0; i < width; ++i) {
        shift += (static_cast<double>(wanted[r * width + i]) - stored[r * width + i]) * statistics.mean[i];
      }
      values[r] = static_cast<float>(values[r] + shift);
      largest = std::max(largest, fabs(shift));
    }
    EncodeTensor(values, tensor);
    return largest;
  }

  const Resolved& model_;
  const SampleSources& samples_;
  const std::vector<EncodedTensors*>& versions_;
  Workers& workers_;
  std::map<uint32_t, uint32_t> uses_;  // of tensors
};

}  // namespace

std::vector<CalibratedLayer> Calibrate(const Resolved& model, const ExactModel& exact, const SampleSources& samples,
                                       const std::vector<EncodedTensors*>& versions, Workers& workers,
                                       const Progress& progress) {
  Calibrator calibrator(model, samples, versions, workers);
  for (uint32_t p = 0; p < model.content.programs.size(); ++p) {
    if (!model.is_part[p]) calibrator.Run(exact, p, progress);
  }
  return std::move(calibrator.calibrated);
}

}  // namespace fovea::tools
