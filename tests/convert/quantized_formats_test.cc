// Layers of compressed-tensors, fp8, bitsandbytes and MLX: the weights that their formats define, bit for bit.
#include <algorithm>
#include <cmath>

#include "tests/convert/quantized_support.h"

namespace fovea::tools {
namespace {

constexpr auto kI8 = ElementType::kI8, kI64 = ElementType::kI64, kE4M3 = ElementType::kF8E4M3,
               kBF16 = ElementType::kBF16, kU32 = ElementType::kU32;
constexpr double kFloat4[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6};

// By the definition of the format: sign, exponent less 7, fraction.
double E4M3(uint8_t bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  const double value =
      exponent == 0 ? fraction / 8.0 * std::pow(2, -6) : (1 + fraction / 8.0) * std::pow(2, exponent - 7);
  return bits >= 128 ? -value : value;
}

class Formats : public QuantizedFiles {
 protected:
  // Floats of eight bits that are numbers.
  std::vector<uint8_t> RandomFloats(size_t count) {
    std::vector<uint8_t> bytes = RandomBytes(count);
    for (uint8_t& byte : bytes) byte = (byte & 127) == 127 ? 0x38 : byte;
    return bytes;
  }
  std::vector<float> RandomBrains(size_t count) {
    std::vector<float> scales(count);
    for (float& scale : scales) scale = static_cast<float>(128 + Below(128)) * 0x1p-14f;
    return scales;
  }
  void AddShape(const std::string& name, int64_t rows, int64_t width) {
    const int64_t shape[] = {rows, width};
    Add(name, kI64, {2}, shape);
  }
};

using CompressedTensors = Formats;

constexpr const char* kPacked = R"({"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups":
  {"group_0": {"targets": ["Linear"], "input_activations": null, "weights": {"num_bits": 4, "type": "int",
   "symmetric": true, "strategy": "group", "group_size": 32, "dynamic": false}}}, "ignore": ["lm_head"],
  "quantization_status": "compressed", "sparsity_config": {}, "kv_cache_scheme": null})";

TEST_F(CompressedTensors, PackedNumbersOfAllBits) {
  for (const uint32_t bits : {2u, 3u, 4u, 5u, 6u, 8u}) {
    for (const bool zeros : {false, true}) {
      SCOPED_TRACE(testing::Message() << bits << " bits, zeros " << zeros);
      Start(kPacked);
      config_["quantization_config"]["config_groups"]["group_0"]["weights"]["num_bits"] = bits;
      constexpr size_t kRows = 12, kWidth = 96, kGroups = 3;
      const std::vector<float> scales = RandomBrains(kRows * kGroups);
      const Numbers stored_zeros = RandomNumbers(kRows * kGroups, bits);
      Numbers packed, packed_zeros((kRows * bits + 31) / 32 * kGroups);
      std::vector<float> weights;
      const int32_t half = 1 << (bits - 1);
      for (size_t r = 0; r < kRows; ++r) {
        const Numbers row = RandomNumbers(kWidth, bits), words = BitString(row, bits);
        packed.insert(packed.end(), words.begin(), words.end());
        for (size_t c = 0; c < kWidth; ++c) {
          const size_t at = r * kGroups + c / 32;
          const int32_t zero = zeros ? static_cast<int32_t>(stored_zeros[at]) - half : 0;
          weights.push_back(static_cast<float>((static_cast<int32_t>(row[c]) - half - zero) * double{scales[at]}));
        }
      }
      for (size_t g = 0; g < kGroups; ++g) {
        Numbers column;
        for (size_t r = 0; r < kRows; ++r) column.push_back(stored_zeros[r * kGroups + g]);
        const Numbers words = BitString(column, bits);
        for (size_t w = 0; w < words.size(); ++w) packed_zeros[w * kGroups + g] = words[w];
      }
      AddWords("a.weight_packed", {kRows, packed.size() / kRows}, packed);
      AddHalves("a.weight_scale", {kRows, kGroups}, scales, kBF16);
      AddShape("a.weight_shape", kRows, kWidth);
      if (zeros) AddWords("a.weight_zero_point", {packed_zeros.size() / kGroups, kGroups}, packed_zeros);
      ExpectWeight("a.weight", kRows, kWidth, weights);
      EXPECT_TRUE(Found(std::to_string(bits) + " bits, a scale for groups of 32")) << AllFindings();
      EXPECT_EQ(Found("36 of 36 scales are exact in bf16"), bits <= 4) << AllFindings();
    }
  }
}

