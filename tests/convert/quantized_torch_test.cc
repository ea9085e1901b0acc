// Quantized layers in files of torch.save: their parts are read as parts of safetensors are.
#include "tests/convert/quantized_support.h"
#include "tests/support/torch_writer.h"
#include "tools/convert/published/weight_files.h"

namespace fovea::tools {
namespace {

using test::torch::BytesOf;
using test::torch::Dict;
using test::torch::Entries;
using test::torch::Storage;
using test::torch::Tensor;
using test::torch::ZipForm;

class QuantizedTorch : public QuantizedFiles {
 protected:
  // Rows of int8 with the largest magnitude of each row; `strides` of the numbers.
  Weights ReadInt8(const std::vector<int64_t>& strides) {
    Start(R"({"quant_method": "bitsandbytes", "load_in_8bit": true})");
    const std::vector<int8_t> numbers = {127, -64, 0, 5, -127, 1};
    const std::vector<float> largest = {2, 0.5f};
    const std::string object = Dict({{"a.weight", Tensor(Storage("CharStorage", "0", 6), 0, {2, 3}, strides)},
                                     {"a.SCB", Tensor(Storage("FloatStorage", "1", 2), 0, {2}, {1})}});
    return ReadFile(ZipForm(object, {{"0", BytesOf(numbers)}, {"1", BytesOf(largest)}}));
  }
  Weights ReadFile(const std::string& file) {
    WriteFile((directory_ / "pytorch_model.bin").string(), file.data(), file.size());
    const std::string text = config_.dump();
    WriteFile((directory_ / "config.json").string(), text.data(), text.size());
    Weights weights;
    findings_.clear();
    AddWeightFiles(directory_.string(), "", weights, findings_);
    ReadQuantized(Config((directory_ / "config.json").string()), directory_.string(), weights, findings_);
    return weights;
  }
};

TEST_F(QuantizedTorch, Int8) {
  const Weights weights = ReadInt8({3, 1});
  EXPECT_EQ(weights.Stored(), std::vector<std::string>{"a.weight"});
  const float first = 2 * (1.0f / 127), second = 0.5f * (1.0f / 127);
  EXPECT_EQ(weights.Get("a.weight").load(),
            (std::vector<float>{127 * first, -64 * first, 0, 5 * second, -127 * second, 1 * second}));
  EXPECT_TRUE(Found("1 layer of bitsandbytes: int8, a scale for rows")) << AllFindings();
}

// Words of four bits along the outputs, in AWQ's order of places.
TEST_F(QuantizedTorch, Awq) {
  Start(R"({"quant_method": "awq", "bits": 4, "group_size": 2, "version": "gemm"})");
  const std::vector<uint32_t> numbers = {0x76543210, 0xfedcba98}, zeros = {0x11111111};
  const std::vector<float> scales = {1, 2, 4, 8, 16, 32, 64, 128};
  const std::string object = Dict({{"a.qweight", Tensor(Storage("IntStorage", "0", 2), 0, {2, 1}, {1, 1})},
                                   {"a.qzeros", Tensor(Storage("IntStorage", "1", 1), 0, {1, 1}, {1, 1})},
                                   {"a.scales", Tensor(Storage("FloatStorage", "2", 8), 0, {1, 8}, {8, 1})}});
  const Weights weights =
      ReadFile(ZipForm(object, {{"0", BytesOf(numbers)}, {"1", BytesOf(zeros)}, {"2", BytesOf(scales)}}));
  const std::vector<float> found = weights.Get("a.weight").load();
  const int places[] = {0, 4, 1, 5, 2, 6, 3, 7};
  for (size_t o = 0; o < 8; ++o) {
    const float scale = scales[o];
    EXPECT_EQ(found[2 * o], static_cast<float>(places[o] - 1) * scale);
    EXPECT_EQ(found[2 * o + 1], static_cast<float>(places[o] + 8 - 1) * scale);
  }
}

TEST_F(QuantizedTorch, OtherOrdersOfElements) {
  std::string refusal;
  try {
    ReadInt8({1, 2});
  } catch (const Failure& failure) {
    refusal = failure.what();
  }
  EXPECT_NE(refusal.find("a.weight of a quantized layer is stored with its elements in another order"),
            std::string::npos)
      << refusal;
}

}  // namespace
}  // namespace fovea::tools
