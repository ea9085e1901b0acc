// Layers of GPTQ and AWQ: the weights that their formats define, bit for bit, and damaged files.
#include <algorithm>

#include "tests/convert/quantized_support.h"

namespace fovea::tools {
namespace {

float Product(int64_t number, double scale) { return static_cast<float>(static_cast<double>(number) * scale); }

// The three words of 32 numbers of three bits as AutoGPTQ packs them: 10 numbers and the low bits of the next one.
Numbers WordsOfThreeBits(const Numbers& n) {
  Numbers words(3);
  for (uint32_t i = 0; i < 10; ++i) words[0] |= n[i] << 3 * i;
  words[0] |= n[10] << 30;
  words[1] |= n[10] >> 2 & 1;
  for (uint32_t i = 0; i < 10; ++i) words[1] |= n[11 + i] << (3 * i + 1);
  words[1] |= n[21] << 31;
  words[2] |= n[21] >> 1 & 3;
  for (uint32_t i = 0; i < 10; ++i) words[2] |= n[22 + i] << (3 * i + 2);
  return words;
}

Numbers GptqWords(const Numbers& numbers, uint32_t bits) {
  if (bits != 3) return BitString(numbers, bits);
  Numbers words;
  for (size_t i = 0; i < numbers.size(); i += 32) {
    const Numbers three = WordsOfThreeBits({numbers.begin() + static_cast<ptrdiff_t>(i), numbers.end()});
    words.insert(words.end(), three.begin(), three.end());
  }
  return words;
}

class Gptq : public QuantizedFiles {
 protected:
  struct Layer {
    uint32_t bits, inputs, outputs, group;
    bool second = false;   // the format gptq_v2
    bool ordered = false;  // by activations
  };