// Earlier versions left the last two bits of each word of numbers of three bits unused.
TEST_F(CompressedTensors, ThreeBitsInTheEarlierLayout) {
  Start(kPacked);
  config_["quantization_config"]["config_groups"]["group_0"]["weights"]["num_bits"] = 3;
  constexpr size_t kRows = 2, kWidth = 64;
  const Numbers numbers = RandomNumbers(kRows * kWidth, 3);
  Numbers packed(kRows * 7);
  for (size_t i = 0; i < numbers.size(); ++i) {
    packed[i / kWidth * 7 + i % kWidth / 10] |= numbers[i] << 3 * (i % kWidth % 10);
  }
  std::vector<float> weights;
  for (const uint32_t number : numbers) weights.push_back(0.5f * (static_cast<float>(number) - 4));
  AddWords("a.weight_packed", {kRows, 7}, packed);
  AddHalves("a.weight_scale", {kRows, 2}, {0.5f, 0.5f, 0.5f, 0.5f}, kBF16);
  AddShape("a.weight_shape", kRows, kWidth);
  ExpectWeight("a.weight", kRows, kWidth, weights);
}

TEST_F(CompressedTensors, GroupsInTheOrderOfActivations) {
  Start(kPacked);
  constexpr size_t kRows = 4, kWidth = 64;
  std::vector<int32_t> order(kWidth);
  for (size_t c = 0; c < kWidth; ++c) order[c] = static_cast<int32_t>(c / 32);
  std::shuffle(order.begin(), order.end(), random_);
  const Numbers numbers = RandomNumbers(kRows * kWidth, 4);
  const std::vector<float> scales = RandomBrains(kRows * 2);
  std::vector<float> weights, in_place;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double number = static_cast<double>(numbers[i]) - 8;
    weights.push_back(static_cast<float>(number * scales[i / kWidth * 2 + static_cast<size_t>(order[i % kWidth])]));
    in_place.push_back(static_cast<float>(number * scales[i / kWidth * 2 + i % kWidth / 32]));
  }
  AddWords("a.weight_packed", {kRows, 8}, BitString(numbers, 4));
  AddHalves("a.weight_scale", {kRows, 2}, scales, kBF16);
  AddShape("a.weight_shape", kRows, kWidth);
  Add("a.weight_g_idx", ElementType::kI32, {kWidth}, order.data());
  ExpectWeight("a.weight", kRows, kWidth, weights);
  order[5] = 2;
  Add("a.weight_g_idx", ElementType::kI32, {kWidth}, order.data());
  ExpectRefused("group 2 of column 5 is out of range: the layer has 2 groups");
  order[5] = -1;  // there is no order
  Add("a.weight_g_idx", ElementType::kI32, {kWidth}, order.data());
  ExpectWeight("a.weight", kRows, kWidth, in_place);
}

