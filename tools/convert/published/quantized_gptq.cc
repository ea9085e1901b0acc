// GPTQ: numbers packed along the inputs, a scale and a zero for each group of inputs and each output.
// The original: AutoGPTQ, auto_gptq/nn_modules/qlinear/qlinear_cuda.py, and GPTQModel.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/convert/published/quantized_layers.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kBits[] = {2, 3, 4, 8};

struct GptqSettings {
  uint32_t bits = 4;
  bool bits_of_layers = false;  // layers can have different ones
  uint64_t group = 0;           // 0: all inputs
  uint32_t added = 1;           // to a stored zero
};

GptqSettings SettingsOf(const JsonView& json) {
  GptqSettings settings;
  settings.bits = json["bits"].Number({1, 32}, 4);
  if (std::find(std::begin(kBits), std::end(kBits), settings.bits) == std::end(kBits)) {
    Fail("{}: bits {} is not supported for gptq; 2, 3, 4 and 8 are", json.name(), settings.bits);
  }
  settings.bits_of_layers = !json["dynamic"].IsNull() && !json["dynamic"].json().empty();
  const Json& group = json["group_size"].json();
  if (!group.is_null()) {
    const int64_t size = WholeNumber(group, json.name() + ".group_size", {-1, UINT32_MAX});
    if (size == 0) Fail("{}.group_size 0 is not valid; -1 means one group", json.name());
    settings.group = size < 0 ? 0 : static_cast<uint64_t>(size);
  }
  // The method has three descendants. The first format stores a zero less 1.
  std::string format = json["checkpoint_format"].Text("");
  if (format.empty()) format = json["format"].Text("gptq");
  if (json["is_marlin_format"].Flag(false)) format = "marlin";
  if (format != "gptq" && format != "gptq_v2") {
    Fail(
        "{}: checkpoint_format {} is a layout for one kind of GPU and is not supported; convert a copy in format gptq, "
        "the unquantized model or a GGUF file of it",
        json.name(), format);
  }
  settings.added = format == "gptq" ? 1 : 0;
  return settings;
}

// The bits of a layer by the shape of its zeros.
uint32_t BitsOf(const GptqSettings& settings, const Part& zeros, uint64_t outputs) {
  if (zeros.width() == WordsOf(outputs, settings.bits)) return settings.bits;
  if (settings.bits_of_layers) {
    for (const uint32_t bits : kBits) {
      if (zeros.width() == WordsOf(outputs, bits)) return bits;
    }
  }
  Fail("{} does not hold a number of {} bits for each of {} outputs", zeros.Shown(), settings.bits, outputs);
}

// The group of each input. Without an order of activations (g_idx absent, or all 0) groups are one after the other.
std::vector<uint32_t> GroupsOf(const Part& order, uint64_t inputs, uint64_t groups, uint64_t size) {
  std::vector<uint32_t> of_inputs(inputs);
  bool ordered = false;
  if (order) {
    const std::vector<int64_t> numbers = order.Integers();
    for (uint64_t i = 0; i < inputs; ++i) {
      if (numbers[i] < 0 || static_cast<uint64_t>(numbers[i]) >= groups) {
        Fail("{}: group {} of input {} is out of range: the layer has {} groups", order.Shown(), numbers[i], i, groups);
      }
      of_inputs[i] = static_cast<uint32_t>(numbers[i]);
      ordered = ordered || numbers[i] != 0;
    }
  }
  if (!ordered) {
    for (uint64_t i = 0; i < inputs; ++i) of_inputs[i] = static_cast<uint32_t>(i / size);
  }
  return of_inputs;
}

struct GptqLayer {
  Part weights, zeros, scales, order;
  uint32_t bits = 0, added = 0;
  uint64_t inputs = 0, outputs = 0, groups = 0, group = 0;