  // Adds a layer of random numbers and returns its weights.
  std::vector<float> AddLayer(const std::string& name, const Layer& layer) {
    const uint32_t groups = (layer.inputs + layer.group - 1) / layer.group, limit = 1u << layer.bits;
    std::vector<int32_t> order(layer.inputs);
    for (uint32_t i = 0; i < layer.inputs; ++i) order[i] = static_cast<int32_t>(i / layer.group);
    if (layer.ordered) std::shuffle(order.begin(), order.end(), random_);
    const std::vector<float> scales = RandomScales(groups * layer.outputs);
    const Numbers zeros = RandomNumbers(groups * layer.outputs, layer.bits);
    Numbers packed(layer.inputs * layer.bits / 32 * layer.outputs), packed_zeros;
    std::vector<float> weights;
    for (uint32_t o = 0; o < layer.outputs; ++o) {
      const Numbers numbers = RandomNumbers(layer.inputs, layer.bits);
      const Numbers words = GptqWords(numbers, layer.bits);
      for (size_t w = 0; w < words.size(); ++w) packed[w * layer.outputs + o] = words[w];
      for (uint32_t i = 0; i < layer.inputs; ++i) {
        const size_t at = static_cast<size_t>(order[i]) * layer.outputs + o;
        weights.push_back(Product(int64_t{numbers[i]} - zeros[at], scales[at]));
      }
    }
    for (uint32_t g = 0; g < groups; ++g) {
      Numbers row(zeros.begin() + g * layer.outputs, zeros.begin() + (g + 1) * layer.outputs);
      for (uint32_t& zero : row) zero = layer.second ? zero : (zero + limit - 1) % limit;
      const Numbers words = GptqWords(row, layer.bits);
      packed_zeros.insert(packed_zeros.end(), words.begin(), words.end());
    }
    AddWords(name + ".qweight", {layer.inputs * layer.bits / 32, layer.outputs}, packed);
    AddWords(name + ".qzeros", {groups, layer.outputs * layer.bits / 32}, packed_zeros);
    AddHalves(name + ".scales", {groups, layer.outputs}, scales);
    Add(name + ".g_idx", ElementType::kI32, {layer.inputs}, order.data());
    return weights;
  }
};

TEST_F(Gptq, AllBitsAndFormats) {
  for (const uint32_t bits : {2u, 3u, 4u, 8u}) {
    for (const bool second : {false, true}) {
      for (const bool ordered : {false, true}) {
        SCOPED_TRACE(testing::Message() << bits << " bits, v2 " << second << ", ordered " << ordered);
        Start(R"({"quant_method": "gptq", "group_size": 32, "desc_act": false, "sym": false})");
        config_["quantization_config"]["bits"] = bits;
        if (second) config_["quantization_config"]["checkpoint_format"] = "gptq_v2";
        const std::vector<float> weights = AddLayer("a.b", {bits, 96, 64, 32, second, ordered});
        ExpectWeight("a.b.weight", 64, 96, weights);
        EXPECT_TRUE(Found(std::to_string(bits) + " bits, a scale for groups of 32")) << AllFindings();
        EXPECT_EQ(Found("order of activations"), ordered) << AllFindings();
        EXPECT_TRUE(Found("1 layer of gptq")) << AllFindings();
      }
    }
  }
}

TEST_F(Gptq, GroupsOfAllInputsAndGroupsThatAreCut) {
  Start(R"({"quant_method": "gptq", "bits": 4, "group_size": -1})");
  ExpectWeight("a.weight", 32, 64, AddLayer("a", {4, 64, 32, 64}));
  EXPECT_TRUE(Found("a scale for rows")) << AllFindings();
  Start(R"({"quant_method": "gptq", "bits": 4, "group_size": 48})");
  ExpectWeight("a.weight", 32, 128, AddLayer("a", {4, 128, 32, 48}));
}

TEST_F(Gptq, WithoutAnOrderGroupsAreOneAfterTheOther) {
  Start(R"({"quant_method": "gptq", "bits": 4, "group_size": 32})");
  const std::vector<float> weights = AddLayer("a", {4, 96, 32, 32});
  Remove("a.g_idx");
  ExpectWeight("a.weight", 32, 96, weights);
  // exllama takes zeros alone for the same.
  AddWords("a.g_idx", {96}, Numbers(96));
  ExpectWeight("a.weight", 32, 96, weights);
}

TEST_F(Gptq, OtherTensorsStay) {
  Start(R"({"quant_method": "gptq", "bits": 4, "group_size": 32, "lm_head": true})");
  const std::vector<float> weights = AddLayer("lm_head", {4, 32, 32, 32});
  AddFloats("lm_head.bias", {32}, std::vector<float>(32, 1));
  AddFloats("norm.weight", {32}, std::vector<float>(32, 1));
  ExpectWeight("lm_head.weight", 32, 32, weights, {"lm_head.bias", "norm.weight"});
}

TEST_F(Gptq, LayersWithBitsOfTheirOwn) {
  Start(R"({"quant_method": "gptq", "bits": 4, "group_size": 32, "dynamic": {"+:.*b": {"bits": 8}}})");
  AddLayer("a", {4, 32, 32, 32});
  const std::vector<float> weights = AddLayer("b", {8, 64, 32, 32});
  EXPECT_EQ(Read().Get("b.weight").load(), weights);
  config_["quantization_config"].erase("dynamic");
  ExpectRefused("tensor b.qzeros [2, 8] does not hold a number of 4 bits for each of 32 outputs");
}

// quantize_config.json of AutoGPTQ holds where config.json has no settings.
TEST_F(Gptq, SettingsInAFileBesideTheConfiguration) {
  Start();
  const std::vector<float> weights = AddLayer("a", {4, 64, 32, 32});
  ExpectRefused("tensor a.qweight is of a quantized layer, but config.json has no quantization_config");
  const std::string settings = R"({"bits": 4, "group_size": 32, "damp_percent": 0.01, "new": 1})";
  WriteFile((directory_ / "quantize_config.json").string(), settings.data(), settings.size());
  ExpectWeight("a.weight", 32, 64, weights);
  EXPECT_TRUE(Found("quantize_config.json.new is unknown")) << AllFindings();
}

// Quantizers make Linear of Conv1D, which stores [in, out].
TEST_F(Gptq, LayersOfGpt2AreTransposed) {
  Start(R"({"quant_method": "gptq", "bits": 4, "group_size": 32})");
  config_["model_type"] = "gpt2";
  const std::vector<float> weights = AddLayer("h.0.attn.c_attn", {4, 64, 32, 32});
  std::vector<float> transposed;
  for (size_t i = 0; i < 64; ++i) {
    for (size_t o = 0; o < 32; ++o) transposed.push_back(weights[o * 64 + i]);
  }
  ExpectWeight("h.0.attn.c_attn.weight", 64, 32, transposed);
}

TEST_F(Gptq, DamagedLayersAreRefused) {
  const char* settings = R"({"quant_method": "gptq", "bits": 4, "group_size": 32})";
  const auto start = [&](const char* with) {
    Start(with);
    AddLayer("a", {4, 64, 32, 32});
  };
  constexpr auto kI32 = ElementType::kI32;
  start(settings);
  Remove("a.scales");
  ExpectRefused("no tensor a.scales");
  start(settings);
  Remove("a.qzeros");
  ExpectRefused("no tensor a.qzeros");
  start(settings);
  Change("a.qweight", kI32, {0, 32});
  ExpectRefused("tensor a.qweight [0, 32] is empty");
  start(settings);
  Change("a.qweight", ElementType::kF32, {8, 32});
  ExpectRefused("tensor a.qweight [8, 32] is F32");
  start(settings);
  Change("a.scales", ElementType::kF16, {2, 31});
  ExpectRefused("a column for each of 32 outputs");
  start(settings);
  Change("a.scales", ElementType::kF16, {3, 32});
  ExpectRefused("a row for each group");
  start(settings);
  Change("a.qzeros", kI32, {2, 3});
  ExpectRefused("does not hold a number of 4 bits");
  start(settings);
  Change("a.g_idx", kI32, {63});
  ExpectRefused("does not name a group for each of 64 inputs");
  for (const uint32_t wrong : {2u, 0xffffffffu, 0x7fffffffu}) {
    start(settings);
    Numbers order(64);
    order[7] = wrong;
    AddWords("a.g_idx", {64}, order);
    ExpectRefused("of input 7 is out of range: the layer has 2 groups");
  }
  start(R"({"quant_method": "gptq", "bits": 4, "group_size": 16})");
  Remove("a.g_idx");
  ExpectRefused("does not have a row for each group of 16 of 64 inputs");
  start(R"({"quant_method": "gptq", "bits": 4, "group_size": 0})");
  ExpectRefused("group_size 0 is not valid");
  start(R"({"quant_method": "gptq", "bits": 4, "group_size": -2})");
  ExpectRefused("group_size");
  for (const char* bits : {"0", "1", "5", "16", "32", "-4", "4.5", "\"4\""}) {
    start((std::string(R"({"quant_method": "gptq", "group_size": 32, "bits": )") + bits + "}").c_str());
    ExpectRefused("bits");
  }
  // Rows of three bits are whole words only for 32 inputs.
  Start(R"({"quant_method": "gptq", "bits": 3, "group_size": 32})");
  AddLayer("a", {3, 64, 32, 32});
  Change("a.qweight", kI32, {5, 32});
  ExpectRefused("does not hold whole numbers of 3 bits for each output");
  start(R"({"quant_method": "gptq", "bits": 4, "group_size": 32, "checkpoint_format": "marlin"})");
  ExpectRefused("checkpoint_format marlin is a layout for one kind of GPU");
  start(settings);
  AddFloats("a.weight", {32, 64}, std::vector<float>(32 * 64));
  EXPECT_EQ(Refusal(), "") << "the parts of the layer hold";
}

class Awq : public QuantizedFiles {
 protected:
  struct Layer {
    uint32_t inputs, outputs, group;
  };
  Numbers numbers_, zeros_;  // [outputs, inputs], [outputs, groups]
  std::vector<float> scales_;

