// Shared by the readers of quantized weights.
#include "tools/convert/published/quantized_layers.h"

#include <algorithm>

#include "tools/base/affixes.h"
#include "tools/base/fail.h"
#include "tools/base/half.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

constexpr uint32_t kBlockOfFour = 32;  // numbers in a block of the blob's int4

std::string Counted(size_t count, const char* one) { return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s"); }

}  // namespace

uint64_t Part::width() const { return tensor().shape.empty() ? 1 : tensor().shape.back(); }

uint64_t Part::rows() const { return tensor().count() / width(); }

std::string Part::Shown() const { return fmt::format("tensor {} {}", name, ShapeText(tensor().shape)); }

std::vector<float> Part::Floats() const {
  std::vector<float> values = ToFloats(tensor());
  Forget();
  return values;
}

std::vector<int64_t> Part::Integers() const { return ToIntegers(tensor()); }

ScaleGrid GridOf(const Part& scales, uint64_t rows, uint64_t width, BlockSize stated) {
  const auto parts = [](uint64_t whole, uint64_t size) { return (whole + size - 1) / size; };
  if (scales.tensor().count() == 1) return {1, rows, width};
  if (scales.Is(1, rows) || scales.Is(rows, 1)) {
    if (stated.rows <= 1 && (stated.width == 0 || stated.width >= width)) return {1, 1, width};
  }
  if (stated.width != 0 && scales.Is(parts(rows, std::max(stated.rows, 1u)), parts(width, stated.width))) {
    return {scales.width(), std::max(stated.rows, 1u), stated.width};
  }
  if (stated.width == 0 && scales.rows() == rows && width % scales.width() == 0) {
    return {scales.width(), 1, width / scales.width()};
  }
  if (stated.width != 0) {
    Fail("{} does not fit weights [{}, {}] with a scale for each block of [{}, {}]", scales.Shown(), rows, width,
         std::max(stated.rows, 1u), stated.width);
  }
  Fail("{} does not fit weights [{}, {}]: one scale, a scale for each row or for groups of each row is expected",
       scales.Shown(), rows, width);
}

float FromE2M1(uint32_t bits) {
  constexpr float kValues[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  return (bits & 8) != 0 ? -kValues[bits & 7] : kValues[bits & 7];
}

std::vector<std::string> QuantizedModel::LayersWith(const std::string& ending) const {
  std::vector<std::string> layers;
  for (const std::string& name : weights_.Stored()) {
    if (name.size() > ending.size() && EndsWith(name, ending))
      layers.push_back(name.substr(0, name.size() - ending.size()));
  }
  return layers;
}

Part QuantizedModel::Find(const std::string& name) const { return {name, weights_.Raw(name)}; }

Part QuantizedModel::Get(const std::string& name, std::initializer_list<ElementType> types) const {
  const Part part = Find(name);
  if (!part && weights_.Has(name)) {
    Fail("tensor {} of a quantized layer is stored with its elements in another order; save it as safetensors", name);
  }
  if (!part) Fail("no tensor {}, which a quantized layer needs", name);
  if (std::find(types.begin(), types.end(), part.type()) == types.end()) {
    std::string names;
    for (const ElementType type : types) names += (names.empty() ? "" : " or ") + std::string(ElementName(type));
    Fail("{} is {}; this part of a quantized layer must be {}", part.Shown(), ElementName(part.type()), names);
  }
  if (part.tensor().bytes == 0) Fail("{} is empty", part.Shown());
  return part;
}

Part QuantizedModel::GetFloats(const std::string& name) const {
  return Get(name, {ElementType::kF32, ElementType::kF16, ElementType::kBF16});
}

void QuantizedModel::SetTensor(const std::string& name, uint64_t rows, uint64_t width,
                               const std::function<std::vector<float>()>& load) {
  if (rows > UINT32_MAX || width > UINT32_MAX) Fail("tensor {}: [{}, {}] is too large", name, rows, width);
  weights_.Drop(name);
  if (weights_.Has(name)) Fail("tensor {} occurs twice: as stored, and of a quantized layer", name);
  Constant constant = {static_cast<uint32_t>(rows), static_cast<uint32_t>(width), load};
  const auto is_end = [&](const std::string& end) { return EndsWith(name, end + ".weight"); };
  if (std::any_of(transposed_.begin(), transposed_.end(), is_end)) constant = Transpose(constant);
  weights_.AddStored(name, constant);
}

void QuantizedModel::Set(const std::string& layer, const std::vector<std::string>& endings, uint64_t rows,
                         uint64_t width, const std::function<std::vector<float>()>& load, const LayerFacts& facts) {
  ++layers_;
  ++kinds_[facts.extent.empty() ? facts.numbers : facts.numbers + ", a scale for " + facts.extent];
  if (facts.whole && facts.bits <= 4 && facts.block_width % kBlockOfFour == 0) {
    for (const float scale : facts.scales->Floats()) {
      ++scales_of_four_;
      exact_scales_of_four_ += FromBf16(ToBf16(scale)) == scale;
    }
  }
  rows_of_eight_ += facts.whole && facts.bits == 8 && facts.block_width == width;
  // The values are held by `load`.
  for (const std::string& ending : endings) weights_.Drop(layer + ending);
  SetTensor(layer + ".weight", rows, width, load);
}

void QuantizedModel::DropAll(const std::string& ending, const std::string& reason) {
  const std::vector<std::string> layers = LayersWith(ending);
  for (const std::string& layer : layers) weights_.Drop(layer + ending);
  if (!layers.empty()) Say(fmt::format("{} named *{}: {}", Counted(layers.size(), "tensor"), ending, reason));
}

std::vector<std::string> QuantizedModel::Report(const std::string& method) const {
  std::vector<std::string> report;
  for (const auto& [kind, count] : kinds_) {
    report.push_back(
        fmt::format("{} of {}: {}; their values are computed exactly", Counted(count, "layer"), method, kind));
  }
  if (scales_of_four_ != 0) {
    report.push_back(fmt::format(
        "with --weights int4 a block of 32 stays as it is where bf16 holds its scale and its numbers are -8 to 7: {} "
        "of {} scales are exact in bf16",
        exact_scales_of_four_, scales_of_four_));
  } else if (rows_of_eight_ != 0) {
    report.push_back(fmt::format(
        "with --weights int8 a row stays as it is, in numbers and scale, where its numbers are -127 to 127: {}",
        Counted(rows_of_eight_, "layer")));
  } else if (layers_ != 0) {
    report.push_back("--weights int4 and int8 round these layers again: their grid is not that of a blob");
  }
  report.insert(report.end(), said_.begin(), said_.end());
  return report;
}

}  // namespace fovea::tools
