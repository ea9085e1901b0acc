// Weights as floats of eight bits with scales: fp8 (per block or tensor), fbgemm_fp8 (per row), and the FP8 and NVFP4
// of TensorRT Model Optimizer.
// The original: transformers, integrations/finegrained_fp8.py and fbgemm_fp8.py.
#include <array>

#include "tools/base/fail.h"
#include "tools/base/float8.h"
#include "tools/convert/published/quantized_layers.h"

namespace fovea::tools {
namespace {

constexpr auto kE4M3 = ElementType::kF8E4M3, kE5M2 = ElementType::kF8E5M2;
constexpr const char* kScaleEndings[] = {".weight_scale_inv", ".weight_scale"};
constexpr const char* kUnquantized = "activations stay f32 here; the original quantizes them";

bool IsFloat8(const Part& part) { return part.type() == kE4M3 || part.type() == kE5M2; }

BlockSize StatedBlock(const JsonView& json) {
  const JsonView size = json["weight_block_size"];
  if (size.IsNull()) return {};
  constexpr WholeRange kRange = {1, UINT32_MAX};
  return {size.At(0).Number(kRange), size.At(1).Number(kRange)};
}

std::string ExtentOf(const ScaleGrid& grid, uint64_t rows, uint64_t width) {
  if (grid.block_rows == rows && grid.block_width == width) return "each matrix";
  if (grid.block_rows == 1) return grid.block_width == width ? "rows" : fmt::format("groups of {}", grid.block_width);
  return fmt::format("blocks of {} x {}", grid.block_rows, grid.block_width);
}

// Despite its name weight_scale_inv is multiplied.
void ReadLayer(const std::string& layer, const std::string& ending, BlockSize stated, QuantizedModel& model) {
  const Part weights = model.Get(layer + ".weight", {kE4M3, kE5M2});
  const Part scales =
      model.Get(layer + ending, {ElementType::kF32, ElementType::kF16, ElementType::kBF16, ElementType::kF8E8M0});
  const uint64_t rows = weights.rows(), width = weights.width();
  const ScaleGrid grid = GridOf(scales, rows, width, stated);
  const auto load = [=] {
    std::array<float, 256> values;
    for (size_t i = 0; i < values.size(); ++i) {
      const auto bits = static_cast<uint8_t>(i);
      values[i] = weights.type() == kE4M3 ? FromE4M3(bits) : FromE5M2(bits);
    }
    const uint8_t* bytes = weights.tensor().data;
    std::vector<float> scaled = Scaled(rows, width, grid, scales.Floats(),
                                       [&](uint64_t r, uint64_t c) { return values[bytes[r * width + c]]; });
    weights.Forget();
    return scaled;
  };
  LayerFacts facts;
  facts.numbers = ElementName(weights.type());
  facts.extent = ExtentOf(grid, rows, width);
  model.Set(layer, {ending}, rows, width, load, facts);
}

void ReadScaled(BlockSize stated, QuantizedModel& model) {
  for (const char* ending : kScaleEndings) {
    for (const std::string& layer : model.LayersWith(ending)) {
      const Part weights = model.Find(layer + ".weight");
      if (!weights) Fail("tensor {}{} is the scale of {}.weight, which is missing", layer, ending, layer);
      if (IsFloat8(weights)) ReadLayer(layer, ending, stated, model);
    }
  }
}

void RefuseWithoutScale(const QuantizedModel& model) {
  for (const std::string& name : model.Stored()) {
    const Part part = model.Find(name);
    if (part && IsFloat8(part)) {
      Fail("{}: {} is {} and no scale for it is known ({}_scale_inv or {}_scale)", model.settings().name(),
           part.Shown(), ElementName(part.type()), name, name);
    }
  }
}

void DropActivationScales(QuantizedModel& model) {
  for (const char* ending : {".input_scale", ".activation_scale", ".input_scale_ub", ".output_scale"}) {
    model.DropAll(ending, kUnquantized);
  }
  for (const char* ending : {".k_scale", ".v_scale", ".kv_scale"}) {
    model.DropAll(ending, "the KV cache is stored as --keys states");
  }
}

// Four bits, two in a byte; scales for 16 columns as E4M3, of which one scale holds for all.
void ReadNvfp4(const std::string& layer, QuantizedModel& model) {
  const Part weights = model.Get(layer + ".weight", {ElementType::kU8});
  const Part scales = model.Get(layer + ".weight_scale", {kE4M3});
  const Part factor = model.GetFloats(layer + ".weight_scale_2");
  const uint64_t rows = weights.rows(), width = weights.width() * 2;
  if (factor.tensor().count() != 1) Fail("{} is not one scale", factor.Shown());
  const ScaleGrid grid = GridOf(scales, rows, width, {1, 16});
  const auto load = [=] {
    std::vector<float> products = scales.Floats();
    const float all = factor.Floats()[0];
    for (float& product : products) product *= all;
    const uint8_t* bytes = weights.tensor().data;
    std::vector<float> values = Scaled(rows, width, grid, products, [&](uint64_t r, uint64_t c) {
      return FromE2M1(bytes[(r * width + c) / 2] >> c % 2 * 4 & 15u);
    });
    weights.Forget();
    return values;
  };
  LayerFacts facts;
  facts.numbers = "nvfp4";
  facts.extent = "groups of 16";
  model.Set(layer, {".weight_scale", ".weight_scale_2"}, rows, width, load, facts);
}

}  // namespace

void ReadFloat8(QuantizedModel& model) {
  ReadScaled(StatedBlock(model.settings()), model);
  RefuseWithoutScale(model);
  DropActivationScales(model);
  if (model.layers() != 0) model.Say(kUnquantized);
}

void ReadModelOpt(QuantizedModel& model) {
  for (const std::string& layer : model.LayersWith(".weight_scale_2")) ReadNvfp4(layer, model);
  ReadScaled({}, model);
  RefuseWithoutScale(model);
  for (const char* ending : {".weight_scale", ".weight_scale_2"}) {
    for (const std::string& layer : model.LayersWith(ending)) {
      Fail(
          "{}: tensor {}{} is of a layer that is neither FP8 nor NVFP4, which is not supported; convert the "
          "unquantized model",
          model.settings().name(), layer, ending);
    }
  }
  DropActivationScales(model);
  if (model.layers() != 0) model.Say(kUnquantized);
}

}  // namespace fovea::tools
