// LFM2: most layers have a short convolution along the text in place of attention.
#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/arch/llama_like.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

// Whether each layer attends; otherwise it convolves.
std::vector<bool> AttendingLayers(const Config& config) {
  const uint32_t layers = config.Number("num_hidden_layers");
  const Json &types = config.Get("layer_types"), &indices = config.Get("full_attn_idxs");
  if (!types.is_null() && (!types.is_array() || types.size() != layers)) {
    Fail("config.json: layer_types must name the types of {} layers", layers);
  }
  if (!indices.is_null() && !indices.is_array()) Fail("config.json: full_attn_idxs must be a list");
  std::vector<bool> attends;
  for (uint32_t i = 0; i < layers; ++i) {
    if (types.is_null()) {
      attends.push_back(indices.is_null() || std::count(indices.begin(), indices.end(), Json(i)) != 0);
    } else if (types[i] == "full_attention" || types[i] == "conv") {
      attends.push_back(types[i] == "full_attention");
    } else {
      Fail("config.json: layer_types: {} is not supported", types[i].dump());
    }
  }
  return attends;
}

AttentionNames Attention(const std::string& at) {
  return {.query = at + "q_proj",
          .key = at + "k_proj",
          .value = at + "v_proj",
          .output = at + "out_proj",
          .query_norm = at + "q_layernorm",
          .key_norm = at + "k_layernorm"};
}

ShortConvolutionNames Convolution(const std::string& at, const Config& config, Weights& weights) {
  ShortConvolutionNames names;
  SplitLinear(weights, at + "in_proj", {"in_gate", "out_gate", "value"});
  names.in_gate = at + "in_proj.in_gate";
  names.out_gate = at + "in_proj.out_gate";
  names.value = at + "in_proj.value";
  names.output = at + "out_proj";
  const Constant kernel = weights.Get(at + "conv.weight");
  names.taps = config.Number("conv_L_cache", 3);
  if (kernel.width != names.taps || names.taps == 0) {
    Fail("config.json: conv_L_cache is {}, but tensor {}conv.weight has {} for each column", names.taps, at,
         kernel.width);
  }
  names.kernel = at + "conv.rows.weight";
  weights.Add(names.kernel, Transpose(kernel));
  if (weights.Has(at + "conv.bias")) names.bias = at + "conv.bias";
  return names;
}

// Some configurations have another key, which is preferred.
bool Tied(const Config& config) {
  const bool tied = config.Flag("tie_embedding", config.Flag("tie_word_embeddings", true));
  config.Only("tie_word_embeddings", tied);
  return tied;
}

}  // namespace

// The original: transformers/models/lfm2/modeling_lfm2.py: Lfm2Model.
void DescribeLfm2(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string prefix = weights.Has("embed_tokens.weight") ? "" : "model.";
  const HeadShape shape = HeadShapeOf(config);
  LayerStack stack;
  stack.norms = {"rms", config.Real("norm_eps", 1e-5)};
  stack.heads = shape.heads;
  stack.kv_heads = shape.kv_heads;
  stack.causal = true;
  stack.activation = "silu";
  stack.table = prefix + "embed_tokens.weight";
  stack.final_norm = prefix + "embedding_norm";
  RefuseBiases(checkpoint, weights, "conv_bias", false, {"conv.conv", "conv.in_proj", "conv.out_proj"});
  const RotaryKeys keys = {config.Get("theta").is_null() ? "rope_theta" : "theta", 1e6, "rope_scaling"};
  const RotaryPositions rotary = ReadRotary(config, keys, shape.size, "full_attention", weights);
  for (const bool attends : AttendingLayers(config)) {
    const std::string at = fmt::format("{}layers.{}.", prefix, stack.layers.size());
    StackLayer layer;
    if (attends) {
      layer.attention = Attention(at + "self_attn.");
      layer.rotary = rotary;
    } else {
      layer.convolution = Convolution(at + "conv.", config, weights);
    }
    layer.attention.norm = at + "operator_norm";
    layer.feed_forward.norm = at + "ffn_norm";
    layer.feed_forward.gate = at + "feed_forward.w1";
    layer.feed_forward.up = at + "feed_forward.w3";
    layer.feed_forward.down = at + "feed_forward.w2";
    stack.layers.push_back(layer);
  }
  Heads& heads = stack.task_heads;
  heads.language.out = "lm_head";
  heads.language_table = stack.table;
  heads.tied = Tied(config);
  heads.sequence_pool = "last";
  heads.sequence.out = heads.token.out = "score";
  description.SetMetadata("max_positions", std::to_string(config.Number("max_position_embeddings")));
  description.must_use = {prefix + "embed_tokens.", prefix + "layers.", prefix + "embedding_norm."};
  // Sizes follow from the tensors; the remaining keys repeat read ones or concern training.
  config.Ignore({"hidden_size", "intermediate_size", "block_dim", "block_ff_dim", "block_auto_adjust_ff_dim",
                 "block_multiple_of", "block_ffn_dim_multiplier", "block_norm_eps", "block_use_swiglu",
                 "block_mlp_init_scale", "block_out_init_scale", "block_use_xavier_init", "conv_dim", "conv_dim_out",
                 "conv_use_xavier_init", "num_heads", "use_pos_enc", "rope_theta"});
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
