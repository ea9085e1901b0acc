// Decoders with experts (MoE): how configurations describe them, and the ways in which experts are stored.
#include <cmath>
#include <random>

#include "runtime/blob/attributes.h"
#include "runtime/blob/numbers.h"
#include "tests/convert/architecture_support.h"
#include "tests/support/by_name.h"
#include "tests/support/model_builder.h"
#include "tools/measure/synthetic_batch.h"
#include "tools/model/batch.h"

namespace fovea::tools {
namespace {

using test::ReadOperation;

std::vector<ReadOperation> OperationsOf(const std::vector<uint8_t>& blob, const char* op) {
  const test::ReadBlob read = test::SecondReader(blob);
  const uint32_t code = test::OperationCode(op);
  std::vector<ReadOperation> found;
  for (const ReadOperation& operation : read.programs[0].operations) {
    if (operation.code == code) found.push_back(operation);
  }
  return found;
}

uint32_t BitsOf(const ReadOperation& operation, Attribute key, uint32_t absent = 0) {
  const auto found = operation.attributes.find(static_cast<uint32_t>(key));
  return found == operation.attributes.end() ? absent : found->second;
}

float RealOf(const ReadOperation& operation, Attribute key) {
  const uint32_t bits = BitsOf(operation, key);
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

using Mixtures = Architecture;

TEST_F(Mixtures, SharesOfTheChosenOrOfAll) {
  const struct {
    const char* golden;
    const char* changes;
    ExpertsKind kind;
    size_t layers;
  } cases[] = {
      {"mixtral", "{}", ExpertsKind::kOfChosen, 2},
      {"olmoe", "{}", ExpertsKind::kOfAll, 2},
      {"olmoe", R"({"norm_topk_prob": null})", ExpertsKind::kOfAll, 2},
      {"olmoe", R"({"norm_topk_prob": true})", ExpertsKind::kOfChosen, 2},
      {"qwen2_moe", "{}", ExpertsKind::kOfAll, 2},
      {"qwen2_moe", R"({"norm_topk_prob": true})", ExpertsKind::kOfChosen, 2},
      {"qwen3_moe", "{}", ExpertsKind::kOfChosen, 2},
      {"qwen3_moe", R"({"norm_topk_prob": false})", ExpertsKind::kOfAll, 2},
      {"gpt_oss", "{}", ExpertsKind::kOfChosen, 3},
  };
  for (const auto& c : cases) {
    Copy(c.golden);
    Change(c.changes);
    size_t sums = 0;
    for (const ReadOperation& operation : OperationsOf(Blob(), "experts")) {
      EXPECT_EQ(BitsOf(operation, Attribute::kTopK), 2u);
      const auto kind = static_cast<ExpertsKind>(BitsOf(operation, Attribute::kKind));
      if (kind == ExpertsKind::kApart) continue;
      EXPECT_EQ(kind, c.kind) << c.golden << c.changes;
      ++sums;
    }
    EXPECT_EQ(sums, c.layers) << c.golden << c.changes;
    EXPECT_TRUE(report_.warnings.empty()) << c.golden << ": " << report_.warnings[0];
  }
}

TEST_F(Mixtures, CountsThatTheTensorsDoNotHave) {
  Copy("mixtral");
  ExpectRefused("no tensor model.layers.0.block_sparse_moe.experts.4.w1.weight", R"({"num_local_experts": 5})");
  ExpectRefused("scores must have one column per expert: expected 3, found 4", R"({"num_local_experts": 3})");
  ExpectRefused("num_experts_per_tok 5 of 4", R"({"num_experts_per_tok": 5})");
  ExpectRefused("num_experts_per_tok 0 of 4", R"({"num_experts_per_tok": 0})");
  Change("{}");
  ChangeWeights([](Tensors& tensors) { tensors.erase("model.layers.1.block_sparse_moe.experts.2.w3.weight"); });
  ExpectRefused("no tensor model.layers.1.block_sparse_moe.experts.2.w3.weight", "{}");
  ChangeWeights([](Tensors& tensors) { tensors.erase("model.layers.1.block_sparse_moe.gate.weight"); });
  ExpectRefused("no tensor model.layers.1.block_sparse_moe.gate.weight", "{}");
  ChangeWeights([](Tensors& tensors) {
    auto& [shape, values] = tensors.at("model.layers.0.block_sparse_moe.experts.0.w2.weight");
    shape[0] -= 1, values.resize(shape[0] * shape[1]);
  });
  ExpectRefused("weight's rows must be a multiple of experts: expected 4, found 127", "{}");
  ChangeWeights([](Tensors& tensors) {
    tensors["model.layers.0.block_sparse_moe.experts.0.w1.bias"] = {{40}, std::vector<float>(40)};
  });
  ExpectRefused("experts.0.w1.bias is not used by this architecture", "{}");
  Copy("gpt_oss");
  ExpectRefused("cannot be permuted as a tensor of 4 dimensions", R"({"num_local_experts": 3})");
}

TEST_F(Mixtures, LayersWithoutExperts) {
  Copy("qwen3_moe");
  ExpectRefused("no tensor model.layers.0.mlp.gate_proj.weight", R"({"mlp_only_layers": [0, 1]})");
  ExpectRefused("no tensor model.layers.0.mlp.gate_proj.weight",
                R"({"decoder_sparse_step": 2, "num_hidden_layers": 1, "mlp_only_layers": null})");
  ExpectRefused("no tensor model.layers.1.mlp.experts.0.gate_proj.weight", R"({"mlp_only_layers": null})");
  ExpectRefused("decoder_sparse_step must not be 0", R"({"decoder_sparse_step": 0})");
  ExpectRefused("mlp_only_layers must be a list", R"({"mlp_only_layers": 1})");
}

TEST_F(Mixtures, ActivationsBiasesAndWindows) {
  for (const char* golden : {"mixtral", "olmoe", "qwen2_moe", "qwen3_moe"}) {
    Copy(golden);
    Change(R"({"hidden_act": "gelu"})");
    size_t gates = 0;
    for (const ReadOperation& gate : OperationsOf(Blob(), "gate")) {
      const auto activation = static_cast<Activation>(BitsOf(gate, Attribute::kActivation));
      if (activation == Activation::kSigmoid) continue;  // the shared expert's gate
      EXPECT_EQ(activation, Activation::kGelu) << golden;
      ++gates;
    }
    EXPECT_GE(gates, 2u) << golden;
  }
  Copy("gpt_oss");  // has its own mixture
  const std::vector<uint8_t> gpt_oss = Blob();
  Change(R"({"hidden_act": "gelu", "swiglu_limit": 7.0, "initial_context_length": 4096, "experts_per_token": 2})");
  EXPECT_EQ(Blob(), gpt_oss);
  EXPECT_TRUE(report_.warnings.empty());
  ExpectRefused("swiglu_limit 5.0", R"({"swiglu_limit": 5.0})");
  ExpectRefused("rope_scaling is missing", R"({"rope_scaling": null})");
  ExpectRefused("attention_bias", R"({"attention_bias": false})");
  Change(R"({"layer_types": null})");
  EXPECT_EQ(Blob(), gpt_oss);

  Copy("qwen2_moe");
  const std::vector<uint8_t> qwen2 = Blob();
  Change(R"({"sliding_window": 5})");
  EXPECT_EQ(Blob(), qwen2);
  ExpectRefused("use_sliding_window true", R"({"sliding_window": 5, "use_sliding_window": true})");
  ExpectRefused("qkv_bias", R"({"qkv_bias": false})");

  const auto windows = [&](uint32_t left) {
    for (const ReadOperation& attention : OperationsOf(Blob(), "attention")) {
      EXPECT_EQ(BitsOf(attention, Attribute::kLeft, UINT32_MAX), left);
    }
  };
  Copy("qwen3_moe");
  Change(R"({"sliding_window": 5, "max_window_layers": 1})");
  windows(UINT32_MAX);
  Change(R"({"sliding_window": 5, "use_sliding_window": true})");
  windows(4);
  Copy("mixtral");
  Change(R"({"sliding_window": 7})");
  windows(6);
}

// Queries, keys and values of OLMoE may be bounded, before they turn.
TEST_F(Mixtures, ClippedProjections) {
  Copy("olmoe");
  EXPECT_TRUE(OperationsOf(Blob(), "activate").empty());
  Change(R"({"clip_qkv": 0.5})");
  const std::vector<ReadOperation> bounds = OperationsOf(Blob(), "activate");
  ASSERT_EQ(bounds.size(), 6u);
  for (const ReadOperation& bound : bounds) {
    EXPECT_EQ(RealOf(bound, Attribute::kLimit), 0.5f);
    EXPECT_EQ(BitsOf(bound, Attribute::kActivation), 0u);
  }
  EXPECT_EQ(OperationsOf(Blob(), "rotate")[0].inputs[0], bounds[0].output);
  ExpectRefused("clip_qkv", R"({"clip_qkv": -1.0})");
}

// Scores decide which experts run: their layer has no integer weights.
TEST_F(Mixtures, RoutersKeepTheirBits) {
  Copy("mixtral");
  const test::ReadBlob blob = test::SecondReader(Blob("", DType::kI8));
  size_t routers = 0;
  for (const test::ReadTensor& tensor : blob.tensors) {
    const bool router = tensor.name.find("moe.gate.weight") != std::string::npos;
    const bool expert = tensor.name.find("experts.w") != std::string::npos;
    const DType type = router ? DType::kF16 : DType::kI8;
    if (router || expert) {
      EXPECT_EQ(tensor.type, static_cast<uint32_t>(type)) << tensor.name;
    }
    routers += router ? 1 : 0;
  }
  EXPECT_EQ(routers, 2u);
}

std::vector<float> LogitsOf(const std::vector<uint8_t>& bytes) {
  const test::AlignedBytes blob(bytes);
  const Model model(blob.data(), blob.size(), "", {FOVEA_BACKEND_DEFAULT, false});
  Session session = SessionFor(model, SyntheticBatch(model, 0, {11}));
  session.Run();
  return session.Output(*model.FindValue(0, "logits")).values;
}

// Granite's experts are Mixtral's, stored as two tensors.
TEST_F(Mixtures, GraniteIsStoredInAnotherWay) {
  Copy("mixtral");
  const std::vector<float> expected = LogitsOf(Blob());
  ChangeWeights([](Tensors& tensors) {
    for (const char* layer : {"0", "1"}) {
      const std::string moe = std::string("model.layers.") + layer + ".block_sparse_moe.";
      auto &in = tensors[moe + "input_linear.weight"], &out = tensors[moe + "output_linear.weight"];
      in.first = {4, 80, 32}, out.first = {4, 32, 40};
      for (uint32_t e = 0; e < 4; ++e) {
        for (const char* part : {"w1", "w3", "w2"}) {
          const std::string name = moe + "experts." + std::to_string(e) + "." + part + ".weight";
          std::vector<float>& to = part == std::string("w2") ? out.second : in.second;
          to.insert(to.end(), tensors.at(name).second.begin(), tensors.at(name).second.end());
          tensors.erase(name);
        }
      }
      tensors[moe + "router.layer.weight"] = tensors.at(moe + "gate.weight");
      tensors.erase(moe + "gate.weight");
    }
  });
  const char* changes = R"({"model_type": "granitemoe", "architectures": ["GraniteMoeForCausalLM"],
                            "attention_multiplier": 0.25, "embedding_multiplier": 1.0, "residual_multiplier": 1.0,
                            "logits_scaling": 1.0})";
  Change(changes);
  EXPECT_EQ(LogitsOf(Blob()), expected);
  EXPECT_TRUE(report_.warnings.empty());
}

// A published gpt-oss stores its experts in blocks of four-bit numbers, which decode to the same values exactly.
class BlocksOfFourBits : public Mixtures {
 protected:
  static constexpr uint64_t kExperts = 4, kWidth = 64, kMiddle = 32;