TEST_F(CompressedTensors, BytesWithScalesOfAllExtents) {
  constexpr size_t kRows = 6, kWidth = 20;
  const struct {
    const char* weights;  // in the scheme
    std::vector<uint64_t> shape;
    size_t down, across;  // rows and columns with one scale
    const char* extent;
  } cases[] = {
      {R"({"num_bits": 8, "strategy": "tensor"})", {}, kRows, kWidth, "each matrix"},
      {R"({"num_bits": 8, "strategy": "tensor"})", {1}, kRows, kWidth, "each matrix"},
      {R"({"num_bits": 8, "strategy": "channel"})", {kRows, 1}, 1, kWidth, "rows"},
      {R"({"num_bits": 8, "strategy": "channel"})", {kRows}, 1, kWidth, "rows"},
      {R"({"num_bits": 8, "strategy": "group", "group_size": 5})", {kRows, 4}, 1, 5, "groups of 5"},
      {R"({"num_bits": 8, "strategy": "block", "block_structure": [4, 8]})", {2, 3}, 4, 8, "blocks of 4 x 8"},
      {R"({"num_bits": 8, "strategy": "block", "block_structure": "4x8"})", {2, 3}, 4, 8, "blocks of 4 x 8"},
  };
  for (const auto& c : cases) {
    for (const bool is_float : {false, true}) {
      SCOPED_TRACE(testing::Message() << c.weights << is_float);
      Start(R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets": ["Linear"],
                "input_activations": {"num_bits": 8, "dynamic": true}}}})");
      Json& settings = config_["quantization_config"];
      settings["format"] = is_float ? "float-quantized" : "int-quantized";
      settings["config_groups"]["group_0"]["weights"] = Json::parse(c.weights);
      uint64_t count = 1;
      for (const uint64_t size : c.shape) count *= size;
      const std::vector<float> scales = RandomBrains(count);
      const std::vector<uint8_t> bytes = RandomFloats(kRows * kWidth);
      std::vector<float> weights;
      const size_t columns = (kWidth + c.across - 1) / c.across;
      for (size_t i = 0; i < bytes.size(); ++i) {
        const double number = is_float ? E4M3(bytes[i]) : static_cast<int8_t>(bytes[i]);
        const size_t at = i / kWidth / c.down * columns + i % kWidth / c.across;
        weights.push_back(static_cast<float>(number * scales[at]));
      }
      AddBytes("a.weight", {kRows, kWidth}, bytes, is_float ? kE4M3 : kI8);
      AddHalves("a.weight_scale", c.shape, scales, kBF16);
      AddFloats("a.input_scale", {1}, {1});
      AddFloats("a.k_scale", {1}, {1});
      ExpectWeight("a.weight", kRows, kWidth, weights);
      EXPECT_TRUE(Found(std::string("a scale for ") + c.extent)) << AllFindings();
      EXPECT_TRUE(Found("activations stay f32 here")) << AllFindings();
      EXPECT_TRUE(Found("1 tensor named *.k_scale: the KV cache is stored as --keys states")) << AllFindings();
      const bool one_a_row = c.down == 1 || c.down == kRows;
      EXPECT_EQ(Found("with --weights int8 a row stays as it is"), !is_float && one_a_row && c.across == kWidth);
    }
  }
}

TEST_F(CompressedTensors, BytesWithZeros) {
  Start(R"({"quant_method": "compressed-tensors", "format": "int-quantized", "config_groups":
            {"g": {"targets": ["Linear"], "weights": {"num_bits": 8, "symmetric": false, "strategy": "channel"}}}})");
  const std::vector<uint8_t> bytes = RandomBytes(3 * 16), zeros = RandomBytes(3);
  const std::vector<float> scales = RandomBrains(3);
  std::vector<float> weights;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int number = static_cast<int8_t>(bytes[i]) - static_cast<int8_t>(zeros[i / 16]);
    weights.push_back(static_cast<float>(number * double{scales[i / 16]}));
  }
  AddBytes("a.weight", {3, 16}, bytes, kI8);
  AddHalves("a.weight_scale", {3, 1}, scales, kBF16);
  for (const std::vector<uint64_t>& shape : {std::vector<uint64_t>{3, 1}, std::vector<uint64_t>{3}}) {
    AddBytes("a.weight_zero_point", shape, zeros, kI8);
    ExpectWeight("a.weight", 3, 16, weights);
  }
  AddBytes("a.weight_zero_point", {2, 1}, zeros, kI8);
  ExpectRefused("tensor a.weight_zero_point [2, 1] does not hold a zero for each scale of");
}

