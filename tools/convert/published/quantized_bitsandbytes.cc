// bitsandbytes: numbers of four bits, each an index into a table of 16 values, with a scale for each block; or int8
// with a largest magnitude for each row.
// The original: bitsandbytes/functional.py: QuantState, dequantize_4bit, int8_vectorwise_dequant.
#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/convert/published/quantized_layers.h"

namespace fovea::tools {
namespace {

constexpr auto kF32 = ElementType::kF32, kU8 = ElementType::kU8;

// The scales of blocks; with double quantization each is itself an index into a table of 256 values, with a scale for
// each outer block, and an offset is added.
struct Magnitudes {
  Part stored, outer, outer_table;
  uint64_t outer_block = 0;
  float offset = 0;

  std::vector<float> Load() const {
    std::vector<float> values = stored.Floats();
    if (!outer) return values;
    const std::vector<float> scales = outer.Floats(), table = outer_table.Floats();
    for (uint64_t i = 0; i < values.size(); ++i) {
      const float product = table[static_cast<size_t>(values[i])] * scales[i / outer_block];
      values[i] = product + offset;
    }
    return values;
  }
};

Magnitudes MagnitudesOf(const std::string& weight, const JsonView& state, uint64_t blocks,
                        const QuantizedModel& model) {
  Magnitudes magnitudes;
  const bool nested = static_cast<bool>(model.Find(weight + ".nested_absmax"));
  magnitudes.stored = nested ? model.Get(weight + ".absmax", {kU8}) : model.GetFloats(weight + ".absmax");
  if (magnitudes.stored.tensor().count() != blocks) {
    Fail("{} does not hold a scale for each of {} blocks", magnitudes.stored.Shown(), blocks);
  }
  if (!nested) return magnitudes;
  magnitudes.outer = model.GetFloats(weight + ".nested_absmax");
  magnitudes.outer_table = model.Get(weight + ".nested_quant_map", {kF32});
  magnitudes.outer_block = state["nested_blocksize"].Number({1, UINT32_MAX});
  magnitudes.offset = static_cast<float>(state["nested_offset"].Real());
  const uint64_t outer_blocks = (blocks + magnitudes.outer_block - 1) / magnitudes.outer_block;
  if (magnitudes.outer.tensor().count() != outer_blocks || magnitudes.outer_table.tensor().count() != 256) {
    Fail("{} and {} do not belong to {}: {} scales and a table of 256 values are expected", magnitudes.outer.Shown(),
         magnitudes.outer_table.Shown(), magnitudes.stored.Shown(), outer_blocks);
  }
  return magnitudes;
}

void ReadFourBits(const std::string& layer, const std::string& type, QuantizedModel& model) {
  const std::string weight = layer + ".weight", state_name = weight + ".quant_state.bitsandbytes__" + type;
  const Part stated = model.Get(state_name, {kU8});
  const auto* text = reinterpret_cast<const char*>(stated.tensor().data);
  const Json json = ParseJson({text, static_cast<size_t>(stated.tensor().bytes)}, "tensor " + state_name);
  const JsonView state(json, "tensor " + state_name);
  const uint64_t block = state["blocksize"].Number({1, UINT32_MAX});
  uint64_t rows = 1, width = 1;
  const Json& shape = state["shape"].List();
  for (size_t i = 0; i < shape.size(); ++i) {
    const uint64_t size = state["shape"].At(i).Number({1, UINT32_MAX});
    if (i > 0 && __builtin_mul_overflow(rows, width, &rows)) Fail("tensor {}: its shape is too large", state_name);
    width = size;
  }
  // The bytes may be stored as elements of any type (bnb_4bit_quant_storage).
  const Part packed = model.Find(weight);
  if (!packed) Fail("no tensor {}, which {} describes", weight, state_name);
  uint64_t count = 0;
  if (__builtin_mul_overflow(rows, width, &count) || packed.tensor().bytes != (count + 1) / 2) {
    Fail("{} does not hold four bits for each element of {}, the shape that {} states", packed.Shown(), Shown(shape),
         state_name);
  }
  const Part table = model.Get(weight + ".quant_map", {kF32});
  if (table.tensor().count() != 16) Fail("{} is not a table of 16 values", table.Shown());
  const Magnitudes magnitudes = MagnitudesOf(weight, state, (count + block - 1) / block, model);
  const auto load = [=] {
    const std::vector<float> scales = magnitudes.Load(), values = table.Floats();
    const uint8_t* bytes = packed.tensor().data;
    std::vector<float> weights(count);
    for (uint64_t i = 0; i < count; ++i) {
      weights[i] = values[bytes[i / 2] >> (1 - i % 2) * 4 & 15] * scales[i / block];  // the upper four bits come first
    }
    packed.Forget();
    return weights;
  };
  LayerFacts facts;
  facts.numbers = type;
  facts.extent = fmt::format("blocks of {}{}", block, magnitudes.outer ? " (double quantization)" : "");
  model.Set(layer,
            {".weight.absmax", ".weight.quant_map", ".weight.nested_absmax", ".weight.nested_quant_map",
             ".weight.quant_state.bitsandbytes__" + type},
            rows, width, load, facts);
}

void ReadInt8(const std::string& layer, QuantizedModel& model) {
  const Part weights = model.Get(layer + ".weight", {ElementType::kI8});
  const Part largest = model.GetFloats(layer + ".SCB");
  const uint64_t rows = weights.rows(), width = weights.width();
  if (largest.tensor().count() != rows) {
    Fail("{} does not hold the largest magnitude of each row of {}", largest.Shown(), weights.Shown());
  }
  if (model.Find(layer + ".weight_format")) {
    const Part format = model.Get(layer + ".weight_format", {kU8});
    if (format.tensor().data[0] != 0) {
      Fail("{}: layout {} is for one kind of GPU and is not supported; save a copy in layout row", format.Shown(),
           format.tensor().data[0]);
    }
  }
  const auto load = [=] {
    std::vector<float> scales = largest.Floats();
    for (float& scale : scales) scale *= 1.0f / 127;
    const auto* numbers = reinterpret_cast<const int8_t*>(weights.tensor().data);
    std::vector<float> values = Scaled(rows, width, {1, 1, width}, scales, [&](uint64_t r, uint64_t c) {
      return static_cast<float>(numbers[r * width + c]);
    });
    weights.Forget();
    return values;
  };
  LayerFacts facts;
  facts.numbers = "int8";
  facts.extent = "rows";
  facts.whole = true;
  facts.bits = 8;
  facts.block_width = width;
  facts.scales = &largest;
  model.Set(layer, {".SCB", ".weight_format"}, rows, width, load, facts);
}

}  // namespace

void ReadBitsAndBytes(QuantizedModel& model) {
  for (const char* type : {"nf4", "fp4"}) {
    const std::string ending = std::string(".weight.quant_state.bitsandbytes__") + type;
    for (const std::string& layer : model.LayersWith(ending)) ReadFourBits(layer, type, model);
  }
  for (const std::string& layer : model.LayersWith(".weight.absmax")) {
    Fail("tensor {}.weight.absmax has no quant_state beside it, which states the shape of the weights", layer);
  }
  const std::vector<std::string> of_eight = model.LayersWith(".SCB");
  for (const std::string& layer : of_eight) ReadInt8(layer, model);
  if (!of_eight.empty()) model.Say("activations stay f32 here; the original quantizes all but the largest to int8");
}

}  // namespace fovea::tools