  void SetUp() override {
    Copy("gpt_oss");
    const char* changes = R"({"hidden_size": 64, "intermediate_size": 32, "quantization_config":
                             {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}})";
    Change(changes);
  }

  // Random tensors of these sizes; experts as blocks or as the decoded values.
  void Store(bool blocks) {
    std::mt19937 random(7);
    SafetensorsWriter writer;
    const SafetensorsReader golden(golden_ / "model.safetensors");
    for (const auto& [name, tensor] : golden.tensors()) {
      std::vector<uint64_t> shape = tensor.shape;
      uint64_t count = 1;
      for (uint64_t& size : shape) {
        size = size == 36 ? kWidth : size == 14 ? kMiddle : size == 28 ? 2 * kMiddle : size;
        count *= size;
      }
      if (shape.size() == 3) {
        StoreExperts(name, shape[1], shape[2], blocks, random, writer);
        continue;
      }
      std::vector<float> values(count);
      for (float& value : values) value = static_cast<float>(random() % 2001) / 5000 - 0.2f;
      writer.AddFloats(name, shape, values.data());
    }
    std::filesystem::remove(directory_ / "model.safetensors");
    writer.Write(directory_ / "model.safetensors");
  }

 private:
  static void StoreExperts(const std::string& name, uint64_t in, uint64_t out, bool blocks, std::mt19937& random,
                           SafetensorsWriter& writer) {
    constexpr float kValues[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
    std::vector<uint8_t> pairs(kExperts * out * in / 2), powers(pairs.size() / 16);
    for (uint8_t& pair : pairs) pair = static_cast<uint8_t>(random());
    for (uint8_t& power : powers) power = static_cast<uint8_t>(121 + random() % 4);
    if (blocks) {
      writer.Add(name + "_blocks", ElementType::kU8, {kExperts, out, in / 32, 16}, pairs.data());
      writer.Add(name + "_scales", ElementType::kU8, {kExperts, out, in / 32}, powers.data());
      return;
    }
    std::vector<float> values(kExperts * in * out);
    for (uint64_t at = 0; at < values.size(); ++at) {
      const uint64_t expert = at / (in * out), row = at / in % out, column = at % in;
      const float value = kValues[pairs[at / 2] >> (at % 2 * 4) & 15];
      values[(expert * in + column) * out + row] = value * std::ldexp(1.0f, powers[at / 32] - 127);
    }
    writer.AddFloats(name, {kExperts, in, out}, values.data());
  }
};

