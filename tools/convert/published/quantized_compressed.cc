// compressed-tensors, of llm-compressor: one of several layouts for each layer.
// The original: compressed_tensors/compressors/*/base.py and quantization/lifecycle/forward.py.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/base/fail.h"
#include "tools/base/float8.h"
#include "tools/convert/published/quantized_layers.h"

namespace fovea::tools {
namespace {

constexpr auto kI8 = ElementType::kI8, kU8 = ElementType::kU8, kI32 = ElementType::kI32, kI64 = ElementType::kI64;

// The part of config_groups about weights. A layer uses the scheme that its tensors fit.
struct Scheme {
  uint32_t bits = 8;
  BlockSize block;
};

constexpr const char* kFormats[] = {
    "dense",           "pack-quantized",       "int-quantized",        "float-quantized",
    "naive-quantized", "nvfp4-pack-quantized", "mxfp4-pack-quantized", "mixed-precision"};

void CheckFormat(const JsonView& format) {
  const std::string name = format.Text("dense");
  if (std::find(std::begin(kFormats), std::end(kFormats), name) == std::end(kFormats)) {
    Fail("{} {} is not supported; convert the unquantized model or a GGUF file of it", format.name(), name);
  }
}

// Refuses what changes weights or activations in other ways.
void RefuseTransforms(const JsonView& json) {
  const JsonView sparse = json["sparsity_config"];
  if (!sparse.IsNull() && !sparse.json().empty() && sparse["format"].Text("dense") != "dense") {
    Fail("{}: sparse weights ({}) are not supported; convert the unquantized model or a GGUF file of it", sparse.name(),
         sparse["format"].Text());
  }
  const JsonView transform = json["transform_config"];
  if (!transform.IsNull() && !transform.json().empty() && !transform["config_groups"].json().empty()) {
    Fail("{}: rotations of activations are not supported; convert the unquantized model or a GGUF file of it",
         transform.name());
  }
}

std::vector<Scheme> ReadSchemes(const JsonView& json, QuantizedModel& model) {
  CheckFormat(json["format"]);
  std::vector<Scheme> schemes;
  const JsonView groups = json["config_groups"];
  if (groups.IsNull()) return schemes;
  bool activations = false;
  for (const auto& [name, unused] : groups.Object().items()) {
    const JsonView group = groups[name.c_str()];
    CheckFormat(group["format"]);
    activations = activations || !group["input_activations"].IsNull();
    const JsonView weights = group["weights"];
    if (weights.IsNull()) continue;
    Scheme scheme;
    scheme.bits = weights["num_bits"].Number({1, 32}, 8);
    const Json& size = weights["group_size"].json();
    if (!size.is_null()) {
      const int64_t columns = WholeNumber(size, weights.name() + ".group_size", {-1, UINT32_MAX});
      if (columns == 0) Fail("{}.group_size 0 is not valid; -1 means whole rows", weights.name());
      if (columns > 0) scheme.block = {1, static_cast<uint32_t>(columns)};
    }
    const JsonView block = weights["block_structure"];
    if (block.json().is_array()) {
      scheme.block = {block.At(0).Number({1, UINT32_MAX}), block.At(1).Number({1, UINT32_MAX})};
    } else if (block.json().is_string()) {  // "128x128"
      const std::string text = block.Text();
      const size_t by = text.find('x');
      if (by == std::string::npos) Fail("{} {} is not ROWSxCOLUMNS", block.name(), Shown(block.json()));
      constexpr WholeRange kRange = {1, UINT32_MAX};
      scheme.block = {static_cast<uint32_t>(WholeNumberIn(text.substr(0, by), block.name(), kRange)),
                      static_cast<uint32_t>(WholeNumberIn(text.substr(by + 1), block.name(), kRange))};
    }
    schemes.push_back(scheme);
  }
  if (activations) model.Say("activations stay f32 here; the original quantizes them");
  return schemes;
}

bool Fits(const Part& scales, uint64_t rows, uint64_t width, BlockSize block) {
  if (block.width == 0) return false;
  const uint64_t down = (rows + std::max(block.rows, 1u) - 1) / std::max(block.rows, 1u);
  return scales.Is(down, (width + block.width - 1) / block.width);
}

// Where scales apply: as one of the schemes states, if the shapes fit it, else as the shape implies.
ScaleGrid GridFor(const std::vector<Scheme>& schemes, const Part& scales, uint64_t rows, uint64_t width) {
  for (const Scheme& scheme : schemes) {
    if (Fits(scales, rows, width, scheme.block)) return GridOf(scales, rows, width, scheme.block);
  }
  return GridOf(scales, rows, width, {});
}

// A layer of whole numbers or floats of eight bits.
struct CompressedLayer {
  Part numbers, scales, zeros, order;
  uint32_t bits = 0;          // per packed number; 0: a byte each
  bool across_words = true;   // numbers of 3, 5, 6 and 7 bits; earlier versions left the rest of a word unused
  bool zeros_packed = false;  // along the rows
  uint64_t rows = 0, width = 0;
  ScaleGrid grid;