TEST_F(CompressedTensors, FloatsOfFourBits) {
  for (const bool powers : {false, true}) {
    Start(R"({"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized", "config_groups": {}})");
    constexpr size_t kRows = 3, kWidth = 64;
    const size_t group = powers ? 32 : 16;
    const std::vector<uint8_t> pairs = RandomBytes(kRows * kWidth / 2);
    std::vector<uint8_t> scales = RandomFloats(kRows * kWidth / group);
    for (uint8_t& scale : scales) scale = static_cast<uint8_t>(powers ? 120 + scale % 9 : scale & 127);
    std::vector<float> weights;
    for (size_t i = 0; i < kRows * kWidth; ++i) {
      const uint8_t stored = scales[i / group];
      const auto scale =
          powers ? static_cast<float>(std::pow(2, stored - 127)) : static_cast<float>(E4M3(stored) / 48.5);
      weights.push_back(static_cast<float>(kFloat4[pairs[i / 2] >> i % 2 * 4 & 15] * double{scale}));
    }
    AddBytes("a.weight_packed", {kRows, kWidth / 2}, pairs);
    AddBytes("a.weight_scale", {kRows, kWidth / group}, scales, powers ? ElementType::kU8 : kE4M3);
    if (!powers) AddFloats("a.weight_global_scale", {1}, {48.5f});
    ExpectWeight("a.weight", kRows, kWidth, weights);
    EXPECT_TRUE(Found(powers ? "mxfp4" : "nvfp4")) << AllFindings();
    if (powers) continue;
    Remove("a.weight_global_scale");
    ExpectRefused("no tensor a.weight_global_scale");
  }
}

TEST_F(CompressedTensors, WhatIsNotReadIsRefused) {
  const auto start = [&](const char* key, const char* value) {
    Start(kPacked);
    config_["quantization_config"][key] = Json::parse(value);
    AddWords("a.weight_packed", {2, 4}, Numbers(8));
    AddHalves("a.weight_scale", {2, 1}, {1, 1});
    AddShape("a.weight_shape", 2, 32);
  };
  start("version", "\"0.1\"");
  EXPECT_EQ(Refusal(), "");
  start("sparsity_config", R"({"format": "sparse-24-bitmask"})");
  ExpectRefused("sparse weights (sparse-24-bitmask) are not supported");
  start("format", "\"marlin-24\"");
  ExpectRefused("format marlin-24 is not supported");
  start("transform_config", R"({"config_groups": {"R1": {}}})");
  ExpectRefused("rotations of activations");
  start("version", "1");
  Remove("a.weight_scale");
  ExpectRefused("no tensor a.weight_scale");
  start("version", "1");
  Remove("a.weight_shape");
  ExpectRefused("no tensor a.weight_shape");
  for (const auto& [rows, width] :
       {std::pair<int64_t, int64_t>{2, 64}, {3, 32}, {0, 32}, {-2, 32}, {2, int64_t{1} << 60}}) {
    start("version", "1");
    AddShape("a.weight_shape", rows, width);
    ExpectRefused("a.weight_");
  }
  start("version", "1");
  config_["quantization_config"]["config_groups"]["group_0"]["weights"]["group_size"] = 0;
  ExpectRefused("group_size 0 is not valid");
  start("version", "1");
  AddHalves("a.weight_scale", {2, 3}, std::vector<float>(6, 1));
  ExpectRefused("does not fit weights [2, 32]");
  Start(kPacked);
  AddHalves("a.weight", {2, 2}, {1, 1, 1, 1});
  AddHalves("a.weight_scale", {2, 1}, {1, 1});
  ExpectRefused("it was saved before it was quantized");
}

using Float8 = Formats;

TEST_F(Float8, BlocksAndWholeMatricesAndRows) {
  const struct {
    const char* settings;
    const char* ending;
    std::vector<uint64_t> shape;
    size_t down, across;
  } cases[] = {
      {R"({"quant_method": "fp8", "weight_block_size": [4, 8]})", "_scale_inv", {3, 3}, 4, 8},
      {R"({"quant_method": "fp8", "weight_block_size": null, "activation_scheme": "static"})",
       "_scale_inv",
       {},
       10,
       20},
      {R"({"quant_method": "fp8"})", "_scale", {1}, 10, 20},
      {R"({"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0})", "_scale", {10, 1}, 1, 20},
      {R"({"quant_method": "modelopt", "quant_algo": "FP8"})", "_scale", {}, 10, 20},
      {"null", "_scale_inv", {}, 10, 20},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.settings);
    Start(c.settings);
    uint64_t count = 1;
    for (const uint64_t size : c.shape) count *= size;
    const std::vector<float> scales = RandomScales(count);
    const std::vector<uint8_t> bytes = RandomFloats(200);
    std::vector<float> weights;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const size_t at = i / 20 / c.down * ((20 + c.across - 1) / c.across) + i % 20 / c.across;
      weights.push_back(static_cast<float>(E4M3(bytes[i]) * scales[at]));
    }
    AddBytes("a.weight", {10, 20}, bytes, kE4M3);
    AddFloats(std::string("a.weight") + c.ending, c.shape, scales);
    AddFloats("a.input_scale", {}, {2});
    ExpectWeight("a.weight", 10, 20, weights);
    EXPECT_TRUE(Found("activations stay f32 here")) << AllFindings();
    EXPECT_TRUE(Found("F8_E4M3")) << AllFindings();
  }
}

