// Decoders like Llama, and LFM2, in the form of config.json.
#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/gguf/settings.h"

namespace fovea::tools {
namespace {

class LlamaConfig {
 public:
  LlamaConfig(const GgufSettings& settings, Json* config) : s_(settings), config_(*config), type_(settings.type) {}

  void Add() {
    s_.Only("attention.causal", architecture() != "gemma-embedding");
    config_.update({{"hidden_size", s_.width},
                    {"num_hidden_layers", s_.layers},
                    {"num_attention_heads", s_.heads},
                    {"num_key_value_heads", s_.kv_heads},
                    {"max_position_embeddings", s_.Positions()},
                    {"rope_theta", s_.Theta(type_ == "gemma3_text" ? 1e6 : 1e4)},
                    {"tie_word_embeddings", !s_.HasTensor("output.weight")}});
    if (type_ != "lfm2") {
      config_["intermediate_size"] = 1;  // follows from the tensors
      config_["head_dim"] = s_.size;
    }
    Norms();
    Rotary();
    Experts();
    Family();
  }

 private:
  std::string architecture() const { return s_.architecture.name; }
  bool Is(std::initializer_list<const char*> types) const {
    return std::any_of(types.begin(), types.end(), [&](const char* type) { return type_ == type; });
  }

  void Norms() {
    if (Is({"starcoder2"})) {
      config_["norm_epsilon"] = s_.Epsilon();
    } else if (Is({"phi", "stablelm", "cohere", "cohere2"})) {
      config_["layer_norm_eps"] = s_.Epsilon();
    } else if (Is({"lfm2"})) {
      config_["norm_eps"] = s_.RmsEpsilon();
    } else if (Is({"olmo"})) {
      if (fabs(s_.Epsilon() - 1e-5) > 1e-9) {
        Fail("{} {} is not supported", s_.Own("attention.layer_norm_epsilon").name(), s_.Epsilon());
      }
    } else {
      config_["rms_norm_eps"] = s_.RmsEpsilon();
    }
    // Some files have the other kind too, which nothing reads.
    for (const char* kind : {"layer_norm_epsilon", "layer_norm_rms_epsilon"}) s_.Own(std::string("attention.") + kind);
  }

  void Rotary() {
    const Json scaling = GgufRopeScaling(s_);
    if (!scaling.is_null()) config_["rope_scaling"] = scaling;
    if (scaling.is_object() && scaling["rope_type"] == "longrope") {
      config_["original_max_position_embeddings"] = scaling["original_max_position_embeddings"];
    }
    if (Is({"phi", "phi3", "stablelm"}) && (s_.turned != s_.size || !Is({"phi3"}))) {
      config_["partial_rotary_factor"] = s_.TurnedPart();
    } else if (s_.turned != s_.size) {
      const JsonView dims = s_.Own("rope.dimension_count");
      Fail("{} {} is not supported: heads have {} columns", dims.name(), s_.turned, s_.size);
    }
  }

  void Experts() {
    const JsonView count = s_.Own("expert_count");
    const uint32_t experts = count.Number({}, 0);
    if (*s_.architecture.experts == '\0' || type_ != s_.architecture.experts) {
      if (experts != 0) Fail("{} is not supported", count.name());
      return;
    }
    if (experts == 0) s_.Needed("expert_count").Number(kGgufHeads);  // fails
    config_[Is({"qwen2_moe", "qwen3_moe", "olmoe"}) ? "num_experts" : "num_local_experts"] = experts;
    config_["num_experts_per_tok"] = s_.Needed("expert_used_count").Number(kGgufHeads);
    // Weights of chosen experts are a softmax of their scores: over all experts, or over the chosen ones.
    const JsonView gating = s_.Own("expert_gating_func");
    const uint32_t function = gating.Number({}, 1);
    if (function != 1 && !(Is({"gpt_oss"}) && function == 3)) Fail("{} {} is not supported", gating.name(), function);
    const bool normed = s_.Own("expert_weights_norm").Flag(!Is({"qwen2_moe", "olmoe"}));
    if (Is({"qwen2_moe", "qwen3_moe"})) PlainLayers();
    if (Is({"qwen2_moe", "qwen3_moe", "olmoe"})) {
      config_["norm_topk_prob"] = normed;
    } else if (!normed) {
      Fail("{} false is not supported", s_.Own("expert_weights_norm").name());
    }
    const double scale = s_.Own("expert_weights_scale").Real({}, 1);
    if (scale != 1 && scale != 0) Fail("{} {} is not supported", s_.Own("expert_weights_scale").name(), scale);
  }

  // Layers with a plain feed-forward have no router.
  void PlainLayers() {
    Json plain = Json::array();
    for (uint32_t i = 0; i < s_.layers; ++i) {
      if (!s_.HasTensor(fmt::format("blk.{}.ffn_gate_inp.weight", i))) plain.push_back(i);
    }
    config_["mlp_only_layers"] = plain;
  }

