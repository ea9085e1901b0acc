// Adapters of PEFT: the blob is that of a base into whose weights a plain loop has added them. All numbers are small
// multiples of powers of two, so that sums are exact in any order.
#include <math.h>

#include "tests/convert/architecture_support.h"
#include "tests/support/torch_writer.h"

namespace fovea::tools {
namespace {

namespace fs = std::filesystem;

const std::string kFront = "base_model.model.";

class AdapterFiles : public Architecture {
 protected:
  // Numbers that are exact in any sum.
  static std::vector<float> Simple(uint64_t count, int seed) {
    std::vector<float> values(count);
    for (uint64_t i = 0; i < count; ++i) values[i] = static_cast<float>((static_cast<int>(i) * 7 + seed) % 9 - 4) / 8;
    return values;
  }
  // A golden model whose weights are such numbers.
  void CopySimple(const std::string& name) {
    Copy(name);
    ChangeWeights([](Tensors& tensors) {
      for (auto& [tensor_name, tensor] : tensors) tensor.second = Simple(tensor.second.size(), 3);
      tensors_of_base = tensors;
    });
  }
  // W + scale * B A, by plain loops.
  static std::vector<float> Added(const std::pair<std::vector<uint64_t>, std::vector<float>>& weight, float scale,
                                  const std::vector<float>& a, const std::vector<float>& b, uint64_t rank,
                                  bool transposed = false) {
    std::vector<float> sum = weight.second;
    const uint64_t rows = weight.first[0], width = weight.first[1];
    const uint64_t outer = transposed ? width : rows, inner = transposed ? rows : width;
    for (uint64_t i = 0; i < outer; ++i) {
      for (uint64_t k = 0; k < inner; ++k) {
        for (uint64_t r = 0; r < rank; ++r) {
          sum[transposed ? k * width + i : i * width + k] += scale * b[i * rank + r] * a[r * inner + k];
        }
      }
    }
    return sum;
  }
  void WriteAdapter(const Tensors& tensors, const std::string& config, bool torch = false) {
    fs::remove_all(directory_ / "adapter");
    Write("adapter/adapter_config.json", config);
    SafetensorsWriter writer;
    std::vector<test::torch::Floats> floats;
    for (const auto& [name, tensor] : tensors) {
      writer.AddFloats(kFront + name, tensor.first, tensor.second.data());
      floats.push_back({kFront + name, tensor.first, tensor.second});
    }
    if (torch) {
      Write("adapter/adapter_model.bin", test::torch::StateDictFile(floats));
    } else {
      Write("adapter/adapter_model.safetensors", writer.Bytes());
    }
  }
  std::vector<uint8_t> Adapted() {
    ConvertOptions options = Options();
    options.adapter = (directory_ / "adapter").string();
    report_ = {};
    return BuildBlob(Describe(options), options, report_);
  }
  void ExpectRefusal(const std::string& part) {
    try {
      Adapted();
      ADD_FAILURE() << part;
    } catch (const Failure& failure) {
      EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
    }
  }
  // The blob of the base with these tensors changed.
  std::vector<uint8_t> BlobWith(const Tensors& changed) {
    ChangeWeights([&](Tensors& tensors) {
      tensors = tensors_of_base;
      for (const auto& [name, tensor] : changed) tensors[name] = tensor;
    });
    const std::vector<uint8_t> blob = Blob();
    ChangeWeights([&](Tensors& tensors) { tensors = tensors_of_base; });
    return blob;
  }

