// AWQ: numbers of four bits, a scale and a zero for each group of inputs and each output.
// The original: AutoAWQ, awq/modules/linear/gemm.py, gemv.py and gemv_fast.py.
#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/published/quantized_layers.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kBits = 4, kPerWord = 8;
// Place i of a word holds output 0, 2, 4, 6, 1, 3, 5, 7; here the place of each output.
constexpr uint32_t kPlaces[kPerWord] = {0, 4, 1, 5, 2, 6, 3, 7};

struct AwqLayer {
  Part weights, zeros, scales;
  uint64_t inputs = 0, outputs = 0, groups = 0, group = 0;
};

uint32_t Number(const uint8_t* row, uint64_t output) {
  return NumberAt(row, 1, output / kPerWord * kPerWord + kPlaces[output % kPerWord], kBits);
}

// Packed along the outputs: [inputs, outputs / 8], scales [groups, outputs].
std::vector<float> LoadGemm(const AwqLayer& layer) {
  const std::vector<float> scales = layer.scales.Floats();
  std::vector<float> values(layer.outputs * layer.inputs);
  const uint64_t row_bytes = layer.weights.width() * 4;
  std::vector<int32_t> zeros(layer.outputs);
  for (uint64_t i = 0; i < layer.inputs; ++i) {
    const uint64_t g = i / layer.group;
    if (i % layer.group == 0) {
      const uint8_t* row = layer.zeros.tensor().data + g * row_bytes;
      for (uint64_t o = 0; o < layer.outputs; ++o) zeros[o] = static_cast<int32_t>(Number(row, o));
    }
    const uint8_t* row = layer.weights.tensor().data + i * row_bytes;
    for (uint64_t o = 0; o < layer.outputs; ++o) {
      const int32_t number = static_cast<int32_t>(Number(row, o)) - zeros[o];
      values[o * layer.inputs + i] = static_cast<float>(number) * scales[g * layer.outputs + o];
    }
  }
  layer.weights.Forget();
  return values;
}

// Packed along the inputs in their order: [outputs, inputs / 8]; zeros and scales of an output are a row, which is
// padded.
std::vector<float> LoadGemv(const AwqLayer& layer) {
  const std::vector<float> scales = layer.scales.Floats();
  std::vector<float> values(layer.outputs * layer.inputs);
  for (uint64_t o = 0; o < layer.outputs; ++o) {
    const uint8_t* row = layer.weights.tensor().data + o * layer.weights.width() * 4;
    const uint8_t* zeros = layer.zeros.tensor().data + o * layer.zeros.width() * 4;
    for (uint64_t i = 0; i < layer.inputs; ++i) {
      const uint64_t g = i / layer.group;
      const auto zero = static_cast<int32_t>(NumberAt(zeros, 1, g, kBits));
      const int32_t number = static_cast<int32_t>(NumberAt(row, 1, i, kBits)) - zero;
      values[o * layer.inputs + i] = static_cast<float>(number) * scales[o * layer.scales.width() + g];
    }
  }
  layer.weights.Forget();
  return values;
}

// Words of eight numbers along the outputs (gemm), [inputs, outputs / 8] with scales [groups, outputs]; or along the
// inputs (gemv), [outputs, inputs / 8] with scales [outputs, groups and padding].
AwqLayer ReadWords(const std::string& name, uint64_t group, const QuantizedModel& model, bool along_outputs) {
  AwqLayer layer;
  layer.weights = model.Get(name + ".qweight", {ElementType::kI32, ElementType::kU32});
  layer.zeros = model.Get(name + ".qzeros", {ElementType::kI32, ElementType::kU32});
  layer.scales = model.GetFloats(name + ".scales");
  const uint64_t rows = layer.weights.rows(), packed = layer.weights.width() * kPerWord;
  layer.inputs = along_outputs ? rows : packed;
  layer.outputs = along_outputs ? packed : rows;
  layer.group = group == 0 ? layer.inputs : group;
  layer.groups = (layer.inputs + layer.group - 1) / layer.group;
  const bool fits =
      along_outputs
          ? layer.scales.Is(layer.groups, layer.outputs) && layer.zeros.Is(layer.groups, layer.weights.width())
          : layer.zeros.rows() == layer.outputs && layer.scales.rows() == layer.outputs &&
                layer.zeros.width() * kPerWord >= layer.groups && layer.scales.width() >= layer.groups;
  if (!fits) {
    const std::string where =
        fmt::format("{} and {} do not belong to {}", layer.scales.Shown(), layer.zeros.Shown(), layer.weights.Shown());
    if (!along_outputs) {
      Fail("{}: {} outputs and at least {} groups of {} inputs are expected", where, layer.outputs, layer.groups,
           layer.group);
    }
    Fail("{}: {} groups of {} inputs and {} outputs are expected", where, layer.groups, layer.group, layer.outputs);
  }
  return layer;
}

AwqLayer ReadGemm(const std::string& name, uint64_t group, const QuantizedModel& model) {
  return ReadWords(name, group, model, true);
}