TEST_F(Float8, WithoutScales) {
  Start();
  AddBytes("a.weight", {1, 3}, {0x38, 0x40, 0xb8}, kE4M3);
  ExpectWeight("a.weight", 1, 3, {1, 2, -1});
  EXPECT_TRUE(Found("1 tensors are floats of eight bits without scales")) << AllFindings();
  Start(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})");
  AddBytes("a.weight", {1, 3}, {0x38, 0x40, 0xb8}, kE4M3);
  AddBytes("b.weight", {1, 3}, {0x38, 0x40, 0xb8}, kE4M3);
  AddFloats("b.weight_scale_inv", {1, 1}, {1});
  ExpectRefused("tensor a.weight [1, 3] is F8_E4M3 and no scale for it is known");
  Remove("a.weight");
  EXPECT_EQ(Refusal(), "");
  AddFloats("b.weight_scale_inv", {2, 1}, {1, 1});
  ExpectRefused("does not fit weights [1, 3] with a scale for each block of [128, 128]");
  for (const char* size : {"[0, 128]", "[128]", "128", "[-1, 2]"}) {
    config_["quantization_config"]["weight_block_size"] = Json::parse(size);
    ExpectRefused("weight_block_size");
  }
}

TEST_F(Float8, FourBitsOfModelOpt) {
  Start(R"({"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16})");
  const std::vector<uint8_t> pairs = RandomBytes(2 * 16);
  const std::vector<uint8_t> scales = {0x30, 0x41, 0x52, 0x23};
  std::vector<float> weights;
  for (size_t i = 0; i < 64; ++i) {
    const auto scale = static_cast<float>(E4M3(scales[i / 16]) * 0.0625f);
    weights.push_back(static_cast<float>(kFloat4[pairs[i / 2] >> i % 2 * 4 & 15] * double{scale}));
  }
  AddBytes("a.weight", {2, 16}, pairs);
  AddBytes("a.weight_scale", {2, 2}, scales, kE4M3);
  AddFloats("a.weight_scale_2", {}, {0.0625f});
  ExpectWeight("a.weight", 2, 32, weights);
  AddBytes("a.weight_scale", {2, 1}, scales, kE4M3);
  ExpectRefused("does not fit weights [2, 32]");
}

class BitsAndBytes : public Formats {
 protected:
  static constexpr size_t kRows = 6, kWidth = 50, kCount = 300;