  float Number(uint64_t row, uint64_t column) const {
    const StoredTensor& tensor = numbers.tensor();
    if (bits == 0) {
      const uint8_t byte = tensor.data[row * width + column];
      if (tensor.type == kI8) return static_cast<int8_t>(byte);
      return tensor.type == ElementType::kF8E4M3 ? FromE4M3(byte) : FromE5M2(byte);
    }
    const uint8_t* words = tensor.data + row * numbers.width() * 4;
    const uint32_t each = 32 / bits;
    const uint32_t number =
        across_words ? NumberAt(words, 1, column, bits) : NumberAt(words + column / each * 4, 1, column % each, bits);
    return static_cast<float>(number) - static_cast<float>(1u << (bits - 1));
  }
  // The zero of a group of columns.
  float Zero(uint64_t row, uint64_t group) const {
    const uint8_t* stored = zeros.tensor().data;
    if (zeros_packed) {
      const uint32_t zero = NumberAt(stored + group * 4, grid.width, row, bits);
      return static_cast<float>(zero) - static_cast<float>(1u << (bits - 1));
    }
    return static_cast<int8_t>(stored[grid.Row(row) + group]);
  }
  // The group of each column: by its place, or by the order of activations.
  std::vector<uint64_t> Groups() const {
    std::vector<uint64_t> groups(width);
    for (uint64_t c = 0; c < width; ++c) groups[c] = c / grid.block_width;
    if (!order) return groups;
    const std::vector<int64_t> numbers_of = order.Integers();
    if (std::find(numbers_of.begin(), numbers_of.end(), -1) != numbers_of.end()) return groups;  // as in the original
    for (uint64_t c = 0; c < width; ++c) {
      if (numbers_of[c] < 0 || static_cast<uint64_t>(numbers_of[c]) >= grid.width) {
        Fail("{}: group {} of column {} is out of range: the layer has {} groups", order.Shown(), numbers_of[c], c,
             grid.width);
      }
      groups[c] = static_cast<uint64_t>(numbers_of[c]);
    }
    return groups;
  }

