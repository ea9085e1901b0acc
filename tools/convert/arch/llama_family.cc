// Decoders that are Llama with other switches, one function for each.
#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/arch/llama_like.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

// Layers from max_window_layers on, and only if asked for.
void SlideAsQwen2(const Config& config, LlamaLike& family) {
  const bool wanted = config.Flag("use_sliding_window", false);
  const uint32_t first = config.Number("max_window_layers", 28);
  family.slides = [=](uint32_t i) { return wanted && i >= first; };
}

// Every n-th layer does not slide.
void SlideButEvery(const Config& config, const char* key, uint32_t absent, LlamaLike& family) {
  const uint32_t every = config.Number(config.Get(key).is_null() ? std::string("_") + key : key, absent);
  if (every == 0) Fail("config.json: {} must not be 0", key);
  family.slides = [=](uint32_t i) { return (i + 1) % every != 0; };
}

// The norms of heads are stored one by one.
void JoinHeadNorms(Weights& weights, const std::string& name) {
  std::vector<Constant> heads;
  for (uint32_t i = 0; weights.Has(fmt::format("{}.norms.{}.weight", name, i)); ++i) {
    heads.push_back(weights.Get(fmt::format("{}.norms.{}.weight", name, i)));
  }
  if (!heads.empty()) weights.Add(name + ".weight", Concatenate(std::move(heads)));
}

}  // namespace

