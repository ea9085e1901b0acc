// Encoders, and T5, in the form of config.json.
#include <string>

#include "tools/base/fail.h"
#include "tools/convert/gguf/settings.h"

namespace fovea::tools {
namespace {

void WholeHeads(const GgufSettings& s) {
  const JsonView dims = s.Own("rope.dimension_count");
  if (s.turned != s.size) {
    Fail("{} {} is not supported: heads have {} columns", dims.name(), s.turned, s.size);
  }
}

void NoScaling(const GgufSettings& s) {
  const std::string scaling = s.Own("rope.scaling.type").Text("none");
  if (scaling != "none") Fail("{} {} is not supported", s.Own("rope.scaling.type").name(), scaling);
}

// RoBERTa and XLM-RoBERTa too: their positions are stored from the first one that is used.
void Bert(const GgufSettings& s, Json& config) {
  config.update({{"hidden_size", s.width},
                 {"num_hidden_layers", s.layers},
                 {"num_attention_heads", s.heads},
                 {"intermediate_size", 1},  // follows from the tensors
                 {"max_position_embeddings", s.Positions()},
                 {"layer_norm_eps", s.Epsilon()},
                 {"hidden_act", "gelu"}});
}

void NomicBert(const GgufSettings& s, Json& config) {
  NoScaling(s);
  WholeHeads(s);
  config.update({{"n_embd", s.width},
                 {"n_layer", s.layers},
                 {"n_head", s.heads},
                 {"n_positions", s.Positions()},
                 {"layer_norm_epsilon", s.Epsilon()},
                 {"activation_function", s.HasTensor("blk.0.ffn_gate.weight") ? "swiglu" : "gelu"},
                 {"rotary_emb_fraction", 1.0},
                 {"rotary_emb_base", s.Theta()}});
  const uint32_t experts = s.Own("expert_count").Number({}, 0);
  if (experts == 0) return;
  config.update({{"num_experts", experts},
                 {"moe_top_k", s.Needed("expert_used_count").Number(kGgufHeads)},
                 {"moe_every_n_layers", s.Needed("moe_every_n_layers").Number(kGgufHeads)}});
}

// Every third layer, from the first on, sees all tokens.
void ModernBert(const GgufSettings& s, Json& config) {
  NoScaling(s);
  WholeHeads(s);
  const JsonView pattern = s.Own("attention.sliding_window_pattern");
  config.update({{"hidden_size", s.width},
                 {"num_hidden_layers", s.layers},
                 {"num_attention_heads", s.heads},
                 {"max_position_embeddings", s.Positions()},
                 {"norm_eps", s.Epsilon()},
                 {"global_attn_every_n_layers", pattern.json().is_array() ? 3 : pattern.Number({1, 1024}, 3)},
                 {"local_attention", s.Needed("attention.sliding_window").Number(kGgufSizes)},
                 {"global_rope_theta", s.Theta(160000)},
                 {"local_rope_theta", s.Own("rope.freq_base_swa").Real(kGgufFactors, 10000)}});
  if (!pattern.json().is_array()) return;
  if (pattern.List().size() != s.layers) Fail("{} must have {} elements", pattern.name(), s.layers);
  Json types = Json::array();
  for (uint32_t i = 0; i < s.layers; ++i) {
    types.push_back(pattern.At(i).Flag() ? "sliding_attention" : "full_attention");
  }
  config["layer_types"] = types;
}

// Whether the feed-forward is gated follows from the tensors; models with a gate have GELU.
void T5(const GgufSettings& s, Json& config) {
  s.Positions();  // any length
  config.update({{"d_model", s.width},
                 {"d_ff", 1},
                 {"d_kv", s.size},
                 {"num_layers", s.layers},
                 {"num_heads", s.heads},
                 {"layer_norm_epsilon", s.Has("attention.layer_norm_rms_epsilon") ? s.RmsEpsilon() : s.Epsilon()},
                 {"relative_attention_num_buckets", s.Needed("attention.relative_buckets_count").Number(kGgufSizes)},
                 {"feed_forward_proj", s.HasTensor("enc.blk.0.ffn_gate.weight") ? "gated-gelu" : "relu"},
                 {"tie_word_embeddings", !s.HasTensor("output.weight")},
                 {"is_encoder_decoder", true}});
  s.Own("attention.layer_norm_epsilon"), s.Own("attention.layer_norm_rms_epsilon");
  config["num_decoder_layers"] = s.Own("decoder_block_count").Number(kGgufLayers, s.layers);
  config["decoder_start_token_id"] = s.Own("decoder_start_token_id").Number(kGgufIds, 0);
}

}  // namespace

void AddEncoder(const GgufSettings& settings, Json* config) {
  if (settings.type != "t5") settings.Only("attention.causal", false);
  if (settings.type == "bert") Bert(settings, *config);
  if (settings.type == "jina_bert") {
    settings.Only("attention.max_alibi_bias", 8.0);
    Bert(settings, *config);
    (*config)["feed_forward_type"] = settings.HasTensor("blk.0.ffn_gate.weight") ? "geglu" : "original";
    (*config)["position_embedding_type"] = "alibi";
  }
  if (settings.type == "nomic_bert") NomicBert(settings, *config);
  if (settings.type == "modernbert") ModernBert(settings, *config);
  if (settings.type == "t5") T5(settings, *config);
}

}  // namespace fovea::tools