AwqLayer ReadGemv(const std::string& name, uint64_t group, const QuantizedModel& model) {
  return ReadWords(name, group, model, false);
}

// Four rows at a time in words of 16 bits, [outputs / 4, inputs]; scales and zeros, which are already multiplied by the
// scales and negative, are [groups and padding, outputs].
std::vector<float> LoadGemvFast(const AwqLayer& layer) {
  const std::vector<float> scales = layer.scales.Floats(), zeros = layer.zeros.Floats();
  std::vector<float> values(layer.outputs * layer.inputs);
  for (uint64_t o = 0; o < layer.outputs; ++o) {
    const uint8_t* rows = layer.weights.tensor().data + o / 4 * layer.inputs * 2;
    for (uint64_t i = 0; i < layer.inputs; ++i) {
      // Input 8a + 2b + c of each 32 is at place 8b + 4c + a.
      const uint64_t a = i % 32 / 8, b = i % 8 / 2, c = i % 2;
      const uint64_t place = o % 4 * 64 + i % 64 / 32 * 32 + b * 8 + c * 4 + a;
      uint16_t word;
      memcpy(&word, rows + (i / 64 * 64 + place / 4) * 2, 2);
      const uint64_t at = i / layer.group * layer.outputs + o;
      const auto number = static_cast<float>(word >> place % 4 * 4 & 15);
      values[o * layer.inputs + i] = number * scales[at] + zeros[at];
    }
  }
  layer.weights.Forget();
  return values;
}

AwqLayer ReadGemvFast(const std::string& name, uint64_t group, const QuantizedModel& model) {
  AwqLayer layer;
  layer.weights = model.Get(name + ".qweight", {ElementType::kI16});
  layer.zeros = model.GetFloats(name + ".scaled_zeros");
  layer.scales = model.GetFloats(name + ".scales");
  layer.outputs = layer.scales.width();
  layer.inputs = layer.weights.width();
  layer.group = group == 0 ? layer.inputs : group;
  layer.groups = (layer.inputs + layer.group - 1) / layer.group;
  const bool fits = layer.weights.rows() * 4 == layer.outputs && layer.inputs % 64 == 0 &&
                    layer.zeros.Is(layer.scales.rows(), layer.outputs) && layer.scales.rows() >= layer.groups;
  if (!fits) {
    Fail("{} and {} do not belong to {}: four outputs for each row and at least {} groups of {} inputs are expected",
         layer.scales.Shown(), layer.zeros.Shown(), layer.weights.Shown(), layer.groups, layer.group);
  }
  return layer;
}

struct AwqVersion {
  const char* name;
  AwqLayer (*read)(const std::string& name, uint64_t group, const QuantizedModel& model);
  std::vector<float> (*load)(const AwqLayer& layer);
};
// exllama and ipex are ways to run files of gemm.
constexpr AwqVersion kVersions[] = {{"gemm", ReadGemm, LoadGemm},
                                    {"exllama", ReadGemm, LoadGemm},
                                    {"ipex", ReadGemm, LoadGemm},
                                    {"gemv", ReadGemv, LoadGemv},
                                    {"gemv_fast", ReadGemvFast, LoadGemvFast}};

}  // namespace

void ReadAwq(QuantizedModel& model) {
  const JsonView& json = model.settings();
  const auto either = [&](const char* key, const char* of_library) {
    return json[key].IsNull() ? json[of_library] : json[key];
  };
  const uint32_t bits = either("bits", "w_bit").Number({1, 32}, kBits);
  if (bits != kBits) Fail("{}: bits {} is not supported for awq; 4 is", json.name(), bits);
  const JsonView group_size = either("group_size", "q_group_size");
  const int64_t group = group_size.IsNull() ? 128 : WholeNumber(group_size.json(), group_size.name(), {-1, UINT32_MAX});
  if (group == 0) Fail("{} 0 is not valid; -1 means one group", group_size.name());
  std::string version = json["version"].Text("gemm");
  for (char& letter : version) letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
  const std::string backend = json["backend"].Text("autoawq");
  const auto* found = std::find_if(std::begin(kVersions), std::end(kVersions),
                                   [&](const AwqVersion& known) { return version == known.name; });
  if (found == std::end(kVersions) || backend == "llm-awq") {
    Fail(
        "{}: the layout of awq version {} (backend {}) is not supported; convert a copy of version gemm, the "
        "unquantized model or a GGUF file of it",
        json.name(), version, backend);
  }
  for (const std::string& name : model.LayersWith(".qweight")) {
    const AwqLayer layer = found->read(name, group < 0 ? 0 : static_cast<uint64_t>(group), model);
    LayerFacts facts;
    facts.numbers = "4 bits";
    facts.extent = group < 0 ? "rows" : fmt::format("groups of {}", group);
    facts.whole = true;
    facts.bits = kBits;
    facts.block_width = layer.group;
    facts.scales = &layer.scales;
    model.Set(
        name, {".qweight", ".qzeros", ".scales", ".scaled_zeros"}, layer.outputs, layer.inputs,
        [layer, load = found->load] { return load(layer); }, facts);
  }
}

}  // namespace fovea::tools
