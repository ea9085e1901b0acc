#include "tools/convert/mixed_precision.h"

#include <algorithm>
#include <utility>

#include "tools/base/fail.h"
#include "tools/convert/calibrate.h"
#include "tools/convert/compare.h"
#include "tools/convert/loaded_blob.h"

namespace fovea::tools {
namespace {

// Shortest first.
constexpr DType kTypes[] = {DType::kI4, DType::kI8, DType::kF16};
constexpr size_t kShortest = 0, kLongest = 2, kExact = 3;  // f32; encoded when needed

// Numbers times tokens for which single weights are tried: about a second.
constexpr uint64_t kMostWork = uint64_t{1} << 36;
constexpr uint64_t kFewestTokens = 128, kMostTokens = 2048;

// Number of evenly spaced mixes that are tried first.
constexpr size_t kFirstTries = 8;

// The change of a weight to a longer type.
struct Step {
  uint32_t weight;
  size_t to;    // index in kTypes
  double gain;  // reduction of the loss per byte
};

class Mixer {
 public:
  Mixer(const Resolved& model, const ExactModel& exact, const ConvertOptions& options, ConvertReport& report,
        Workers& workers, const Progress& progress)
      : model_(model), exact_(exact), options_(options), report_(report), workers_(workers), progress_(progress) {
    for (const DType type : kTypes) versions_.push_back(EncodeAll(model, TypesFor(model, type), workers, progress));
    if (options.calibrate) Calibrate();
    for (uint32_t i = 0; i < model.content.tensors.size(); ++i) {
      if (versions_[1].tensors[i].type == DType::kI8) weights_.push_back(i);
    }
    if (weights_.empty()) Fail("no weight of the model can have several types; leave out --weights auto");
  }

  EncodedTensors Choose() {
    const std::vector<Step> steps = Order(MeasureWeights());
    MakeReferences(SIZE_MAX);
    const size_t chosen = SmallestGoodEnough(steps);
    const std::vector<size_t> mix = MixOf(steps, chosen);
    EncodedTensors all;
    for (size_t i = 0; i < mix.size(); ++i) {
      all.tensors.push_back(std::move(versions_[mix[i]].tensors[i]));
      all.reports.push_back(versions_[mix[i]].reports[i]);
    }
    for (size_t w = 0; w < weights_.size(); ++w) report_.mix->weights[w].type = all.tensors[weights_[w]].type;
    for (const Layer& layer : layers_) {
      if (mix[layer.weight] == kLongest) continue;
      report_.calibrated.push_back({all.tensors[layer.weight].name, layer.bias_changes[mix[layer.weight]]});
    }
    return all;
  }

 private:
  // A fitted weight, and the change of its bias for each version.
  struct Layer {
    uint32_t weight, bias;
    std::vector<double> bias_changes;
  };

  // Calibrates each integer version.
  void Calibrate() {
    const std::vector<DType> types = TypesFor(model_, kTypes[kShortest]);
    Calibrator calibrator(model_, exact_, options_.samples, types, workers_);
    const auto fit = [&](uint32_t weight, uint32_t bias, const RowStatistics& statistics) {
      if (progress_) progress_("calibrate", model_.content.tensors[weight].name, weight, types.size());
      Layer layer = {weight, bias, {}};
      for (size_t v = kShortest; v < kLongest; ++v) {
        EncodedTensors& version = versions_[v];
        const bool changes_bias = bias != kBlobNone;
        const std::optional<double> change =
            FitLayer(model_.constants[weight], changes_bias ? &model_.constants[bias] : nullptr, statistics,
                     version.tensors[weight], version.reports[weight], changes_bias ? &version.tensors[bias] : nullptr,
                     workers_);
        layer.bias_changes.push_back(change.value_or(0));
      }
      layers_.push_back(std::move(layer));
    };
    while (calibrator.Advance(fit)) {
    }
    if (progress_) progress_("calibrate", "", 1, 1);
  }

  void MakeReferences(size_t most_tokens) {
    references_.clear();
    for (uint32_t p = 0; p < model_.content.programs.size(); ++p) {
      if (!model_.is_part[p])
        references_.emplace_back(exact_.outline(), OutputsBy(exact_.staged()), p, options_, most_tokens);
    }
  }

  // 1 - the minimum over outputs of the mean cosine, with channels as they are or scaled equally. `mix` has an index of
  // versions_, or kExact, for each tensor.
  double LossOf(const std::vector<size_t>& mix) {
    BlobMemory blob;
    const std::vector<DType> f32 = TypesFor(model_, DType::kF32);
    WriteBlob(
        model_.content,
        [&](size_t i, BlobTensor& tensor) {
          if (mix[i] != kExact) {
            tensor = versions_[mix[i]].tensors[i];
          } else {
            Encode(model_, i, f32[i], tensor, workers_);
          }
        },
        blob);
    const LoadedBlob loaded(std::move(blob.memory), blob.size, "a mix of types");
    double least = 1;
    for (const Reference& reference : references_) {
      for (const OutputReport& output : reference.Compare(OutputsBy(loaded.model, workers_.count())))
        least = std::min({least, output.mean_cosine, output.mean_scaled_cosine});
    }
    return 1 - least;
  }

  // Changes a weight's version together with its bias.
  void Take(uint32_t weight, size_t version, std::vector<size_t>& mix) const {
    mix[weight] = version;
    for (const Layer& layer : layers_) {
      if (layer.weight == weight && layer.bias != kBlobNone) mix[layer.bias] = version;
    }
  }