// The original: transformers/models/llama/modeling_llama.py: LlamaModel;
// transformers/models/mistral/modeling_mistral.py: MistralModel.
void DescribeLlama(const Checkpoint& checkpoint, Description& description) {
  LlamaLike family;
  family.norms.kind = "rms";
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/qwen2/modeling_qwen2.py: Qwen2Model; as an encoder with `is_causal` false
// modeling_qwen.py of Alibaba-NLP/gte-Qwen2-1.5B-instruct.
void DescribeQwen2(const Checkpoint& checkpoint, Description& description) {
  LlamaLike family;
  family.norms.kind = "rms";
  family.causal = checkpoint.task == Task::kCausalLm || checkpoint.config.Flag("is_causal", true);
  SlideAsQwen2(checkpoint.config, family);
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/qwen3/modeling_qwen3.py: Qwen3Model.
void DescribeQwen3(const Checkpoint& checkpoint, Description& description) {
  LlamaLike family;
  family.norms.kind = "rms";
  family.query_norm = "q_norm";
  family.key_norm = "k_norm";
  if (checkpoint.config.Get("head_dim").is_null()) family.head_size = 128;
  SlideAsQwen2(checkpoint.config, family);
  DescribeLlamaLike(family, checkpoint, description);
}

LlamaLike GemmaLike(const Config& config) {
  LlamaLike family;
  family.norms = {.kind = "rms", .weight_offset = 1};
  family.tied = true;
  family.activation_key = "hidden_activation";
  family.activation = "gelu_pytorch_tanh";
  family.table_scale = sqrt(config.Number("hidden_size"));
  if (config.Get("head_dim").is_null()) family.head_size = 256;
  return family;
}

// The original: transformers/models/gemma/modeling_gemma.py: GemmaModel.
void DescribeGemma(const Checkpoint& checkpoint, Description& description) {
  // The original reads hidden_activation alone: Gemma was trained with the tanh form of GELU.
  checkpoint.config.Ignore({"hidden_act"});
  DescribeLlamaLike(GemmaLike(checkpoint.config), checkpoint, description);
}

// The original: transformers/models/gemma2/modeling_gemma2.py: Gemma2Model.
void DescribeGemma2(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family = GemmaLike(config);
  family.places = NormPlaces::kAround;
  config.Ignore({"hidden_act"});  // the original reads hidden_activation alone
  family.scale = 1 / sqrt(config.Real("query_pre_attn_scalar", 256));
  family.cap = config.Real("attn_logit_softcapping", 0);
  family.score_cap = config.Real("final_logit_softcapping", 0);
  config.Only("use_bidirectional_attention", false);
  family.slides = [](uint32_t i) { return i % 2 == 0; };
  DescribeLlamaLike(family, checkpoint, description);
}

// Also as an encoder of texts: attention in both directions.
// The original: transformers/models/gemma3/modeling_gemma3.py: Gemma3TextModel.
void DescribeGemma3(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family = GemmaLike(config);
  family.places = NormPlaces::kAround;
  family.causal = !config.Flag("use_bidirectional_attention", false);
  if (!family.causal && checkpoint.task == Task::kCausalLm) {
    Fail("config.json: with use_bidirectional_attention gemma3_text is an encoder; --task embedding converts it");
  }
  family.query_norm = "q_norm";
  family.key_norm = "k_norm";
  family.scale = 1 / sqrt(config.Real("query_pre_attn_scalar", 256));
  config.Only("attn_logit_softcapping", nullptr);
  family.score_cap = config.Real("final_logit_softcapping", 0);
  SlideButEvery(config, "sliding_window_pattern", 6, family);
  family.rotary = {.theta = "rope_theta", .absent = 1e6, .scaling = "rope_scaling"};
  family.sliding_rotary = {.theta = "rope_local_base_freq", .absent = 1e4, .scaling = nullptr};
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/phi3/modeling_phi3.py: Phi3Model.
void DescribePhi3(const Checkpoint& checkpoint, Description& description) {
  LlamaLike family;
  family.norms.kind = "rms";
  family.fused = true;
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/phi/modeling_phi.py: PhiModel.
void DescribePhi(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family;
  family.norms.kind = "layer";
  family.places = NormPlaces::kShared;
  family.rotary_part = 0.5;
  family.activation = "gelu_new";
  family.output = "dense";
  family.gate = "";
  family.up = "fc1";
  family.down = "fc2";
  family.final_norm = "final_layernorm";
  if (config.Flag("qk_layernorm", false)) {
    family.query_norm = "q_layernorm";
    family.key_norm = "k_layernorm";
  }
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/smollm3/modeling_smollm3.py: SmolLM3Model.
void DescribeSmollm3(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family;
  family.norms.kind = "rms";
  family.tied = true;
  family.rotary.absent = family.sliding_rotary.absent = 2e6;
  // A layer whose entry is not 0 has rotary positions.
  const Json& turns = config.Get("no_rope_layers");
  const uint32_t every = config.Number("no_rope_layer_interval", 4), layers = config.Number("num_hidden_layers");
  if (turns.is_null() && every == 0) Fail("config.json: no_rope_layer_interval must not be 0");
  if (!turns.is_null() && (!turns.is_array() || turns.size() != layers)) {
    Fail("config.json: no_rope_layers must be {} numbers", layers);
  }
  family.turns = [&turns, every](uint32_t i) { return turns.is_null() ? (i + 1) % every != 0 : turns[i] != 0; };
  const bool slides = config.Flag("use_sliding_window", false);
  family.slides = [=](uint32_t i) { return slides && !family.turns(i); };
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/olmo2/modeling_olmo2.py: Olmo2Model; transformers/models/olmo3/modeling_olmo3.py:
// Olmo3Model.
void DescribeOlmo2(const Checkpoint& checkpoint, Description& description) {
  LlamaLike family;
  family.norms.kind = "rms";
  family.places = NormPlaces::kAfter;
  family.query_norm = "q_norm";
  family.key_norm = "k_norm";
  // OLMo 3: three of four layers slide, and their positions are not scaled.
  family.slides = [](uint32_t i) { return (i + 1) % 4 != 0; };
  family.sliding_rotary.scaling = nullptr;
  DescribeLlamaLike(family, checkpoint, description);
}

LlamaLike GraniteLike(const Config& config) {
  LlamaLike family;
  family.norms.kind = "rms";
  family.table_scale = config.Real("embedding_multiplier", 1);
  family.residual_scale = config.Real("residual_multiplier", 1);
  family.scale = config.Real("attention_multiplier", 1);
  family.score_scale = 1 / config.Real("logits_scaling", 1);
  return family;
}

// The original: transformers/models/granite/modeling_granite.py: GraniteModel.
void DescribeGranite(const Checkpoint& checkpoint, Description& description) {
  DescribeLlamaLike(GraniteLike(checkpoint.config), checkpoint, description);
}

// The original: transformers/models/starcoder2/modeling_starcoder2.py: Starcoder2Model.
void DescribeStarcoder2(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family;
  family.norms = {"layer", config.Real("norm_epsilon", 1e-5)};
  family.tied = true;
  family.activation = "gelu_pytorch_tanh";
  family.gate = "";
  family.up = "c_fc";
  family.down = "c_proj";
  RefuseBiases(checkpoint, description.weights, "use_bias", true, {"_proj", "c_fc"});
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/stablelm/modeling_stablelm.py: StableLmModel.
void DescribeStablelm(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family;
  family.norms.kind = "layer";
  RefuseBiases(checkpoint, description.weights, "use_qkv_bias", false,
               {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"});
  if (config.Flag("use_parallel_residual", false)) family.places = NormPlaces::kShared;
  family.rotary_part = 0.25;
  const bool normed = config.Flag("qk_layernorm", false);
  if (normed) family.query_norm = "q_layernorm", family.key_norm = "k_layernorm";
  DescribeLlamaLike(family, checkpoint, description, [normed](Weights& weights, const std::string& at) {
    if (!normed) return;
    JoinHeadNorms(weights, at + "self_attn.q_layernorm");
    JoinHeadNorms(weights, at + "self_attn.k_layernorm");
  });
}

// The original: transformers/models/cohere/modeling_cohere.py: CohereModel;
// transformers/models/cohere2/modeling_cohere2.py: Cohere2Model.
void DescribeCohere(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family;
  family.norms.kind = "layer";
  family.places = NormPlaces::kShared;
  family.tied = true;
  family.interleaved = true;
  family.score_scale = config.Real("logit_scale", 0.0625);
  if (config.Flag("use_qk_norm", false)) family.query_norm = "q_norm", family.key_norm = "k_norm";
  if (config.Text("model_type") == "cohere2") {
    SlideButEvery(config, "sliding_window_pattern", 4, family);
    const Json& types = config.Get("layer_types");  // sliding layers alone have positions
    const auto slides = family.slides;
    family.turns = [&types, slides](uint32_t i) {
      return types.is_array() && i < types.size() ? types[i] == "sliding_attention" : slides(i);
    };
  }
  DescribeLlamaLike(family, checkpoint, description);
}

}  // namespace fovea::tools
