// Decoders like Llama with a mixture of experts (MoE), one function for each.
#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/arch/llama_like.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

// The numbers of experts, and of the experts that are chosen for each token.
MixtureOfExperts ReadMixture(const Config& config, const char* count_key, uint32_t count, uint32_t chosen) {
  MixtureOfExperts mixture;
  mixture.count = config.Number(count_key, count);
  mixture.chosen = config.Number("num_experts_per_tok", chosen);
  if (mixture.chosen == 0 || mixture.chosen > mixture.count) {
    Fail("config.json: num_experts_per_tok {} of {} {} are not supported", mixture.chosen, mixture.count, count_key);
  }
  return mixture;
}

// Qwen: some layers have a plain feed-forward.
MixtureOfExperts ReadQwenMixture(const Config& config, uint32_t count, uint32_t chosen) {
  MixtureOfExperts mixture = ReadMixture(config, "num_experts", count, chosen);
  mixture.of_all = !config.Flag("norm_topk_prob", false);
  const Json& plain = config.Get("mlp_only_layers");
  if (!plain.is_null() && !plain.is_array()) Fail("config.json: mlp_only_layers must be a list of layers");
  const uint32_t step = config.Number("decoder_sparse_step", 1);
  if (step == 0) Fail("config.json: decoder_sparse_step must not be 0");
  mixture.has = [&plain, step](uint32_t i) {
    return std::none_of(plain.begin(), plain.end(), [i](const Json& layer) { return layer == i; }) &&
           (i + 1) % step == 0;
  };
  config.Ignore({"moe_intermediate_size"});  // follows from the tensors
  return mixture;
}

// Rows of one expert in a tensor of all, of which each is `width` wide.
uint32_t RowsOfOne(const Constant& all, uint32_t experts, uint32_t width) {
  return static_cast<uint32_t>(uint64_t{all.rows} * all.width / experts / width);
}

// Splits stored layers of all experts, whose results are gates and factors, into `<experts>.gate` and `<experts>.up`.
// `shape` is the tensor's; `order` puts the axis of gates and factors first, then experts, rows, columns.
void SplitGates(Weights& weights, const std::string& experts, const Constant& whole, std::vector<uint32_t> shape,
                const std::vector<uint32_t>& order, const char* kind) {
  const bool bias = kind == std::string(".bias");
  const uint32_t columns = bias ? 1 : shape[order[3]];
  const Constant both = Permute(whole, std::move(shape), order);
  const uint32_t rows = both.width / columns;
  const Constant joined = bias ? both : Reshape(both, 2 * rows, columns);
  for (uint32_t i = 0; i < 2; ++i) {
    const Constant part = bias ? Slice(joined, {i, i + 1}) : Slice(joined, {i * rows, (i + 1) * rows});
    weights.Add(experts + (i == 0 ? ".gate" : ".up") + kind, part, uint64_t{both.rows} * both.width);
  }
}

}  // namespace