  // Blocks of 64, the last one cut. Returns the weights.
  std::vector<float> AddFourBits(const char* type, bool nested) {
    Start(R"({"quant_method": "bitsandbytes", "load_in_4bit": true})");
    const std::vector<float> table = RandomScales(16), outer_table = RandomScales(256), outer = RandomScales(2);
    Json state = {{"quant_type", type}, {"blocksize", 64}, {"dtype", "bfloat16"}, {"shape", {kRows, kWidth}}};
    std::vector<float> largest = RandomScales(5);
    if (nested) {
      const std::vector<uint8_t> codes = RandomBytes(5);
      for (size_t i = 0; i < 5; ++i) {
        const auto product = static_cast<float>(double{outer_table[codes[i]]} * outer[i / 4]);
        largest[i] = static_cast<float>(double{product} + 0.0625);
      }
      AddBytes("a.weight.absmax", {5}, codes);
      AddFloats("a.weight.nested_absmax", {2}, outer);
      AddFloats("a.weight.nested_quant_map", {256}, outer_table);
      state["nested_blocksize"] = 4;
      state["nested_dtype"] = "float32";
      state["nested_offset"] = 0.0625;
    } else {
      AddFloats("a.weight.absmax", {5}, largest);
    }
    const Numbers numbers = RandomNumbers(kCount, 4);
    std::vector<uint8_t> pairs;
    for (size_t i = 0; i < kCount; i += 2) pairs.push_back(static_cast<uint8_t>(numbers[i] << 4 | numbers[i + 1]));
    AddBytes("a.weight", {pairs.size(), 1}, pairs);
    AddFloats("a.weight.quant_map", {16}, table);
    SetState(type, state.dump());
    std::vector<float> weights;
    for (size_t i = 0; i < kCount; ++i) {
      weights.push_back(static_cast<float>(double{table[numbers[i]]} * largest[i / 64]));
    }
    return weights;
  }
  void SetState(const std::string& type, const std::string& text) {
    AddBytes("a.weight.quant_state.bitsandbytes__" + type, {text.size()}, {text.begin(), text.end()});
  }
};

TEST_F(BitsAndBytes, FourBits) {
  for (const char* type : {"nf4", "fp4"}) {
    for (const bool nested : {false, true}) {
      SCOPED_TRACE(testing::Message() << type << nested);
      ExpectWeight("a.weight", kRows, kWidth, AddFourBits(type, nested));
      EXPECT_TRUE(Found(std::string(type) + ", a scale for blocks of 64")) << AllFindings();
      EXPECT_EQ(Found("double quantization"), nested);
    }
  }
  // Stored as elements of another type (bnb_4bit_quant_storage).
  const std::vector<float> weights = AddFourBits("nf4", true);
  Change("a.weight", kBF16, {75, 1});
  ExpectWeight("a.weight", kRows, kWidth, weights);
}

TEST_F(BitsAndBytes, DamagedLayersAreRefused) {
  for (const char* part : {"a.weight", "a.weight.absmax", "a.weight.quant_map", "a.weight.nested_quant_map"}) {
    AddFourBits("nf4", true);
    Remove(part);
    ExpectRefused(std::string("no tensor ") + part);
  }
  AddFourBits("nf4", true);
  Remove("a.weight.quant_state.bitsandbytes__nf4");
  ExpectRefused("has no quant_state beside it");
  AddFourBits("nf4", false);
  Change("a.weight.absmax", ElementType::kF32, {4});
  ExpectRefused("tensor a.weight.absmax [4] does not hold a scale for each of 5 blocks");
  AddFourBits("nf4", false);
  Change("a.weight.quant_map", ElementType::kF32, {8});
  ExpectRefused("is not a table of 16 values");
  AddFourBits("nf4", true);
  Change("a.weight.nested_quant_map", ElementType::kF32, {255});
  ExpectRefused("a table of 256 values");
  for (const char* state : {"", "[]", "{", R"({"blocksize": 64})", R"({"blocksize": 0, "shape": [6, 50]})",
                            R"({"blocksize": 64, "shape": [6, 51]})", R"({"blocksize": 64, "shape": [-6, 50]})",
                            R"({"blocksize": 64, "shape": []})", R"({"blocksize": 64, "shape": "6"})",
                            R"({"blocksize": 64, "shape": [4294967295, 4294967295, 4294967295]})",
                            R"({"blocksize": 64, "shape": [6, 50], "nested_blocksize": 0, "nested_offset": 0})",
                            R"({"blocksize": 64, "shape": [6, 50], "nested_blocksize": 4, "nested_offset": "x"})"}) {
    AddFourBits("nf4", true);
    SetState("nf4", state);
    ExpectRefused("a.weight.quant_state.bitsandbytes__nf4");
  }
}