TEST_F(BlocksOfFourBits, AreWhatTheyStandFor) {
  Store(false);
  const std::vector<uint8_t> plain = Blob();
  Store(true);
  EXPECT_EQ(Blob(), plain);
  EXPECT_TRUE(report_.warnings.empty());
  const std::vector<float> logits = LogitsOf(plain);
  for (const float logit : logits) ASSERT_TRUE(std::isfinite(logit));
}

TEST_F(BlocksOfFourBits, OtherWaysAreRefused) {
  Store(true);
  ExpectRefused("quantization_config", R"({"hidden_size": 64, "quantization_config": {"quant_method": "gptq"}})");
  SafetensorsWriter writer;
  const SafetensorsReader stored(directory_ / "model.safetensors");
  for (const auto& [name, tensor] : stored.tensors()) {
    if (name != "model.layers.1.mlp.experts.down_proj_scales") {
      writer.Add(name, tensor.type, tensor.shape, tensor.data);
    }
  }
  const std::string bytes = writer.Bytes();
  WriteFile(directory_ / "model.safetensors", bytes.data(), bytes.size());
  ExpectRefused("no tensor model.layers.1.mlp.experts.down_proj_scales", R"({"hidden_size": 64})");
}

}  // namespace
}  // namespace fovea::tools