  std::vector<float> Make(const Layer& layer) {
    const uint32_t groups = layer.inputs / layer.group;
    numbers_ = RandomNumbers(layer.outputs * layer.inputs, 4);
    zeros_ = RandomNumbers(layer.outputs * groups, 4);
    scales_ = RandomScales(layer.outputs * groups);
    std::vector<float> weights;
    for (uint32_t o = 0; o < layer.outputs; ++o) {
      for (uint32_t i = 0; i < layer.inputs; ++i) {
        const size_t at = o * groups + i / layer.group;
        weights.push_back(Product(int64_t{numbers_[o * layer.inputs + i]} - zeros_[at], scales_[at]));
      }
    }
    return weights;
  }

  // Eight outputs in a word, in AutoAWQ's order.
  static Numbers InOrder(const Numbers& of_outputs) {
    constexpr uint32_t kOrder[] = {0, 2, 4, 6, 1, 3, 5, 7};
    Numbers words;
    for (size_t first = 0; first < of_outputs.size(); first += 8) {
      uint32_t word = 0;
      for (uint32_t place = 0; place < 8; ++place) word |= of_outputs[first + kOrder[place]] << 4 * place;
      words.push_back(word);
    }
    return words;
  }

  std::vector<float> AddGemm(const std::string& name, const Layer& layer) {
    const std::vector<float> weights = Make(layer);
    const uint32_t groups = layer.inputs / layer.group;
    Numbers packed, packed_zeros;
    std::vector<float> scales;
    const auto add = [&](const Numbers& of, uint32_t width, uint32_t at, Numbers& to) {
      Numbers column;
      for (uint32_t o = 0; o < layer.outputs; ++o) column.push_back(of[o * width + at]);
      const Numbers words = InOrder(column);
      to.insert(to.end(), words.begin(), words.end());
    };
    for (uint32_t i = 0; i < layer.inputs; ++i) add(numbers_, layer.inputs, i, packed);
    for (uint32_t g = 0; g < groups; ++g) {
      add(zeros_, groups, g, packed_zeros);
      for (uint32_t o = 0; o < layer.outputs; ++o) scales.push_back(scales_[o * groups + g]);
    }
    AddWords(name + ".qweight", {layer.inputs, layer.outputs / 8}, packed);
    AddWords(name + ".qzeros", {groups, layer.outputs / 8}, packed_zeros);
    AddHalves(name + ".scales", {groups, layer.outputs}, scales);
    return weights;
  }
};

TEST_F(Awq, Gemm) {
  for (const char* version : {"gemm", "GEMM", "exllama"}) {
    Start(
        R"({"quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": true, "modules_to_not_convert": null})");
    config_["quantization_config"]["version"] = version;
    ExpectWeight("a.weight", 24, 96, AddGemm("a", {96, 24, 32}));
    EXPECT_TRUE(Found("1 layer of awq: 4 bits, a scale for groups of 32")) << AllFindings();
  }
  Start(R"({"quant_method": "awq", "bits": 4, "group_size": -1})");
  ExpectWeight("a.weight", 8, 40, AddGemm("a", {40, 8, 40}));
  // Older files of AutoAWQ.
  Start();
  const std::string settings = R"({"zero_point": true, "q_group_size": 32, "w_bit": 4, "version": "GEMM"})";
  WriteFile((directory_ / "quant_config.json").string(), settings.data(), settings.size());
  ExpectWeight("a.weight", 24, 64, AddGemm("a", {64, 24, 32}));
}

TEST_F(Awq, Gemv) {
  Start(R"({"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemv"})");
  constexpr Layer kLayer = {96, 16, 32};
  const std::vector<float> weights = Make(kLayer);
  // Three groups are padded to four words of zeros.
  Numbers zeros;
  std::vector<float> scales;
  for (size_t o = 0; o < 16; ++o) {
    for (size_t g = 0; g < 32; ++g) {
      zeros.push_back(g < 3 ? zeros_[o * 3 + g] : 0);
      scales.push_back(g < 3 ? scales_[o * 3 + g] : 0);
    }
  }
  AddWords("a.qweight", {16, 12}, BitString(numbers_, 4));
  AddWords("a.qzeros", {16, 4}, BitString(zeros, 4));
  AddHalves("a.scales", {16, 32}, scales);
  ExpectWeight("a.weight", 16, 96, weights);
  Change("a.qzeros", ElementType::kI32, {15, 4});
  ExpectRefused("16 outputs and at least 3 groups of 32 inputs are expected");
}

// The four steps of AutoAWQ's pack_intweight, one after the other.
TEST_F(Awq, GemvFast) {
  Start(R"({"quant_method": "awq", "bits": 4, "group_size": 64, "version": "gemv_fast"})");
  constexpr size_t kInputs = 128, kOutputs = 16, kGroups = 2;
  Make({kInputs, kOutputs, 64});
  Numbers steps = numbers_, next(steps.size());
  for (size_t block = 0; block < steps.size(); block += 32) {
    for (size_t a = 0; a < 4; ++a) {
      for (size_t b = 0; b < 4; ++b) {
        for (size_t c = 0; c < 2; ++c) next[block + (b * 4 + a) * 2 + c] = steps[block + (a * 4 + b) * 2 + c];
      }
    }
  }
  steps = next;
  for (size_t eight = 0; eight < steps.size(); eight += 8) {
    for (size_t i = 0; i < 8; ++i) next[eight + i % 2 * 4 + i / 2] = steps[eight + i];
  }
  std::vector<uint16_t> words;
  for (size_t o = 0; o < kOutputs; o += 4) {
    for (size_t k = 0; k < kInputs; k += 64) {
      Numbers together;  // from four rows
      for (size_t r = 0; r < 4; ++r) {
        for (size_t i = 0; i < 64; ++i) together.push_back(next[(o + r) * kInputs + k + i]);
      }
      for (size_t i = 0; i < 256; i += 4) {
        words.push_back(
            static_cast<uint16_t>(together[i] | together[i + 1] << 4 | together[i + 2] << 8 | together[i + 3] << 12));
      }
    }
  }
  std::vector<float> scales(8 * kOutputs), zeros(8 * kOutputs), weights;
  for (size_t o = 0; o < kOutputs; ++o) {
    for (size_t g = 0; g < kGroups; ++g) {
      scales[g * kOutputs + o] = scales_[o * kGroups + g];
      zeros[g * kOutputs + o] =
          FromHalf(ToHalf(-scales_[o * kGroups + g] * static_cast<float>(zeros_[o * kGroups + g])));
    }
    for (size_t i = 0; i < kInputs; ++i) {
      const size_t at = i / 64 * kOutputs + o;
      weights.push_back(static_cast<float>(double{scales[at]} * numbers_[o * kInputs + i] + zeros[at]));
    }
  }
  Add("a.qweight", ElementType::kI16, {kOutputs / 4, kInputs}, words.data());
  AddHalves("a.scales", {8, kOutputs}, scales);
  AddHalves("a.scaled_zeros", {8, kOutputs}, zeros);
  ExpectWeight("a.weight", kOutputs, kInputs, weights);
  Change("a.qweight", ElementType::kI16, {kOutputs / 4, 100});
  ExpectRefused("do not belong to tensor a.qweight [4, 100]");
}

TEST_F(Awq, DamagedLayersAreRefused) {
  const char* settings = R"({"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemm"})";
  const auto start = [&](const char* with) {
    Start(with);
    AddGemm("a", {64, 16, 32});
  };
  for (const char* part : {"a.scales", "a.qzeros"}) {
    start(settings);
    Remove(part);
    ExpectRefused(std::string("no tensor ") + part);
  }
  start(settings);
  Change("a.scales", ElementType::kF16, {3, 16});
  ExpectRefused("2 groups of 32 inputs and 16 outputs are expected");
  start(settings);
  Change("a.qzeros", ElementType::kI32, {2, 3});
  ExpectRefused("2 groups of 32 inputs and 16 outputs are expected");
  start(R"({"quant_method": "awq", "bits": 3, "group_size": 32})");
  ExpectRefused("bits 3 is not supported for awq");
  start(R"({"quant_method": "awq", "bits": 4, "group_size": 0})");
  ExpectRefused("group_size 0 is not valid");
  start(R"({"quant_method": "awq", "bits": 4, "group_size": 32, "version": "marlin"})");
  ExpectRefused("awq version marlin");
  start(R"({"quant_method": "awq", "bits": 4, "group_size": 32, "backend": "llm-awq"})");
  ExpectRefused("backend llm-awq");
}

TEST_F(QuantizedFiles, MethodsThatCannotBeReadAreNamed) {
  for (const char* method :
       {"bitnet", "hqq", "eetq", "quanto", "aqlm", "vptq", "torchao", "higgs", "exl2", "auto-round"}) {
    Start();
    config_["quantization_config"] = {{"quant_method", method}, {"bits", 4}};
    ExpectRefused(std::string("weights quantized by ") + method + " are not supported");
    ExpectRefused("convert the unquantized model, or a GGUF file of it");
  }
}

TEST_F(QuantizedFiles, SettingsWithoutAMethod) {
  Start(R"({"modules_to_not_convert": ["lm_head"]})");
  AddFloats("a.weight", {1, 2}, {1, 2});
  ExpectWeight("a.weight", 1, 2, {1, 2});
  EXPECT_TRUE(Found("names no method")) << AllFindings();
  Start(R"({"quant_method": "none"})");
  AddFloats("a.weight", {1, 2}, {1, 2});
  ExpectWeight("a.weight", 1, 2, {1, 2});
  Start(R"({"bits": 4})");
  ExpectRefused("has bits but no quant_method");
  Start("[4]");
  ExpectRefused("quantization_config");
  // A statement that no tensor bears out.
  for (const char* method : {"gptq", "awq", "bitsandbytes", "fp8", "modelopt"}) {
    Start();
    config_["quantization_config"] = {{"quant_method", method}, {"bits", 4}};
    AddFloats("a.weight", {1, 2}, {1, 2});
    ExpectRefused(std::string("states ") + method + ", but no layer has the tensors of that method");
  }
}

}  // namespace
}  // namespace fovea::tools