TEST_F(BitsAndBytes, EightBits) {
  Start(R"({"_load_in_8bit": true, "load_in_8bit": true, "llm_int8_threshold": 6.0})");
  const std::vector<uint8_t> bytes = RandomBytes(4 * 32);
  const std::vector<float> largest = RandomScales(4);
  std::vector<float> weights;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto scale = static_cast<float>(double{largest[i / 32]} * (1.0f / 127));
    weights.push_back(static_cast<float>(static_cast<int8_t>(bytes[i]) * double{scale}));
  }
  AddBytes("a.weight", {4, 32}, bytes, kI8);
  AddFloats("a.SCB", {4}, largest);
  AddBytes("a.weight_format", {}, {0});
  ExpectWeight("a.weight", 4, 32, weights);
  EXPECT_TRUE(Found("activations stay f32 here")) << AllFindings();
  AddBytes("a.weight_format", {}, {2});
  ExpectRefused("layout 2 is for one kind of GPU");
  AddBytes("a.weight_format", {}, {0});
  AddFloats("a.SCB", {3}, largest);
  ExpectRefused("does not hold the largest magnitude of each row");
}

class Mlx : public Formats {
 protected:
  std::vector<float> AddLayer(const std::string& name, uint32_t bits, size_t group,
                              const std::vector<uint64_t>& shape) {
    const size_t width = shape.back(), rows = (shape.size() == 3 ? shape[0] : 1) * shape[shape.size() - 2];
    const std::vector<float> scales = RandomBrains(rows * width / group), biases = RandomBrains(rows * width / group);
    Numbers packed;
    std::vector<float> weights;
    for (size_t r = 0; r < rows; ++r) {
      const Numbers row = RandomNumbers(width, bits), words = BitString(row, bits);
      packed.insert(packed.end(), words.begin(), words.end());
      for (size_t c = 0; c < width; ++c) {
        const size_t at = (r * width + c) / group;
        weights.push_back(static_cast<float>(row[c] * double{scales[at]} + double{biases[at]}));
      }
    }
    std::vector<uint64_t> words = shape, groups = shape;
    words.back() = width * bits / 32;
    groups.back() = width / group;
    AddWords(name + ".weight", words, packed, kU32);
    AddHalves(name + ".scales", groups, scales, kBF16);
    AddHalves(name + ".biases", groups, biases, kBF16);
    return weights;
  }
};

TEST_F(Mlx, AllBits) {
  for (const uint32_t bits : {2u, 3u, 4u, 5u, 6u, 8u}) {
    for (const char* key : {"quantization", "quantization_config"}) {
      SCOPED_TRACE(testing::Message() << bits << key);
      Start(R"({"group_size": 32})", key);
      config_[key]["bits"] = bits;
      AddFloats("norm.weight", {4}, {1, 2, 3, 4});
      ExpectWeight("a.weight", 6, 96, AddLayer("a", bits, 32, {6, 96}), {"norm.weight"});
      EXPECT_TRUE(Found("1 layer of mlx: " + std::to_string(bits) + " bits, a scale for groups of 32, and a bias"))
          << AllFindings();
    }
  }
}

TEST_F(Mlx, LayersOfTheirOwn) {
  Start(R"({"group_size": 64, "bits": 4, "model.a": {"group_size": 32, "bits": 6}, "model.b": false})", "quantization");
  const std::vector<float> a = AddLayer("model.a", 6, 32, {2, 64}), c = AddLayer("model.c", 4, 64, {2, 64});
  AddFloats("model.b.weight", {1, 2}, {1, 2});
  const Weights weights = Read();
  EXPECT_EQ(weights.Get("model.a.weight").load(), a);
  EXPECT_EQ(weights.Get("model.c.weight").load(), c);
  EXPECT_EQ(weights.Get("model.b.weight").load(), (std::vector<float>{1, 2}));
}

