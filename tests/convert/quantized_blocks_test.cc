// Blocks and rows of quantized layers in a blob: numbers and scales stay where the blob has the same grid.
#include "tests/convert/quantized_support.h"
#include "tools/blob/blob.h"
#include "tools/convert/quantize.h"

namespace fovea::tools {
namespace {

std::vector<float> Stored(const Weights& weights, const std::string& name, DType type) {
  const Constant constant = weights.Get(name);
  BlobTensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.rows = constant.rows;
  tensor.width = constant.width;
  EncodeTensor(constant.load(), tensor);
  return DecodeTensor(tensor);
}

using QuantizedBlocks = QuantizedFiles;

TEST_F(QuantizedBlocks, OfFourBitsWithScalesOfBf16) {
  Start(R"({"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {"g": {"targets":
            ["Linear"], "weights": {"num_bits": 4, "strategy": "group", "group_size": 64}}}})");
  constexpr size_t kRows = 64, kWidth = 128;
  std::vector<float> scales(kRows * 2);
  for (float& scale : scales) scale = static_cast<float>(128 + Below(128)) * 0x1p-14f;
  const int64_t shape[] = {kRows, kWidth};
  AddWords("a.weight_packed", {kRows, kWidth / 8}, BitString(RandomNumbers(kRows * kWidth, 4), 4));
  AddHalves("a.weight_scale", {kRows, 2}, scales, ElementType::kBF16);
  Add("a.weight_shape", ElementType::kI64, {2}, shape);
  const Weights weights = Read();
  EXPECT_EQ(Stored(weights, "a.weight", DType::kI4), weights.Get("a.weight").load());
  EXPECT_TRUE(Found("128 of 128 scales are exact in bf16")) << AllFindings();
}

// Any scales of f32, products of which are rounded; rows without their largest number.
TEST_F(QuantizedBlocks, RowsOfEightBits) {
  for (const uint32_t most : {127u, 90u, 5u, 1u}) {
    Start(R"({"quant_method": "bitsandbytes", "load_in_8bit": true})");
    constexpr size_t kRows = 200, kWidth = 40;
    std::vector<uint8_t> bytes(kRows * kWidth);
    for (uint8_t& byte : bytes)
      byte = static_cast<uint8_t>(static_cast<int>(Below(2 * most + 1)) - static_cast<int>(most));
    std::vector<float> largest(kRows);
    for (float& one : largest) one = static_cast<float>(1 + Below(1u << 24)) * 0x1p-22f;
    AddBytes("a.weight", {kRows, kWidth}, bytes, ElementType::kI8);
    AddFloats("a.SCB", {kRows}, largest);
    const Weights weights = Read();
    EXPECT_EQ(Stored(weights, "a.weight", DType::kI8), weights.Get("a.weight").load()) << most;
  }
}

// A row with -128 has no such scale and is rounded again.
TEST_F(QuantizedBlocks, ARowWithTheLeastNumberIsRounded) {
  Start(R"({"quant_method": "bitsandbytes", "load_in_8bit": true})");
  AddBytes("a.weight", {1, 4}, {128, 127, 1, 3}, ElementType::kI8);
  AddFloats("a.SCB", {1}, {127});
  const Weights weights = Read();
  const std::vector<float> exact = weights.Get("a.weight").load(), stored = Stored(weights, "a.weight", DType::kI8);
  EXPECT_NE(stored, exact);
  for (size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(stored[i], exact[i], 1) << i;
}

}  // namespace
}  // namespace fovea::tools
