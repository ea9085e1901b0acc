// MLX: numbers packed along the inputs, a scale and a bias for each group; or small floats with a scale for each group.
// The original: mlx/ops.cpp: quantize, dequantize, and mlx_lm/utils.py.
#include <nlohmann/json.hpp>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/base/float8.h"
#include "tools/convert/published/quantized_layers.h"

namespace fovea::tools {
namespace {

struct MlxSettings {
  uint32_t bits = 4;
  uint64_t group = 64;
  std::string mode = "affine";
};

// Settings of the model, or of a layer that has other ones.
MlxSettings SettingsOf(const JsonView& json) {
  MlxSettings settings;
  settings.mode = json["mode"].Text(settings.mode);
  const bool is_float = settings.mode != "affine";
  if (is_float) {  // each mode has one
    settings.bits = settings.mode == "mxfp8" ? 8 : 4;
    settings.group = settings.mode == "nvfp4" ? 16 : 32;
  }
  if (is_float && settings.mode != "mxfp4" && settings.mode != "mxfp8" && settings.mode != "nvfp4") {
    Fail("{}: mode {} is not supported; affine, mxfp4, mxfp8 and nvfp4 are", json.name(), settings.mode);
  }
  const uint32_t bits = json["bits"].Number({1, 32}, settings.bits);
  const uint32_t group = json["group_size"].Number({1, UINT32_MAX}, static_cast<uint32_t>(settings.group));
  if (is_float && (bits != settings.bits || group != settings.group)) {
    Fail("{}: {} bits in groups of {} are not what mode {} is", json.name(), bits, group, settings.mode);
  }
  if (!is_float && (bits == 7 || bits < 2 || bits > 8)) {
    Fail("{}: bits {} is not supported; 2, 3, 4, 5, 6 and 8 are", json.name(), bits);
  }
  settings.bits = bits;
  settings.group = group;
  return settings;
}

struct MlxLayer {
  MlxSettings settings;
  Part weights, scales, biases;
  uint64_t first = 0, rows = 0, width = 0;  // rows from `first` on
};

std::vector<float> LoadAffine(const MlxLayer& layer) {
  const std::vector<float> scales = layer.scales.Floats(), biases = layer.biases.Floats();
  const uint64_t words = layer.weights.width(), groups = layer.scales.width();
  std::vector<float> values(layer.rows * layer.width);
  for (uint64_t r = 0; r < layer.rows; ++r) {
    const uint8_t* row = layer.weights.tensor().data + (layer.first + r) * words * 4;
    for (uint64_t c = 0; c < layer.width; ++c) {
      const uint64_t at = (layer.first + r) * groups + c / layer.settings.group;
      const float product = static_cast<float>(NumberAt(row, 1, c, layer.settings.bits)) * scales[at];
      values[r * layer.width + c] = product + biases[at];
    }
  }
  layer.weights.Forget();
  return values;
}

std::vector<float> LoadFloats(const MlxLayer& layer) {
  const uint64_t words = layer.weights.width();
  const uint32_t bits = layer.settings.bits;
  const uint8_t* bytes = layer.weights.tensor().data + layer.first * words * 4;
  std::vector<float> scales(layer.rows * layer.scales.width());
  for (size_t i = 0; i < scales.size(); ++i) {
    const uint8_t stored = layer.scales.tensor().data[layer.first * layer.scales.width() + i];
    scales[i] = layer.settings.mode == "nvfp4" ? FromE4M3(stored) : FromE8M0(stored);
  }
  const ScaleGrid grid = {layer.scales.width(), 1, layer.settings.group};
  std::vector<float> values = Scaled(layer.rows, layer.width, grid, scales, [&](uint64_t r, uint64_t c) {
    const uint32_t number = NumberAt(bytes + r * words * 4, 1, c, bits);
    return bits == 4 ? FromE2M1(number) : FromE4M3(static_cast<uint8_t>(number));
  });
  layer.weights.Forget();
  return values;
}

void SetLayer(const std::string& name, const MlxLayer& layer, const LayerFacts& facts, QuantizedModel& model) {
  const auto load = [layer] { return layer.settings.mode == "affine" ? LoadAffine(layer) : LoadFloats(layer); };
  model.Set(name, {".scales", ".biases"}, layer.rows, layer.width, load, facts);
}

// The name of an expert's layer where the model was published: MLX stacks experts (mlx_lm/models/qwen3_moe.py and
// mixtral.py: sanitize).
std::string ExpertName(const std::string& stacked, size_t at, uint64_t expert) {
  const std::string before = stacked.substr(0, at), layer = stacked.substr(at + strlen(".switch_mlp."));
  std::string own = layer;
  if (EndsWith(before, "block_sparse_moe")) {
    own = layer == "gate_proj" ? "w1" : layer == "up_proj" ? "w3" : layer == "down_proj" ? "w2" : layer;
  }
  return fmt::format("{}.experts.{}.{}", before, expert, own);
}

void ReadLayer(const std::string& name, const MlxSettings& of_model, QuantizedModel& model) {
  MlxLayer layer;
  const JsonView own = model.settings()[name.c_str()];
  layer.settings = own.json().is_object() ? SettingsOf(own) : of_model;
  layer.weights = model.Get(name + ".weight", {ElementType::kU32, ElementType::kI32});
  const bool affine = layer.settings.mode == "affine";
  layer.scales = affine ? model.GetFloats(name + ".scales") : model.Get(name + ".scales", {ElementType::kU8});
  layer.rows = layer.weights.rows();
  const uint64_t groups = layer.scales.width();
  bool fits = !__builtin_mul_overflow(groups, layer.settings.group, &layer.width) && layer.width <= UINT32_MAX &&
              layer.width * layer.settings.bits == layer.weights.width() * 32 && layer.scales.rows() == layer.rows;
  if (affine && fits) {
    layer.biases = model.GetFloats(name + ".biases");
    fits = layer.biases.Is(layer.rows, groups);
  }
  if (!fits) {
    Fail("{} does not fit {} in {} bits and groups of {}: a scale (and a bias) for each group of each row is expected",
         layer.scales.Shown(), layer.weights.Shown(), layer.settings.bits, layer.settings.group);
  }
  LayerFacts facts;
  facts.numbers = affine ? fmt::format("{} bits", layer.settings.bits) : layer.settings.mode;
  facts.extent = fmt::format("groups of {}", layer.settings.group);
  if (affine) facts.extent += ", and a bias";
  const size_t stacked = name.rfind(".switch_mlp.");
  const std::vector<uint64_t>& shape = layer.weights.tensor().shape;
  if (stacked == std::string::npos || shape.size() != 3) return SetLayer(name, layer, facts, model);
  layer.rows = shape[1];
  for (uint64_t i = 0; i < shape[0]; ++i, layer.first += layer.rows) {
    SetLayer(ExpertName(name, stacked, i), layer, facts, model);
  }
  for (const char* ending : {".weight", ".scales", ".biases"}) model.Drop(name + ending);
}

}  // namespace

void ReadMlx(QuantizedModel& model) {
  const MlxSettings settings = SettingsOf(model.settings());
  for (const std::string& name : model.LayersWith(".scales")) ReadLayer(name, settings, model);
}

}  // namespace fovea::tools