  void Family() {
    if (Is({"llama", "mixtral"})) Window(false);
    if (architecture() == "mistral3") Ministral();
    if (Is({"gemma2", "gemma3_text"})) Gemma();
    if (Is({"phi3", "gpt_oss", "olmo2", "cohere2", "exaone4"})) Window(Is({"gpt_oss"}));
    if (Is({"gpt_oss"})) SlidingLayers(2);
    if (Is({"olmo2", "cohere2", "exaone4"}) && config_.contains("sliding_window")) SlidingLayers(4);
    if (Is({"granite", "granitemoe"})) Granite();
    if (Is({"cohere", "cohere2"})) Cohere();
    if (Is({"stablelm"})) Stablelm();
    if (Is({"lfm2"})) Lfm2();
    if (Is({"olmo", "olmoe"}) && s_.Has("attention.clamp_kqv")) {
      const double limit = s_.Own("attention.clamp_kqv").Real({0, 1e9});
      if (limit != 0) config_["clip_qkv"] = limit;
    }
  }

  // 0 is written for models without a window.
  void Window(bool needed) {
    const char* const key = "attention.sliding_window";
    const JsonView window = needed ? s_.Needed(key) : s_.Own(key);
    const uint32_t tokens = window.Number({0, kMaxRecords}, 0);
    if (tokens != 0) config_["sliding_window"] = std::min(tokens, kMaxWidth);
  }

  // The last of each `every` layers sees all tokens, unless a flag is listed for each layer.
  void SlidingLayers(uint32_t every) {
    const JsonView pattern = s_.Own("attention.sliding_window_pattern");
    const bool listed = pattern.json().is_array();
    if (listed && pattern.List().size() != s_.layers) Fail("{} must have {} elements", pattern.name(), s_.layers);
    if (!listed) every = pattern.Number({1, kGgufLayers.most}, every);
    Json types = Json::array();
    for (uint32_t i = 0; i < s_.layers; ++i) {
      const bool number = listed && pattern.At(i).json().is_number();
      const bool slides = !listed  ? (i + 1) % every != 0
                          : number ? pattern.At(i).Number({0, 1}) == 1
                                   : pattern.At(i).Flag();
      types.push_back(slides ? "sliding_attention" : "full_attention");
    }
    config_["layer_types"] = types;
  }

  // Most files do not contain the scale of scores; it depends on the size of the model.
  void Gemma() {
    const bool third = type_ == "gemma3_text";
    const bool largest = s_.layers == (third ? 62u : 46u);
    double scalar = largest ? static_cast<double>(s_.width) / s_.heads : s_.size;
    if (s_.Has("attention.scale")) scalar = 1 / pow(s_.Own("attention.scale").Real({1e-4, 1e3}), 2);
    config_["query_pre_attn_scalar"] = scalar;
    const auto cap = [&](const char* key) {
      if (s_.Has(key)) config_[key] = s_.Own(key).Real();
    };
    cap("final_logit_softcapping");
    if (third) {
      config_["rope_local_base_freq"] = s_.Own("rope.freq_base_swa").Real(kGgufFactors, 1e4);
      if (architecture() == "gemma-embedding") config_["use_bidirectional_attention"] = true;
    } else {
      cap("attn_logit_softcapping");
    }
    Window(true);
    SlidingLayers(third ? 6 : 2);
  }

  // Scores grow with positions beyond the original context; up to there nothing does.
  void Ministral() {
    Window(false);
    const JsonView scale = s_.Own("attention.temperature_scale");
    if (scale.Real({}, 0) == 0) return;
    const JsonView original = s_.Own("rope.scaling.original_context_length");
    config_["max_position_embeddings"] = std::min(s_.Positions(), original.Number(kGgufPositions, s_.Positions()));
  }

  void Granite() {
    config_["attention_multiplier"] = s_.Own("attention.scale").Real(kGgufFactors, 1 / sqrt(s_.size));
    const bool needed = architecture() == "minicpm";
    for (const auto& [key, name] : {std::pair{"embedding_scale", "embedding_multiplier"},
                                    {"residual_scale", "residual_multiplier"},
                                    {"logit_scale", "logits_scaling"}}) {
      if (s_.Has(key) || needed) config_[name] = s_.Own(key).Real(kGgufFactors);
    }
  }

  void Cohere() {
    config_["logit_scale"] = s_.Needed("logit_scale").Real(kGgufFactors);
    if (s_.HasTensor("blk.0.attn_q_norm.weight")) config_["use_qk_norm"] = true;
  }

  void Stablelm() {
    config_["use_parallel_residual"] = s_.Own("use_parallel_residual").Flag(false);
    config_["use_qkv_bias"] = s_.HasTensor("blk.0.attn_q.bias");
    config_["qk_layernorm"] = s_.HasTensor("blk.0.attn_q_norm.weight");
  }

  // Layers without heads for keys are convolutions.
  void Lfm2() {
    Json types = Json::array();
    for (uint32_t i = 0; i < s_.layers; ++i) {
      types.push_back(s_.HasTensor(fmt::format("blk.{}.shortconv.conv.weight", i)) ? "conv" : "full_attention");
    }
    config_["layer_types"] = types;
    config_["conv_L_cache"] = s_.Needed("shortconv.l_cache").Number(kGgufSizes);
  }

  const GgufSettings& s_;
  Json& config_;
  const std::string& type_;
};

}  // namespace

void AddLlamaLike(const GgufSettings& settings, Json* config) { LlamaConfig(settings, config).Add(); }

}  // namespace fovea::tools