// The original: transformers/models/mixtral/modeling_mixtral.py: MixtralModel.
void DescribeMixtral(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family;
  family.norms = {"rms", config.Real("rms_norm_eps", 1e-5)};
  family.rotary.absent = family.sliding_rotary.absent = 1e6;
  family.mixture = ReadMixture(config, "num_local_experts", 8, 2);
  family.mixture->module = "block_sparse_moe";
  family.mixture->gate = "w1";
  family.mixture->up = "w3";
  family.mixture->down = "w2";
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/olmoe/modeling_olmoe.py: OlmoeModel.
void DescribeOlmoe(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family;
  family.norms = {"rms", config.Real("rms_norm_eps", 1e-5)};
  family.query_norm = "q_norm";
  family.key_norm = "k_norm";
  family.projection_limit = config.Real("clip_qkv", 0);
  if (family.projection_limit < 0) Fail("config.json: clip_qkv {} is not supported", family.projection_limit);
  config.Only("sliding_window", nullptr);
  family.mixture = ReadMixture(config, "num_experts", 64, 8);
  family.mixture->of_all = !config.Flag("norm_topk_prob", false);
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/qwen2_moe/modeling_qwen2_moe.py: Qwen2MoeModel.
void DescribeQwen2Moe(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family;
  family.norms.kind = "rms";
  RefuseBiases(checkpoint, description.weights, "qkv_bias", true,
               {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"});
  // Versions of the original library disagree about which layers would slide.
  config.Only("use_sliding_window", false);
  config.Ignore({"max_window_layers"});  // no layer slides
  family.slides = [](uint32_t) { return false; };
  family.mixture = ReadQwenMixture(config, 60, 4);
  family.mixture->shared = "shared_expert";
  family.mixture->share = "shared_expert_gate";
  config.Ignore({"shared_expert_intermediate_size"});  // follows from the tensors
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/qwen3_moe/modeling_qwen3_moe.py: Qwen3MoeModel.
void DescribeQwen3Moe(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family;
  family.norms.kind = "rms";
  family.query_norm = "q_norm";
  family.key_norm = "k_norm";
  const bool slides = config.Flag("use_sliding_window", false);
  config.Ignore({"max_window_layers"});  // the original lets all layers slide or none
  family.slides = [slides](uint32_t) { return slides; };
  family.mixture = ReadQwenMixture(config, 128, 8);
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/granitemoe/modeling_granitemoe.py: GraniteMoeModel.
void DescribeGraniteMoe(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family = GraniteLike(config);
  family.mixture = ReadMixture(config, "num_local_experts", 8, 2);
  family.mixture->module = "block_sparse_moe";
  family.mixture->router = "router.layer";
  family.mixture->gate = "gate";
  family.mixture->up = "up";
  family.mixture->down = "down";
  const uint32_t experts = family.mixture->count, width = config.Number("hidden_size");
  DescribeLlamaLike(family, checkpoint, description, [experts, width](Weights& weights, const std::string& at) {
    const std::string from = at + "block_sparse_moe.", to = from + "experts";
    if (weights.Has(to + ".gate.weight")) return;  // GGUF files store them apart
    const Constant in = weights.Get(from + "input_linear.weight"), out = weights.Get(from + "output_linear.weight");
    SplitGates(weights, to, in, {experts, 2, RowsOfOne(in, experts, width) / 2, width}, {1, 0, 2, 3}, ".weight");
    weights.Add(to + ".down.weight", Reshape(out, experts * width, RowsOfOne(out, experts, width)));
  });
}

namespace {

// The matrices of an expert are stored as [in, out]; as blocks of MXFP4 as [out, in].
void NameGptOssExperts(Weights& weights, const std::string& experts, uint32_t count, uint32_t width) {
  if (weights.Has(experts + ".gate.weight")) return;  // GGUF files store them apart
  const auto bias = [&](const char* name) { return weights.Get(experts + name + "_bias"); };
  const std::string in = experts + ".gate_up_proj", out = experts + ".down_proj";
  const bool blocks = weights.Has(in + "_blocks");
  const auto stored = [&](const std::string& name) {
    return blocks ? Mxfp4(weights.Get(name + "_blocks"), weights.Get(name + "_scales")) : weights.Get(name);
  };
  const Constant gates = stored(in), down = stored(out);
  const uint32_t middle = RowsOfOne(gates, count, width) / 2;  // a gate beside each factor
  SplitGates(weights, experts, gates,
             blocks ? std::vector<uint32_t>{count, middle, 2, width} : std::vector<uint32_t>{count, width, middle, 2},
             blocks ? std::vector<uint32_t>{2, 0, 1, 3} : std::vector<uint32_t>{3, 0, 2, 1}, ".weight");
  SplitGates(weights, experts, bias(".gate_up_proj"), {count, middle, 2}, {2, 0, 1}, ".bias");
  const Constant turned = blocks ? down : Permute(down, {count, middle, width}, {0, 2, 1});
  weights.Add(experts + ".down.weight", Reshape(turned, count * width, middle), uint64_t{down.rows} * down.width);
  weights.Add(experts + ".down.bias", Reshape(bias(".down_proj"), 1, count * width));
}

}  // namespace

// The original: transformers/models/gpt_oss/modeling_gpt_oss.py: GptOssModel.
void DescribeGptOss(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family;
  family.norms = {"rms", config.Real("rms_norm_eps", 1e-5)};
  if (config.Get("head_dim").is_null()) family.head_size = 64;
  family.sinks = "sinks";
  family.slides = [](uint32_t i) { return i % 2 == 0; };
  family.rotary.absent = family.sliding_rotary.absent = 150000;
  if (config.Get("rope_scaling").is_null() && config.Get("rope_parameters").is_null()) {
    Fail("config.json: rope_scaling is missing");
  }
  // The original's activation is fixed; the other keys repeat rope_scaling's and num_experts_per_tok.
  config.Ignore({"hidden_act", "initial_context_length", "experts_per_token"});
  config.Only("swiglu_limit", 7.0);
  family.activation_key = "";
  family.activation = "quick_gelu";
  family.gate_limit = 7;
  family.gate_shift = 1;
  family.mixture = ReadMixture(config, "num_local_experts", 128, 4);
  family.mixture->router = "router";
  family.mixture->gate = "gate";
  family.mixture->up = "up";
  family.mixture->down = "down";
  const uint32_t count = family.mixture->count, width = config.Number("hidden_size");
  DescribeLlamaLike(family, checkpoint, description, [count, width](Weights& weights, const std::string& at) {
    NameGptOssExperts(weights, at + "mlp.experts", count, width);
  });
}

}  // namespace fovea::tools