  // A weight that cannot have the type has a longer one.
  bool HasType(uint32_t weight, size_t type) const { return versions_[type].tensors[weight].type == kTypes[type]; }

  // Losses of each weight, by type.
  std::vector<std::vector<double>> MeasureWeights() {
    uint64_t numbers = 0;
    for (const uint32_t weight : weights_) {
      numbers += uint64_t{model_.content.tensors[weight].rows} * model_.content.tensors[weight].width;
    }
    MakeReferences(std::clamp(kMostWork / std::max<uint64_t>(numbers, 1), kFewestTokens, kMostTokens));
    report_.mix.emplace();
    report_.mix->keep = *options_.keep;
    std::vector<std::vector<double>> losses;
    for (size_t w = 0; w < weights_.size(); ++w) {
      const std::string& name = model_.content.tensors[weights_[w]].name;
      if (progress_) progress_("try", name, w, weights_.size());
      std::vector<double> of_weight(std::size(kTypes));
      for (size_t type = kLongest; type-- > kShortest;) {
        if (!HasType(weights_[w], type)) {
          of_weight[type] = of_weight[type + 1];
          continue;
        }
        std::vector<size_t> mix(model_.content.tensors.size(), kExact);
        Take(weights_[w], type, mix);
        of_weight[type] = LossOf(mix);
      }
      report_.mix->weights.push_back({name, kTypes[kLongest], of_weight[0], of_weight[1]});
      losses.push_back(std::move(of_weight));
    }
    if (progress_) progress_("try", "", weights_.size(), weights_.size());
    return losses;
  }

  // The steps from all weights in their shortest type to all in their longest, best first. A type with less gain per
  // byte than the next longer one is omitted, so the steps of a weight are in order.
  std::vector<Step> Order(const std::vector<std::vector<double>>& losses) const {
    std::vector<Step> steps;
    for (size_t w = 0; w < weights_.size(); ++w) {
      const uint32_t weight = weights_[w];
      const auto gain = [&](size_t from, size_t to) {
        const auto bytes = [&](size_t type) { return static_cast<double>(versions_[type].reports[weight].bytes); };
        return (losses[w][from] - losses[w][to]) / std::max(bytes(to) - bytes(from), 1.0);
      };
      const bool has_int4 = HasType(weight, kShortest);
      if (has_int4 && gain(0, 1) < gain(1, 2)) {
        steps.push_back({weight, 2, gain(0, 2)});
        continue;
      }
      if (has_int4) steps.push_back({weight, 1, gain(0, 1)});
      steps.push_back({weight, 2, gain(1, 2)});
    }
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.gain > b.gain; });
    return steps;
  }

  std::vector<size_t> MixOf(const std::vector<Step>& steps, size_t count) const {
    std::vector<size_t> mix(model_.content.tensors.size(), kLongest);
    for (const uint32_t weight : weights_) Take(weight, kShortest, mix);
    for (size_t i = 0; i < count; ++i) Take(steps[i].weight, steps[i].to, mix);
    return mix;
  }

  // The number of steps needed.
  size_t SmallestGoodEnough(const std::vector<Step>& steps) {
    const double most_loss = 1 - *options_.keep;
    std::vector<MixPoint>& curve = report_.mix->curve;
    const auto good = [&](size_t count) {
      if (progress_) progress_("mix", "", curve.size(), 2 * kFirstTries);
      const std::vector<size_t> mix = MixOf(steps, count);
      MixPoint point = {0, 1 - LossOf(mix)};
      for (size_t i = 0; i < mix.size(); ++i) point.bytes += versions_[mix[i]].reports[i].bytes;
      curve.push_back(point);
      return 1 - point.cosine <= most_loss;
    };
    size_t bad = 0, enough = SIZE_MAX;
    const size_t tries = std::min(kFirstTries, steps.size());
    for (size_t i = 0; i <= tries; ++i) {
      const size_t count = steps.size() * i / tries;
      if (good(count)) {
        enough = std::min(enough, count);
      } else if (enough == SIZE_MAX) {
        bad = count;
      }
    }
    if (enough == SIZE_MAX) {
      const auto best = std::max_element(curve.begin(), curve.end(),
                                         [](const MixPoint& a, const MixPoint& b) { return a.cosine < b.cosine; });
      Fail("no mix of int4, int8 and f16 keeps {}: the best keeps {:.9f}", *options_.keep, best->cosine);
    }
    while (enough > bad + 1) {
      const size_t middle = bad + (enough - bad) / 2;
      (good(middle) ? enough : bad) = middle;
    }
    std::sort(curve.begin(), curve.end(), [](const MixPoint& a, const MixPoint& b) { return a.bytes < b.bytes; });
    curve.erase(std::unique(curve.begin(), curve.end(),
                            [](const MixPoint& a, const MixPoint& b) { return a.bytes == b.bytes; }),
                curve.end());
    if (progress_) progress_("mix", "", 1, 1);
    return enough;
  }

  const Resolved& model_;
  const ExactModel& exact_;
  const ConvertOptions& options_;
  ConvertReport& report_;
  Workers& workers_;
  const Progress& progress_;
  std::vector<EncodedTensors> versions_;  // by kTypes
  std::vector<Layer> layers_;
  std::vector<uint32_t> weights_;  // tensors that can have any type
  std::vector<Reference> references_;
};

}  // namespace

EncodedTensors ChooseMix(const Resolved& model, const ExactModel& exact, const ConvertOptions& options,
                         ConvertReport& report, Workers& workers, const Progress& progress) {
  return Mixer(model, exact, options, report, workers, progress).Choose();
}

}  // namespace fovea::tools