TEST_F(Mlx, ExpertsThatAreStacked) {
  Start(R"({"group_size": 32, "bits": 4})", "quantization");
  const std::vector<float> up = AddLayer("l.mlp.switch_mlp.up_proj", 4, 32, {3, 2, 64});
  const std::vector<float> down = AddLayer("l.block_sparse_moe.switch_mlp.down_proj", 4, 32, {3, 2, 64});
  const Weights weights = Read();
  EXPECT_EQ(weights.Stored().size(), 6u);
  for (size_t i = 0; i < 3; ++i) {
    const auto part = [&](const std::vector<float>& of) {
      return std::vector<float>(of.begin() + static_cast<ptrdiff_t>(i * 128),
                                of.begin() + static_cast<ptrdiff_t>(i * 128 + 128));
    };
    EXPECT_EQ(weights.Get(fmt::format("l.mlp.experts.{}.up_proj.weight", i)).load(), part(up));
    EXPECT_EQ(weights.Get(fmt::format("l.block_sparse_moe.experts.{}.w2.weight", i)).load(), part(down));
  }
}

TEST_F(Mlx, SmallFloats) {
  const struct {
    const char* mode;
    uint32_t bits;
    size_t group;
  } cases[] = {{"mxfp4", 4, 32}, {"nvfp4", 4, 16}, {"mxfp8", 8, 32}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.mode);
    Start("{}", "quantization");
    config_["quantization"] = {{"mode", c.mode}, {"bits", c.bits}, {"group_size", c.group}};
    const std::vector<uint8_t> bytes = RandomFloats(2 * 64);
    Numbers numbers(bytes.begin(), bytes.end());
    for (uint32_t& number : numbers) number &= (1u << c.bits) - 1;
    std::vector<uint8_t> scales;
    std::vector<float> weights;
    for (size_t i = 0; i < 128 / c.group; ++i)
      scales.push_back(static_cast<uint8_t>(c.group == 16 ? 0x20 + i : 120 + i));
    for (size_t i = 0; i < 128; ++i) {
      const uint8_t stored = scales[i / c.group];
      const double scale = c.group == 16 ? E4M3(stored) : std::pow(2, stored - 127);
      const double value = c.bits == 4 ? kFloat4[numbers[i]] : E4M3(static_cast<uint8_t>(numbers[i]));
      weights.push_back(static_cast<float>(value * scale));
    }
    AddWords("a.weight", {2, 2 * c.bits}, BitString(numbers, c.bits), kU32);
    AddBytes("a.scales", {2, 64 / c.group}, scales);
    ExpectWeight("a.weight", 2, 64, weights);
    // Two experts of one row each.
    Remove("a.weight");
    Remove("a.scales");
    AddWords("l.mlp.switch_mlp.x.weight", {2, 1, 2 * c.bits}, BitString(numbers, c.bits), kU32);
    AddBytes("l.mlp.switch_mlp.x.scales", {2, 1, 64 / c.group}, scales);
    EXPECT_EQ(Read().Get("l.mlp.experts.1.x.weight").load(), std::vector<float>(weights.begin() + 64, weights.end()));
    config_["quantization"]["group_size"] = 64;
    ExpectRefused("in groups of 64 are not what mode");
  }
}

TEST_F(Mlx, DamagedLayersAreRefused) {
  const auto start = [&](const char* settings) {
    Start(settings, "quantization");
    AddLayer("a", 4, 32, {2, 64});
  };
  const char* settings = R"({"group_size": 32, "bits": 4})";
  start(settings);
  Remove("a.biases");
  ExpectRefused("no tensor a.biases");
  start(settings);
  Remove("a.weight");
  ExpectRefused("no tensor a.weight");
  for (const char* part : {"a.scales", "a.biases"}) {
    start(settings);
    Change(part, kBF16, {2, 1});
    ExpectRefused("does not fit tensor a.weight [2, 8] in 4 bits and groups of 32");
  }
  start(R"({"group_size": 32, "bits": 8})");
  ExpectRefused("does not fit tensor a.weight [2, 8] in 8 bits");
  start(R"({"group_size": 4294967295, "bits": 4})");
  ExpectRefused("does not fit");
  for (const char* wrong :
       {R"({"group_size": 0, "bits": 4})", R"({"group_size": 32, "bits": 7})", R"({"group_size": 32, "bits": 1})",
        R"({"group_size": 32, "bits": 33})", R"({"group_size": 32, "bits": 4, "mode": "fp3"})"}) {
    start(wrong);
    ExpectRefused("config.json: quantization");
  }
}

}  // namespace
}  // namespace fovea::tools
