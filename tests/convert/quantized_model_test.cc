// Whole models with quantized layers: the blob is that of the model with the same weights as floats.
#include <algorithm>
#include <random>

#include "tests/convert/architecture_support.h"

namespace fovea::tools {
namespace {

class QuantizedModels : public Architecture {
 protected:
  // Replaces each matrix of a layer of the golden model by random numbers of 8 bits times a scale for its row: as
  // floats, or as numbers in the form of bitsandbytes.
  void Store(const std::string& ending, const std::string& form) {
    std::mt19937 random(5);
    SafetensorsWriter writer;
    const SafetensorsReader golden(golden_ / "model.safetensors");
    for (const auto& [name, tensor] : golden.tensors()) {
      const bool is_layer = name.size() > ending.size() &&
                            name.compare(name.size() - ending.size(), ending.size(), ending) == 0 &&
                            tensor.shape.size() == 2 && name.find("layers.") != std::string::npos;
      if (!is_layer) {
        writer.Add(name, tensor.type, tensor.shape, tensor.data);
        continue;
      }
      StoreLayer(name.substr(0, name.size() - std::string(".weight").size()), tensor.shape[0], tensor.shape[1], form,
                 random, writer);
    }
    std::filesystem::remove(directory_ / "model.safetensors");
    writer.Write(directory_ / "model.safetensors");
  }

 private:
  static void StoreLayer(const std::string& layer, uint64_t rows, uint64_t width, const std::string& form,
                         std::mt19937& random, SafetensorsWriter& writer) {
    std::vector<float> values, largest;
    std::vector<int8_t> numbers;
    for (uint64_t r = 0; r < rows; ++r) {
      largest.push_back(static_cast<float>(64 + random() % 64) * 0x1p-9f);
      const float scale = largest.back() * (1.0f / 127);
      for (uint64_t c = 0; c < width; ++c) {
        numbers.push_back(static_cast<int8_t>(static_cast<int>(random() % 255) - 127));
        values.push_back(static_cast<float>(numbers.back()) * scale);
      }
    }
    if (form == "floats") return writer.AddFloats(layer + ".weight", {rows, width}, values.data());
    const uint8_t layout = 0;
    writer.Add(layer + ".weight", ElementType::kI8, {rows, width}, numbers.data());
    writer.AddFloats(layer + ".SCB", {rows}, largest.data());
    writer.Add(layer + ".weight_format", ElementType::kU8, {}, &layout);
  }
};

TEST_F(QuantizedModels, BlobsAreThoseOfTheValues) {
  Copy("llama");
  Store("_proj.weight", "floats");
  const std::vector<uint8_t> plain = Blob(), bytes = Blob("", DType::kI8);
  Store("_proj.weight", "numbers");
  Change(R"({"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": true}})");
  EXPECT_TRUE(Blob() == plain);
  EXPECT_TRUE(report_.warnings.empty()) << report_.warnings[0];
  EXPECT_TRUE(report_.unused.empty()) << report_.unused[0];
  const auto is_quantized = [](const Finding& finding) { return finding.topic == Topic::kQuantized; };
  EXPECT_GT(std::count_if(report_.findings.begin(), report_.findings.end(), is_quantized), 1);
  // Rows stay as they are.
  EXPECT_TRUE(Blob("", DType::kI8) == bytes);
  size_t rows = 0;
  for (const TensorReport& tensor : report_.tensors) {
    if (tensor.name.find("_proj.weight") == std::string::npos) continue;
    EXPECT_EQ(tensor.type, DType::kI8) << tensor.name;
    EXPECT_EQ(tensor.error.max_abs, 0) << tensor.name;
    ++rows;
  }
  EXPECT_EQ(rows, 21u);
}

}  // namespace
}  // namespace fovea::tools
