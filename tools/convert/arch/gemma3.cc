// Gemma 3 as an encoder of texts: attention in both directions. RMS norms with 1 + weight in front of and after
// attention and feed-forward, and of the queries and keys of each head.
#include <math.h>

#include "tools/base/fail.h"
#include "tools/convert/arch/layer_types.h"
#include "tools/convert/arch/pre_norm_encoder.h"

namespace fovea::tools {

void DescribeGemma3(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  if (!config.Flag("use_bidirectional_attention", false)) {
    Fail("config.json: a model without use_bidirectional_attention is a decoder, which is not supported");
  }
  if (checkpoint.task != Task::kEmbedding && checkpoint.task != Task::kEncoder && checkpoint.task != Task::kBackbone) {
    Fail("config.json: heads of gemma3_text are not supported; --task embedding converts the encoder without one");
  }
  config.Only("attn_logit_softcapping", nullptr);
  Weights& weights = description.weights;
  const std::string prefix = weights.Has("embed_tokens.weight") ? "" : "model.";
  PreNormEncoder encoder;
  encoder.norms = {"rms", config.Real("rms_norm_eps", 1e-6), 1};
  encoder.heads = config.Number("num_attention_heads");
  encoder.kv_heads = config.Number("num_key_value_heads", 4);
  encoder.scale = 1 / sqrt(config.Real("query_pre_attn_scalar", 256));
  encoder.activation = config.Activation("hidden_activation", "gelu_pytorch_tanh");
  encoder.table = prefix + "embed_tokens.weight";
  encoder.table_scale = sqrt(config.Number("hidden_size"));
  encoder.final_norm = prefix + "norm";
  description.must_use = {prefix + "embed_tokens.", prefix + "layers.", prefix + "norm."};

  const uint32_t every = config.Number(
      config.Get("sliding_window_pattern").is_null() ? "_sliding_window_pattern" : "sliding_window_pattern", 6);
  if (every == 0) Fail("config.json: sliding_window_pattern is 0");
  LayerTypes types;
  types.slides = [=](uint32_t i) { return (i + 1) % every != 0; };
  types.head_size = config.Number("head_dim", 256);
  types.full = {"rope_theta", 1e6, "rope_scaling"};
  types.sliding = {"rope_local_base_freq", 1e4};
  types.window = config.Number("sliding_window", 4096) / 2;  // |i - j| < window / 2 + 1
  for (const LayerType& type : ReadLayerTypes(config, types, description)) {
    const std::string at = fmt::format("{}layers.{}.", prefix, encoder.layers.size());
    PreNormLayer layer;
    layer.attention_norm = at + "input_layernorm";
    layer.query = at + "self_attn.q_proj";
    layer.key = at + "self_attn.k_proj";
    layer.value = at + "self_attn.v_proj";
    layer.output = at + "self_attn.o_proj";
    layer.query_norm = at + "self_attn.q_norm";
    layer.key_norm = at + "self_attn.k_norm";
    layer.attention_out_norm = at + "post_attention_layernorm";
    layer.rotary = type.rotary;
    layer.window = type.window;
    layer.norm = at + "pre_feedforward_layernorm";
    layer.gate = at + "mlp.gate_proj";
    layer.up = at + "mlp.up_proj";
    layer.down = at + "mlp.down_proj";
    layer.out_norm = at + "post_feedforward_layernorm";
    encoder.layers.push_back(layer);
  }
  RefuseBiases(checkpoint, weights, "attention_bias", false,
               {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"});
  // These follow from the tensors, or concern a decoder's head.
  for (const char* key : {"cache_implementation", "final_logit_softcapping", "intermediate_size"}) {
    config.Get(key);
  }
  DescribePreNormEncoder(encoder, checkpoint, description);
}

}  // namespace fovea::tools
