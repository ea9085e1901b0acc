// Decoders of arch/gpt_family.cc in the form of config.json.
#include "tools/base/fail.h"
#include "tools/convert/gguf/settings.h"

namespace fovea::tools {
namespace {

void Gpt2(const GgufSettings& s, Json& config) {
  s.Positions();  // follows from the table of positions
  config.update({{"n_embd", s.width}, {"n_head", s.heads}, {"n_layer", s.layers}, {"layer_norm_epsilon", s.Epsilon()}});
  if (s.type == "gpt_bigcode") config["multi_query"] = s.kv_heads == 1;
}

void GptJ(const GgufSettings& s, Json& config) {
  config.update({{"n_embd", s.width},
                 {"n_head", s.heads},
                 {"n_layer", s.layers},
                 {"n_positions", s.Positions()},
                 {"rotary_dim", s.turned},
                 {"rope_theta", s.Theta()},
                 {"layer_norm_epsilon", s.Epsilon()}});
}

void Common(const GgufSettings& s, Json& config) {
  config.update({{"hidden_size", s.width},
                 {"num_attention_heads", s.heads},
                 {"num_hidden_layers", s.layers},
                 {"max_position_embeddings", s.Positions()}});
  const Json scaling = GgufRopeScaling(s);
  if (!scaling.is_null()) config["rope_scaling"] = scaling;
}

void GptNeox(const GgufSettings& s, Json& config) {
  Common(s, config);
  config.update({{"layer_norm_eps", s.Epsilon()},
                 {"rotary_pct", s.TurnedPart()},
                 {"rotary_emb_base", s.Theta()},
                 {"use_parallel_residual", s.Own("use_parallel_residual").Flag(true)}});
}

void Falcon(const GgufSettings& s, Json& config) {
  Common(s, config);
  const bool two_norms = s.HasTensor("blk.0.attn_norm_2.weight");
  const bool grouped = two_norms || (s.kv_heads != 1 && s.kv_heads != s.heads);
  config.update({{"layer_norm_epsilon", s.Epsilon()},
                 {"rope_theta", s.Theta()},
                 {"new_decoder_architecture", grouped},
                 {"num_kv_heads", s.kv_heads},
                 {"num_ln_in_parallel_attn", two_norms ? 2 : 1},
                 {"multi_query", s.kv_heads == 1},
                 {"parallel_attn", !s.HasTensor("blk.0.ffn_norm.weight")},
                 {"bias", s.HasTensor("blk.0.attn_qkv.bias")}});
}

// Llama.cpp reads 8, the exponent of the smallest slope, without a key.
void Bloom(const GgufSettings& s, Json& config) {
  s.Only("attention.max_alibi_bias", 8.0);
  s.Positions();  // any length
  config.update(
      {{"hidden_size", s.width}, {"n_head", s.heads}, {"n_layer", s.layers}, {"layer_norm_epsilon", s.Epsilon()}});
}

}  // namespace

void AddGptLike(const GgufSettings& settings, Json* config) {
  settings.Only("attention.causal", true);
  (*config)["tie_word_embeddings"] = !settings.HasTensor("output.weight");
  if (settings.type == "gpt2" || settings.type == "gpt_bigcode") Gpt2(settings, *config);
  if (settings.type == "gptj") GptJ(settings, *config);
  if (settings.type == "gpt_neox") GptNeox(settings, *config);
  if (settings.type == "falcon") Falcon(settings, *config);
  if (settings.type == "bloom") Bloom(settings, *config);
  if (settings.type != "gptj" && settings.type != "gpt_neox" && settings.turned != settings.size) {
    const JsonView dims = settings.Own("rope.dimension_count");
    Fail("{} {} is not supported: heads have {} columns", dims.name(), settings.turned, settings.size);
  }
}

}  // namespace fovea::tools