  static Tensors tensors_of_base;
};
Architecture::Tensors AdapterFiles::tensors_of_base;

TEST_F(AdapterFiles, LinearLayersAreMerged) {
  CopySimple("llama");
  const std::string module = "model.layers.0.self_attn.q_proj", other = "model.layers.1.mlp.down_proj";
  const auto weight = tensors_of_base.at(module + ".weight"), down = tensors_of_base.at(other + ".weight");
  const uint64_t rank = 4;
  const std::vector<float> a = Simple(rank * weight.first[1], 1), b = Simple(weight.first[0] * rank, 2);
  const std::vector<float> a2 = Simple(rank * down.first[1], 5), b2 = Simple(down.first[0] * rank, 6);
  const Tensors adapter = {{module + ".lora_A.weight", {{rank, weight.first[1]}, a}},
                           {module + ".lora_B.weight", {{weight.first[0], rank}, b}},
                           {other + ".lora_A.weight", {{rank, down.first[1]}, a2}},
                           {other + ".lora_B.weight", {{down.first[0], rank}, b2}}};
  const auto merged = [&](float scale, float scale2) {
    return BlobWith({{module + ".weight", {weight.first, Added(weight, scale, a, b, rank)}},
                     {other + ".weight", {down.first, Added(down, scale2, a2, b2, rank)}}});
  };
  for (const bool torch : {false, true}) {
    WriteAdapter(adapter, R"({"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj"]})", torch);
    EXPECT_EQ(Adapted(), merged(2, 2));
  }
  EXPECT_NE(Adapted(), Blob());
  WriteAdapter(adapter, R"({"r": 4, "lora_alpha": 8, "use_rslora": true})");
  EXPECT_EQ(Adapted(), merged(4, 4));
  WriteAdapter(adapter, R"({"r": 8, "lora_alpha": 4, "rank_pattern": {"q_proj": 4, "1.mlp.down_proj": 4},
                            "alpha_pattern": {"down_proj": 16}})");
  EXPECT_EQ(Adapted(), merged(1, 4));
  WriteAdapter(adapter, R"({"r": 4, "lora_alpha": 8, "future_key": 7})");
  Adapted();
  const auto says = [](const Finding& finding) {
    return finding.text.find("unknown keys future_key") != std::string::npos;
  };
  EXPECT_TRUE(std::any_of(report_.findings.begin(), report_.findings.end(), says));
}

TEST_F(AdapterFiles, TransposedEmbeddingsAndReplacedModules) {
  CopySimple("gpt2");
  const std::string module = "h.0.mlp.c_fc", words = "wte";
  const auto find = [](const std::string& end) {
    for (const auto& entry : tensors_of_base) {
      if (entry.first == end || entry.first == "transformer." + end) return entry.first;
    }
    return std::string();
  };
  const std::string fc = find(module + ".weight"), wte = find(words + ".weight"), bias = find(module + ".bias");
  ASSERT_FALSE(fc.empty() || wte.empty() || bias.empty());
  const auto weight = tensors_of_base.at(fc), table = tensors_of_base.at(wte);
  const std::vector<float> a = Simple(2 * weight.first[0], 1), b = Simple(weight.first[1] * 2, 2);
  const std::vector<float> a2 = Simple(2 * table.first[0], 5), b2 = Simple(table.first[1] * 2, 6);
  const std::vector<float> new_bias = Simple(tensors_of_base.at(bias).second.size(), 8);
  WriteAdapter({{"transformer." + module + ".lora_A.default.weight", {{2, weight.first[0]}, a}},
                {"transformer." + module + ".lora_B.default.weight", {{weight.first[1], 2}, b}},
                {"transformer." + words + ".lora_embedding_A", {{2, table.first[0]}, a2}},
                {"transformer." + words + ".lora_embedding_B", {{table.first[1], 2}, b2}},
                {"transformer." + module + ".base_layer.bias", {{new_bias.size()}, new_bias}}},
               R"({"r": 2, "lora_alpha": 2, "fan_in_fan_out": true, "bias": "all"})");
  EXPECT_EQ(Adapted(), BlobWith({{fc, {weight.first, Added(weight, 1, a, b, 2, true)}},
                                 {wte, {table.first, Added(table, 1, a2, b2, 2, true)}},
                                 {bias, {{new_bias.size()}, new_bias}}}));
}

// Each row at the length that the adapter stores: here that of the row itself times 2, so that rows double.
TEST_F(AdapterFiles, Dora) {
  CopySimple("llama");
  const std::string module = "model.layers.0.self_attn.q_proj";
  const auto weight = tensors_of_base.at(module + ".weight");
  const uint64_t rows = weight.first[0], width = weight.first[1];
  const std::vector<float> a = Simple(2 * width, 1), b = Simple(rows * 2, 2);
  std::vector<float> sum = Added(weight, 1, a, b, 2), lengths(rows);
  for (uint64_t i = 0; i < rows; ++i) {
    double square = 0;
    for (uint64_t k = 0; k < width; ++k)
      square += static_cast<double>(sum[i * width + k]) * static_cast<double>(sum[i * width + k]);
    lengths[i] = static_cast<float>(2 * sqrt(square));
  }
  WriteAdapter({{module + ".lora_A.weight", {{2, width}, a}},
                {module + ".lora_B.weight", {{rows, 2}, b}},
                {module + ".lora_magnitude_vector", {{rows}, lengths}}},
               R"({"r": 2, "lora_alpha": 2, "use_dora": true})");
  ConvertOptions options = Options();
  options.adapter = (directory_ / "adapter").string();
  const std::vector<float> merged = Describe(options).weights.Get(module + ".weight").load();
  ASSERT_EQ(merged.size(), sum.size());
  for (size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(merged[i], 2 * sum[i], 1e-5) << i;
}

TEST_F(AdapterFiles, HeadsOfTheAdapterAreAdded) {
  Copy("bert-seqcls");
  const std::vector<uint8_t> golden = Blob();
  Tensors head;
  ChangeWeights([&](Tensors& tensors) {
    for (const char* name : {"classifier.weight", "classifier.bias"}) {
      head[name] = tensors.at(name);
      tensors.erase(name);
    }
  });
  WriteAdapter(head, R"({"modules_to_save": ["classifier"]})");
  EXPECT_EQ(Adapted(), golden);
  WriteAdapter(head, R"({"modules_to_save": ["score"]})");
  ExpectRefusal("of the adapter has no place in the base");
}

TEST_F(AdapterFiles, WhatIsNotSupportedIsRefusedByName) {
  Copy("llama");
  const uint64_t width = 8;
  const std::string q = "model.layers.0.self_attn.q_proj";
  const Tensors none = {{"x.lora_A.weight", {{2, width}, Simple(2 * width, 1)}},
                        {"x.lora_B.weight", {{width, 2}, Simple(2 * width, 1)}}};
  for (const auto& [config, message] : std::vector<std::pair<const char*, const char*>>{
           {R"({"peft_type": "IA3"})", "peft_type IA3 is not supported, LORA is"},
           {R"({"peft_type": "PREFIX_TUNING"})", "peft_type PREFIX_TUNING is not supported"},
           {R"({"lora_bias": true})", "lora_bias is not supported"},
           {R"({"layer_replication": [[0, 1]]})", "layer_replication is not supported"},
           {R"({"init_lora_weights": "pissa_niter_4"})",
            "init_lora_weights \"pissa_niter_4\" changes the base's weights"},
           {R"({"r": 2})", "the base has no tensor x.weight; is it another base?"}}) {
    WriteAdapter(none, config);
    ExpectRefusal(message);
  }
  WriteAdapter({{q + ".lora_A.weight", {{2, width}, Simple(2 * width, 1)}}}, R"({"r": 2})");
  ExpectRefusal("needs matrices A and B");
  WriteAdapter(
      {{q + ".lora_A.weight", {{2, width}, Simple(2 * width, 1)}}, {q + ".lora_B.weight", {{1, 2}, Simple(2, 1)}}},
      R"({"r": 2})");
  ExpectRefusal("B A is [1, 8], tensor model.layers.0.self_attn.q_proj.weight of the base is [");
  WriteAdapter({{q + ".lora_E", {{2}, {1, 1}}}}, R"({"r": 2})");
  ExpectRefusal("lora_E of the adapter is not supported");
  fs::remove(directory_ / "adapter/adapter_model.safetensors");
  ExpectRefusal("has no adapter_model.safetensors");
  fs::remove(directory_ / "adapter/adapter_config.json");
  ExpectRefusal("--adapter needs the directory of an adapter");
}

TEST_F(AdapterFiles, AnAdapterThatIsNotMergedIsNamed) {
  Copy("llama");
  const std::vector<uint8_t> golden = Blob();
  Write("adapter_config.json", R"({"base_model_name_or_path": "some/base"})");
  EXPECT_EQ(Blob(), golden);
  ASSERT_FALSE(report_.warnings.empty());
  EXPECT_NE(report_.warnings[0].find("an adapter is beside the base and was not merged; --adapter"), std::string::npos);
  fs::remove(directory_ / "model.safetensors");
  try {
    Blob();
    ADD_FAILURE();
  } catch (const Failure& failure) {
    const std::string said = failure.what();
    EXPECT_NE(said.find("is an adapter (adapter_config.json) without its base; download some/base"), std::string::npos)
        << said;
  }
}

}  // namespace
}  // namespace fovea::tools