  std::vector<float> Load() const {
    const std::vector<float> factors = scales.Floats();
    const std::vector<uint32_t> of_inputs = GroupsOf(order, inputs, groups, group);
    const uint32_t mask = (1u << bits) - 1;
    std::vector<float> values(outputs * inputs);
    std::vector<int32_t> zero(groups);
    for (uint64_t o = 0; o < outputs; ++o) {
      for (uint64_t g = 0; g < groups; ++g) {
        const uint8_t* row = zeros.tensor().data + g * zeros.width() * 4;
        zero[g] = static_cast<int32_t>((NumberAt(row, 1, o, bits) + added) & mask);
      }
      const uint8_t* chain = weights.tensor().data + o * 4;
      for (uint64_t i = 0; i < inputs; ++i) {
        const uint32_t g = of_inputs[i];
        const auto number = static_cast<int32_t>(NumberAt(chain, outputs, i, bits));
        values[o * inputs + i] = static_cast<float>(number - zero[g]) * factors[g * outputs + o];
      }
    }
    weights.Forget();
    return values;
  }
};

void ReadLayer(const GptqSettings& settings, const std::string& name, QuantizedModel& model) {
  constexpr auto kWord = ElementType::kI32;
  GptqLayer layer;
  layer.weights = model.Get(name + ".qweight", {kWord, ElementType::kU32});
  layer.zeros = model.Get(name + ".qzeros", {kWord, ElementType::kU32});
  layer.scales = model.GetFloats(name + ".scales");
  layer.outputs = layer.weights.width();
  layer.bits = BitsOf(settings, layer.zeros, layer.outputs);
  layer.added = settings.added;
  const uint64_t all_bits = layer.weights.rows() * 32;
  if (layer.weights.rows() > UINT32_MAX || all_bits % layer.bits != 0) {
    Fail("{} does not hold whole numbers of {} bits for each output", layer.weights.Shown(), layer.bits);
  }
  layer.inputs = all_bits / layer.bits;
  layer.groups = layer.scales.rows();
  if (layer.scales.width() != layer.outputs || layer.zeros.rows() != layer.groups) {
    Fail("{} and {} do not belong to {}: a row for each group and a column for each of {} outputs are expected",
         layer.scales.Shown(), layer.zeros.Shown(), layer.weights.Shown(), layer.outputs);
  }
  if (model.Find(name + ".g_idx")) layer.order = model.Get(name + ".g_idx", {kWord, ElementType::kI64});
  if (layer.order && layer.order.tensor().count() != layer.inputs) {
    Fail("{} does not name a group for each of {} inputs", layer.order.Shown(), layer.inputs);
  }
  layer.group = settings.group == 0 ? layer.inputs : settings.group;
  std::vector<uint32_t> ascending(layer.inputs);
  for (uint64_t i = 0; i < layer.inputs; ++i) ascending[i] = static_cast<uint32_t>(i / layer.group);
  const bool in_order = GroupsOf(layer.order, layer.inputs, layer.groups, layer.group) == ascending;
  if (in_order && (layer.inputs + layer.group - 1) / layer.group != layer.groups) {
    Fail("{} does not have a row for each group of {} of {} inputs", layer.scales.Shown(), layer.group, layer.inputs);
  }
  LayerFacts facts;
  facts.numbers = fmt::format("{} bits", layer.bits);
  facts.extent = settings.group == 0 ? "rows" : fmt::format("groups of {}", settings.group);
  if (!in_order) facts.extent += " in the order of activations (desc_act)";
  facts.whole = in_order;
  facts.bits = layer.bits;
  facts.block_width = std::min(layer.group, layer.inputs);
  facts.scales = &layer.scales;
  model.Set(
      name, {".qweight", ".qzeros", ".scales", ".g_idx"}, layer.outputs, layer.inputs, [layer] { return layer.Load(); },
      facts);
}

}  // namespace

void ReadGptq(QuantizedModel& model) {
  const GptqSettings settings = SettingsOf(model.settings());
  for (const std::string& name : model.LayersWith(".qweight")) ReadLayer(settings, name, model);
}

}  // namespace fovea::tools