  std::vector<float> Load() const {
    const std::vector<float> factors = scales.Floats();
    const std::vector<uint64_t> groups = Groups();
    std::vector<float> values(rows * width), zero(grid.width);
    for (uint64_t r = 0; r < rows; ++r) {
      for (uint64_t g = 0; zeros && g < grid.width; ++g) zero[g] = Zero(r, g);
      for (uint64_t c = 0; c < width; ++c) {
        values[r * width + c] = (Number(r, c) - zero[groups[c]]) * factors[grid.Row(r) + groups[c]];
      }
    }
    numbers.Forget();
    return values;
  }
};

// The shape that weight_shape states.
void ReadShape(const std::string& layer, const QuantizedModel& model, CompressedLayer& packed) {
  const Part shape = model.Get(layer + ".weight_shape", {kI32, kI64});
  const std::vector<int64_t> sizes = shape.Integers();
  const auto in_range = [](int64_t size) { return size > 0 && size <= UINT32_MAX; };
  if (sizes.size() != 2 || !in_range(sizes[0]) || !in_range(sizes[1])) {
    Fail("{} does not hold the rows and columns of a matrix", shape.Shown());
  }
  packed.rows = static_cast<uint64_t>(sizes[0]);
  packed.width = static_cast<uint64_t>(sizes[1]);
}

void FinishLayer(const std::string& layer, const std::vector<Scheme>& schemes, QuantizedModel& model,
                 CompressedLayer found) {
  found.scales = model.GetFloats(layer + ".weight_scale");
  found.grid = GridFor(schemes, found.scales, found.rows, found.width);
  if (model.Find(layer + ".weight_zero_point")) {
    found.zeros = model.Get(layer + ".weight_zero_point", {kI8, kI32, ElementType::kF8E4M3});
    const uint64_t scale_rows = found.scales.tensor().count() / found.grid.width;
    found.zeros_packed = found.zeros.type() == kI32;
    const bool fits = found.zeros_packed ? found.bits != 0 && found.grid.block_rows == 1 &&
                                               found.zeros.Is(WordsOf(found.rows, found.bits), found.grid.width)
                                         : found.zeros.tensor().count() == scale_rows * found.grid.width;
    if (!fits) {
      Fail("{} does not hold a zero for each scale of {}", found.zeros.Shown(), found.scales.Shown());
    }
    // Zeros of floats are 0.
    if (found.zeros.type() == ElementType::kF8E4M3) found.zeros = {};
  }
  if (model.Find(layer + ".weight_g_idx")) {
    found.order = model.Get(layer + ".weight_g_idx", {kI32, kI64});
    if (found.order.tensor().count() != found.width || found.grid.block_rows != 1) {
      Fail("{} does not name a group for each of {} columns", found.order.Shown(), found.width);
    }
    found.Groups();
  }
  const bool whole = found.bits != 0 || found.numbers.type() == kI8;
  LayerFacts facts;
  facts.bits = found.bits == 0 ? 8 : found.bits;
  facts.numbers = whole ? fmt::format("{} bits", facts.bits) : ElementName(found.numbers.type());
  const bool all = found.grid.block_rows == found.rows, wide = found.grid.block_width == found.width;
  facts.extent = all && wide ? "each matrix"
                 : found.grid.block_rows != 1
                     ? fmt::format("blocks of {} x {}", found.grid.block_rows, found.grid.block_width)
                 : wide ? "rows"
                        : fmt::format("groups of {}", found.grid.block_width);
  if (found.order) facts.extent += " in the order of activations";
  facts.whole = whole && !found.order;
  facts.block_width = found.grid.block_width;
  facts.scales = &found.scales;
  model.Set(
      layer, {".weight_packed", ".weight_shape", ".weight_scale", ".weight_zero_point", ".weight_g_idx"}, found.rows,
      found.width, [found] { return found.Load(); }, facts);
}

void ReadPacked(const std::string& layer, const std::vector<Scheme>& schemes, QuantizedModel& model) {
  CompressedLayer found;
  found.numbers = model.Get(layer + ".weight_packed", {kI32});
  ReadShape(layer, model, found);
  for (const Scheme& scheme : schemes) {
    if (found.bits != 0 || scheme.bits > 8 || found.numbers.rows() != found.rows) continue;
    const uint64_t each = 32 / scheme.bits;
    found.across_words = found.numbers.width() == WordsOf(found.width, scheme.bits);
    if (found.across_words || found.numbers.width() == (found.width + each - 1) / each) found.bits = scheme.bits;
  }
  if (found.bits == 0) {
    Fail("{} does not hold numbers for [{}, {}], the layer's weight_shape, of the bits that {}.config_groups states",
         found.numbers.Shown(), found.rows, found.width, model.settings().name());
  }
  FinishLayer(layer, schemes, model, found);
}

// NVFP4 and MXFP4: floats of four bits, two in a byte.
void ReadFloat4(const std::string& layer, QuantizedModel& model) {
  const Part packed = model.Get(layer + ".weight_packed", {kU8});
  const Part scales = model.Get(layer + ".weight_scale", {kU8, ElementType::kF8E4M3, ElementType::kF8E8M0});
  const bool powers = scales.type() != ElementType::kF8E4M3;
  Part divisor;
  if (!powers || model.Find(layer + ".weight_global_scale")) {
    divisor = model.GetFloats(layer + ".weight_global_scale");
    if (divisor.tensor().count() != 1) Fail("{} is not one scale", divisor.Shown());
  }
  const uint64_t rows = packed.rows(), width = packed.width() * 2;
  const ScaleGrid grid = GridOf(scales, rows, width, {1, powers ? 32u : 16u});
  const auto load = [=] {
    std::vector<float> factors(scales.tensor().count());
    const float global = divisor ? divisor.Floats()[0] : 1;
    for (size_t i = 0; i < factors.size(); ++i) {
      const uint8_t stored = scales.tensor().data[i];
      factors[i] = (powers ? FromE8M0(stored) : FromE4M3(stored)) / global;
    }
    const uint8_t* bytes = packed.tensor().data;
    std::vector<float> values = Scaled(rows, width, grid, factors, [&](uint64_t r, uint64_t c) {
      return FromE2M1(bytes[(r * width + c) / 2] >> c % 2 * 4 & 15u);
    });
    packed.Forget();
    return values;
  };
  LayerFacts facts;
  facts.numbers = powers ? "mxfp4" : "nvfp4";
  facts.extent = fmt::format("groups of {}", powers ? 32 : 16);
  model.Set(layer, {".weight_packed", ".weight_scale", ".weight_global_scale", ".weight_shape"}, rows, width, load,
            facts);
}

void ReadBytes(const std::string& layer, const std::vector<Scheme>& schemes, QuantizedModel& model) {
  const Part weights = model.Find(layer + ".weight");
  if (!weights) Fail("tensor {}.weight_scale is the scale of weights that are missing", layer);
  if (weights.type() == ElementType::kF32 || weights.type() == ElementType::kF16 ||
      weights.type() == ElementType::kBF16) {
    Fail(
        "{} is {} although it has a scale: it was saved before it was quantized; save a compressed copy, or convert "
        "the unquantized model",
        weights.Shown(), ElementName(weights.type()));
  }
  CompressedLayer found;
  found.numbers = model.Get(layer + ".weight", {kI8, ElementType::kF8E4M3, ElementType::kF8E5M2});
  found.rows = found.numbers.rows();
  found.width = found.numbers.width();
  FinishLayer(layer, schemes, model, found);
}

}  // namespace

void ReadCompressedTensors(QuantizedModel& model) {
  RefuseTransforms(model.settings());
  const std::vector<Scheme> schemes = ReadSchemes(model.settings(), model);
  for (const std::string& layer : model.LayersWith(".weight_packed")) {
    if (model.Find(layer + ".weight_packed").type() == kU8) {
      ReadFloat4(layer, model);
    } else {
      ReadPacked(layer, schemes, model);
    }
  }
  for (const std::string& layer : model.LayersWith(".weight_scale")) ReadBytes(layer, schemes, model);
  for (const char* ending : {".input_scale", ".input_zero_point", ".input_global_scale", ".output_scale",
                             ".output_zero_point", ".input_g_idx"}) {
    model.DropAll(ending, "activations stay f32 here");
  }
  for (const char* ending : {".k_scale", ".v_scale", ".q_scale", ".k_zero_point", ".v_zero_point", ".q_zero_point"}) {
    model.DropAll(ending, "the KV cache is stored as --keys states");
  }
}

}  // namespace fovea::tools
