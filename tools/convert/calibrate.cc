#include "tools/convert/calibrate.h"

#include <math.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "runtime/blob/attributes.h"
#include "runtime/blob/op_codes.h"
#include "tools/convert/blob_attributes.h"
#include "tools/convert/sample_batches.h"

namespace fovea::tools {
namespace {

// Time grows with the square of the width, for each row of a weight.
constexpr uint32_t kMostWidth = 4096;

// The value whose first columns an operation multiplies by its weight, its first tensor: kBlobNone if these rows are
// not a value of the program; nothing if the operation has no such weight. A recurrent layer multiplies its states; a
// GRU with `reset_after` false multiplies other rows than its states. Which operations have a weight does not depend on
// which rows they mix (op_list.inc): linear is row-local, recurrent mixes rows.
std::optional<uint32_t> MultipliedValue(const BlobOperation& operation) {
  switch (static_cast<OpCode>(operation.code)) {
    case OpCode::kLinear:
      return operation.inputs[0];
    case OpCode::kExperts:  // rows of x; the inputs of later experts differ by expert
      return NumberOr(operation, Attribute::kKind, 0) == 0 ? operation.inputs[0] : kBlobNone;
    case OpCode::kCell:
    case OpCode::kRecurrent:
      if (NumberOr(operation, Attribute::kCell, 0) == 0 && NumberOr(operation, Attribute::kResetAfter, 1) == 0)
        return kBlobNone;
      return static_cast<OpCode>(operation.code) == OpCode::kCell ? operation.inputs[1] : operation.output;
    default:
      return std::nullopt;
  }
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

// Subtracts the weight's error for the mean row from the bias. Returns the largest change.
double Shift(const std::vector<float>& wanted, const std::vector<float>& stored, const RowStatistics& statistics,
             std::vector<float> bias, BlobTensor& tensor) {
  const size_t width = statistics.mean.size();
  double largest = 0;
  for (size_t r = 0; r < wanted.size() / width; ++r) {
    double shift = 0;
    for (size_t i = 0; i < width; ++i) {
      shift += (static_cast<double>(wanted[r * width + i]) - stored[r * width + i]) * statistics.mean[i];
    }
    bias[r] = static_cast<float>(bias[r] + shift);
    largest = std::max(largest, fabs(shift));
  }
  EncodeTensor(bias, tensor);
  return largest;
}

}  // namespace

Calibrator::Calibrator(const Resolved& model, const ExactModel& exact, const SampleSources& samples,
                       const std::vector<DType>& types, Workers& workers)
    : model_(model), exact_(exact), samples_(samples), types_(types), workers_(workers) {
  const std::vector<BlobProgram>& programs = exact.staged().programs();
  std::map<uint32_t, uint32_t> uses;  // number of uses of each tensor
  for (size_t i = 0; i < programs.size(); ++i) {
    if (model.is_part[i]) continue;  // it shares the layers of another program
    for (const BlobOperation& operation : programs[i].operations) {
      for (const uint32_t tensor : operation.tensors) ++uses[tensor];
    }
  }
  for (size_t i = 0; i < programs.size(); ++i) {
    layers_.push_back(model.is_part[i] ? std::map<uint32_t, Layer>() : LayersOf(programs[i], uses));
    for (const auto& [weight, layer] : layers_.back()) {
      may_change_.insert(weight);
      if (layer.bias != kBlobNone) may_change_.insert(layer.bias);
    }
  }
}

std::map<uint32_t, Calibrator::Layer> Calibrator::LayersOf(const BlobProgram& program,
                                                           const std::map<uint32_t, uint32_t>& uses) const {
  std::map<uint32_t, Layer> layers;
  std::set<uint32_t> excluded;
  for (const BlobOperation& operation : program.operations) {
    const std::optional<uint32_t> multiplied = MultipliedValue(operation);
    if (!multiplied) continue;
    const uint32_t weight = operation.tensors[0], value = *multiplied;
    const uint32_t bias = operation.tensors.size() < 2 ? kBlobNone : operation.tensors[1];
    const bool integers = types_[weight] == DType::kI8 || types_[weight] == DType::kI4;
    Layer& layer = layers[weight];
    if (!integers || model_.content.tensors[weight].width > kMostWidth || value == kBlobNone ||
        IsInput(program.values[value].role) || (layer.uses != 0 && layer.bias != bias)) {
      excluded.insert(weight);
    }
    layer.inputs.insert(value);
    layer.bias = bias;
    ++layer.uses;
  }
  for (auto at = layers.begin(); at != layers.end();) {
    Layer& layer = at->second;
    // Embedding tables, and tensors that other programs also use, are unchanged.
    const bool own = uses.at(at->first) == layer.uses && excluded.count(at->first) == 0;
    if (layer.bias != kBlobNone && uses.at(layer.bias) != layer.uses) layer.bias = kBlobNone;
    at = own ? std::next(at) : layers.erase(at);
  }
  return layers;
}

bool Calibrator::BeginNextProgram() {
  run_.reset();
  groups_.clear();
  rows_.clear();
  while (next_program_ < layers_.size()) {
    const auto program = static_cast<uint32_t>(next_program_++);
    running_ = &layers_[program];
    std::set<uint32_t> values;
    for (const auto& [weight, layer] : *running_) {
      values.insert(layer.inputs.begin(), layer.inputs.end());
      groups_[{layer.inputs, model_.content.tensors[weight].width, layer.bias != kBlobNone}].push_back(weight);
    }
    if (values.empty()) continue;
    std::vector<Batch> batches = SampleBatches(exact_.outline(), program, values, samples_);
    if (!batches.empty()) {
      run_.emplace(exact_.staged(), program, std::move(batches), std::move(values));
      return true;
    }
    groups_.clear();
  }
  return false;
}

bool Calibrator::Advance(const Fit& fit) {
  while (!run_ || !run_->Next(rows_)) {
    if (!BeginNextProgram()) return false;
  }
  std::set<uint32_t> read_later;
  for (auto at = groups_.begin(); at != groups_.end();) {
    const auto& [inputs, width, centered] = at->first;
    const auto is_there = [&](uint32_t value) { return rows_.count(value) != 0; };
    if (!std::all_of(inputs.begin(), inputs.end(), is_there)) {
      read_later.insert(inputs.begin(), inputs.end());
      ++at;
      continue;
    }
    if (const std::optional<RowStatistics> statistics = StatisticsOf(inputs, width, centered)) {
      for (const uint32_t weight : at->second) fit(weight, running_->at(weight).bias, *statistics);
    }
    at = groups_.erase(at);
  }
  for (auto at = rows_.begin(); at != rows_.end();) {
    at = read_later.count(at->first) == 0 ? rows_.erase(at) : std::next(at);
  }
  return true;
}

// Statistics of the first columns of values; nothing if these texts select no rows.
std::optional<RowStatistics> Calibrator::StatisticsOf(const std::set<uint32_t>& values, uint32_t width,
                                                      bool centered) const {
  std::deque<Matrix> parts;
  std::vector<const Matrix*> inputs;
  for (const uint32_t value : values) {
    for (const Matrix& matrix : rows_.at(value)) {
      if (matrix.rows == 0) continue;
      const bool whole = matrix.width == width;
      inputs.push_back(whole ? &matrix : &parts.emplace_back(FirstColumns(matrix, width)));
    }
  }
  if (inputs.empty()) return std::nullopt;
  return MakeStatistics(inputs, centered, workers_);
}

std::optional<double> FitLayer(const Constant& weight, const Constant* bias, const RowStatistics& statistics,
                               BlobTensor& fitted, TensorReport& report, BlobTensor* fitted_bias, Workers& workers) {
  if (fitted.type != DType::kI8 && fitted.type != DType::kI4) return std::nullopt;
  const std::vector<float> wanted = weight.load();
  RoundWeights(wanted, statistics, fitted, workers);
  const std::vector<float> stored = DecodeTensor(fitted, &workers);
  report.error = CompareTensors(wanted, stored);
  return bias == nullptr ? 0 : Shift(wanted, stored, statistics, bias->load(), *fitted_bias);
}

}  // namespace fovea::tools
