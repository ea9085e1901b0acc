// Decoders that are Llama with a few switches more: interleaved rotary positions, norms without weights, scales.
#include <math.h>

#include <algorithm>

#include "tools/base/fail.h"
#include "tools/convert/arch/llama_like.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

LlamaLike RmsLike(const Config& config, double epsilon) {
  LlamaLike family;
  family.norms = {"rms", config.Real("rms_norm_eps", epsilon)};
  return family;
}

void SetTheta(LlamaLike& family, double absent) { family.rotary.absent = family.sliding_rotary.absent = absent; }

// Fails at the first layer of another type than these.
void RefuseLayers(const Config& config, const std::initializer_list<const char*>& known, const char* why) {
  const Json& types = config.Get("layer_types");
  if (!types.is_array()) return;
  for (const Json& type : types) {
    const bool fits = std::any_of(known.begin(), known.end(), [&](const char* name) { return type == name; });
    if (!fits) Fail("config.json: layer_types: {} layers are not supported: {}", Shown(type), why);
  }
}

}  // namespace

// The original: transformers/models/arcee/modeling_arcee.py: ArceeModel.
void DescribeArcee(const Checkpoint& checkpoint, Description& description) {
  LlamaLike family = RmsLike(checkpoint.config, 1e-5);
  family.gate = "";
  family.activation = "relu2";
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/ernie4_5/modeling_ernie4_5.py: Ernie4_5Model.
void DescribeErnie45(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family = RmsLike(config, 1e-5);
  family.interleaved = true;
  family.tied = true;
  family.head_size = StoredHeadSize(config, description.weights);
  SetTheta(family, 500000);
  RefuseBiases(checkpoint, description.weights, "use_bias", false, {"_proj"});
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/exaone4/modeling_exaone4.py: Exaone4Model. Where some layers slide, the other ones
// have no positions.
void DescribeExaone4(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family = RmsLike(config, 1e-5);
  family.places = NormPlaces::kAfter;
  family.query_norm = "q_norm";
  family.key_norm = "k_norm";
  family.head_size = StoredHeadSize(config, description.weights);
  const bool hybrid = config.Number("sliding_window", 0) != 0;
  const Json& types = config.Get("layer_types");
  if (types.is_array()) {
    config.Ignore({"sliding_window_pattern"});  // layer_types has its meaning
    family.turns = [&types, hybrid](uint32_t i) {
      return !hybrid || (i < types.size() && types[i] == "sliding_attention");
    };
  } else {
    const uint32_t every = config.Number("sliding_window_pattern", 4);
    if (every == 0) Fail("config.json: sliding_window_pattern must not be 0");
    family.slides = [every](uint32_t i) { return (i + 1) % every != 0; };
    family.turns = [every, hybrid](uint32_t i) { return !hybrid || (i + 1) % every != 0; };
  }
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/glm/modeling_glm.py: GlmModel.
void DescribeGlm(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family = RmsLike(config, 1.5625e-07);
  family.fused = true;
  family.interleaved = true;
  family.rotary_part = 0.5;
  family.head_size = StoredHeadSize(config, description.weights);
  if (config.Text("model_type") == "glm4") {
    family.places = NormPlaces::kAround;
    family.attention_out_norm = "post_self_attn_layernorm";
    family.forward_norm = "post_attention_layernorm";
    family.forward_out_norm = "post_mlp_layernorm";
  }
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/granitemoehybrid/modeling_granitemoehybrid.py: GraniteMoeHybridModel, without state
// space layers and experts.
void DescribeGraniteHybrid(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family = GraniteLike(config);
  family.mlp = "shared_mlp";
  if (config.Get("layer_types").is_null())
    Fail("config.json: layer_types is missing: the layers are then of type mamba");
  RefuseLayers(config, {"full_attention"}, "they are state space layers (Mamba-2), not attention");
  if (config.Number("num_local_experts", 8) != 0) {
    Fail("config.json: num_local_experts {}: experts beside a shared feed-forward are not supported",
         config.Number("num_local_experts", 8));
  }
  const std::string positions = config.Text("position_embedding_type", "nope");
  if (positions != "rope" && positions != "nope")
    Fail("config.json: position_embedding_type {} is not supported", positions);
  if (positions == "nope") family.turns = [](uint32_t) { return false; };
  for (const char* key : {"num_experts_per_tok", "shared_intermediate_size", "mamba_n_heads", "mamba_n_groups",
                          "mamba_d_state", "mamba_d_head", "mamba_d_conv", "mamba_expand", "mamba_chunk_size",
                          "mamba_conv_bias", "mamba_proj_bias", "normalization_function"}) {
    config.Ignore({key});  // sizes, and settings of layers that are not there
  }
  DescribeLlamaLike(family, checkpoint, description, [](Weights& weights, const std::string& at) {
    const std::string mlp = at + "shared_mlp.";
    SplitLinear(weights, mlp + "input_linear", {"gate", "up"});
    weights.Add(mlp + "gate_proj.weight", weights.Get(mlp + "input_linear.gate.weight"));
    weights.Add(mlp + "up_proj.weight", weights.Get(mlp + "input_linear.up.weight"));
    weights.Add(mlp + "down_proj.weight", weights.Get(mlp + "output_linear.weight"));
  });
}

// The original: transformers/models/helium/modeling_helium.py: HeliumModel.
void DescribeHelium(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family = RmsLike(config, 1e-8);
  family.interleaved = true;
  family.head_size = StoredHeadSize(config, description.weights);
  SetTheta(family, 100000);
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/hunyuan_v1_dense/modeling_hunyuan_v1_dense.py: HunYuanDenseV1Model.
void DescribeHunyuan(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family = RmsLike(config, 1e-5);
  family.query_norm = "query_layernorm";
  family.key_norm = "key_layernorm";
  family.norm_after_rotary = true;
  config.Only("use_cla", false);
  config.Only("use_qk_norm", true);
  // They repeat other keys, or concern the tokens of pictures and training.
  config.Ignore({"attention_head_dim",  "org_vocab_size",
                 "im_start_id",         "im_end_id",
                 "im_newline_id",       "text_start_id",
                 "text_end_id",         "mask_init_id",
                 "sep_token_id",        "pad_id",
                 "eod_token_id",        "add_classification_head",
                 "class_num",           "pool_type",
                 "cla_share_factor",    "norm_type",
                 "num_experts",         "use_rotary_pos_emb",
                 "enable_lm_head_fp32", "dense_list",
                 "eos_token_id"});
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/llama4/modeling_llama4.py: Llama4TextModel, without experts. Heads are normed after
// they are rotated, but that norm has no weights, so the order does not matter.
void DescribeLlama4Text(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family = RmsLike(config, 1e-5);
  family.interleaved = true;
  family.mlp = "feed_forward";
  SetTheta(family, 500000);
  for (const std::string& name : description.weights.Stored()) {
    if (name.find(".feed_forward.experts.") != std::string::npos ||
        name.find(".feed_forward.router.") != std::string::npos) {
      Fail("tensor {}: experts that are weighted by a sigmoid (Llama 4) are not supported", name);
    }
  }
  const uint32_t layers = config.Number("num_hidden_layers"), positions = config.Number("max_position_embeddings");
  RefuseLayers(config, {"full_attention"}, "texts that are longer than attention_chunk_size see a part of themselves");
  if (config.Number("attention_chunk_size", 8192) < positions) {
    Fail(
        "config.json: attention_chunk_size {} is below max_position_embeddings {}: attention within chunks is not "
        "supported",
        config.Number("attention_chunk_size", 8192), positions);
  }
  // A layer whose entry is not 0 has rotary positions.
  const Json& turns = config.Get("no_rope_layers");
  if (!turns.is_null() && !turns.empty() && (!turns.is_array() || turns.size() != layers)) {
    Fail("config.json: no_rope_layers must be {} numbers", layers);
  }
  const uint32_t every = config.Number("no_rope_layer_interval", 4);
  if (every == 0) Fail("config.json: no_rope_layer_interval must not be 0");
  const bool listed = turns.is_array() && !turns.empty();
  family.turns = [&turns, every, listed](uint32_t i) { return listed ? turns[i] != 0 : (i + 1) % every != 0; };
  bool all_turn = true;
  for (uint32_t i = 0; i < layers; ++i) all_turn = all_turn && family.turns(i);
  if (!all_turn && config.Flag("use_qk_norm", true)) {
    Fail("config.json: use_qk_norm with layers that have no rotary positions is not supported");
  }
  // Queries of layers without rotary positions grow with the position.
  const JsonView tuning = config.View("attn_temperature_tuning");
  const bool tuned = tuning.IsNull() || (tuning.json().is_boolean() ? tuning.Flag() : tuning.Number({0, 1024}) != 0);
  if (!all_turn && tuned && config.Real("floor_scale", 8192) < positions) {
    Fail("config.json: attn_temperature_tuning is not supported beyond floor_scale");
  }
  if (config.Flag("use_qk_norm", true)) {
    family.query_norm = "q_norm";
    family.key_norm = "k_norm";
  }
  config.Only("interleave_moe_layer_step", 0);
  config.Ignore({"intermediate_size_mlp", "floor_scale", "attn_scale", "num_local_experts", "num_experts_per_tok",
                 "moe_layers", "router_jitter_noise", "output_router_logits", "attn_temperature_tuning"});
  const uint32_t size = HeadShapeOf(config).size;
  const bool normed = !family.query_norm.empty();
  DescribeLlamaLike(family, checkpoint, description, [size, normed](Weights& weights, const std::string& at) {
    if (!normed) return;
    for (const char* name : {"q_norm", "k_norm"}) {
      weights.Add(fmt::format("{}self_attn.{}.weight", at, name), Literal(1, size, std::vector<float>(size, 1.0f)));
    }
  });
}

// The original: modeling_minicpm.py, published with the models of OpenBMB: MiniCPMModel.
void DescribeMinicpm(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family = RmsLike(config, 1e-6);
  family.tied = true;
  family.table_scale = config.Real("scale_emb", 1);
  const uint32_t layers = config.Number("num_hidden_layers");
  if (layers != 0) family.residual_scale = config.Real("scale_depth", 1) / sqrt(layers);
  family.score_scale = config.Real("dim_model_base", 1) / config.Number("hidden_size");
  config.Only("sparse_config", nullptr);
  config.Ignore({"mup_denominator"});  // concerns training
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/ministral3/modeling_ministral3.py: Ministral3Model. Queries beyond the first
// original_max_position_embeddings tokens are scaled, which the runtime does not do: such texts are cut.
void DescribeMinistral3(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family = RmsLike(config, 1e-5);
  const Json& rotary = config.Get("rope_parameters");
  const Json beta = rotary.is_object() ? rotary.value("llama_4_scaling_beta", Json()) : Json();
  DescribeLlamaLike(family, checkpoint, description);
  if (!beta.is_number() || beta == 0) return;
  const JsonView view(rotary, "config.json: rope_parameters");
  const uint32_t most = config.Number("max_position_embeddings");
  const uint32_t unscaled = view["original_max_position_embeddings"].Number({1, UINT32_MAX}, most);
  if (unscaled >= most) return;
  description.SetMetadata("max_positions", std::to_string(unscaled));
  description.findings.push_back(
      {Topic::kLimits,
       fmt::format("config.json: texts have at most {} tokens, not {}: llama_4_scaling_beta, which scales "
                   "queries beyond them, is not supported",
                   unscaled, most)});
}

// The original: modeling_mobilellm.py, published with the models of Meta: MobileLLMModel.
void DescribeMobilellm(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  config.Only("layer_sharing", false);
  config.Ignore({"share_embedding"});  // tie_word_embeddings has its meaning
  DescribeLlamaLike(RmsLike(config, 1e-6), checkpoint, description);
}

// The original: transformers/models/nanochat/modeling_nanochat.py: NanoChatModel. Heads are normed after they are
// rotated, but norms have no weights, so the order does not matter.
void DescribeNanochat(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family = RmsLike(config, 1e-6);
  family.plain_norms = true;
  family.embedding_norm = "embedding_norm";
  family.query_norm = "q_norm";
  family.key_norm = "k_norm";
  family.backwards = true;
  family.gate = "";
  family.up = "fc1";
  family.down = "fc2";
  family.activation = "relu2";
  family.score_cap = config.Real("final_logit_softcapping", 15);
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/olmo/modeling_olmo.py: OlmoModel.
void DescribeOlmo(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family;
  family.norms = {"layer", 1e-5};  // as in the class OlmoLayerNorm
  family.plain_norms = true;
  family.projection_limit = config.Real("clip_qkv", 0);
  if (family.projection_limit < 0) Fail("config.json: clip_qkv {} is not supported", family.projection_limit);
  config.Ignore({"rms_norm_eps"});  // the original does not read it
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/seed_oss/modeling_seed_oss.py: SeedOssModel.
void DescribeSeedOss(const Checkpoint& checkpoint, Description& description) {
  RefuseBiases(checkpoint, description.weights, "attention_out_bias", false, {"self_attn.o_proj"});
  LlamaLike family = RmsLike(checkpoint.config, 1e-6);
  family.head_size = StoredHeadSize(checkpoint.config, description.weights);
  DescribeLlamaLike(family, checkpoint, description);
}

// The original: transformers/models/vaultgemma/modeling_vaultgemma.py: VaultGemmaModel.
void DescribeVaultgemma(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  LlamaLike family = GemmaLike(config);
  family.forward_norm = "pre_feedforward_layernorm";
  config.Ignore({"hidden_act"});  // the original reads hidden_activation alone
  family.scale = 1 / sqrt(config.Real("query_pre_attn_scalar", 256));
  family.cap = config.Real("attn_logit_softcapping", 0);
  family.score_cap = config.Real("final_logit_softcapping", 0);
  family.slides = [](uint32_t i) { return i % 2 == 0; };
  DescribeLlamaLike(family, checkpoint, description);
}

// An encoder: attention in both directions. The original: transformers/models/eurobert/modeling_eurobert.py:
// EuroBertModel, EuroBertForMaskedLM, EuroBertForSequenceClassification.
void DescribeEurobert(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  if (checkpoint.task == Task::kCausalLm) {
    Fail("config.json: eurobert is an encoder; --task embedding or masked-lm converts it");
  }
  LlamaLike family = RmsLike(config, 1e-5);
  family.causal = false;
  SetTheta(family, 250000);
  // The head's activation does not depend on hidden_act.
  const Head classes = {.dense = "dense", .activation = "gelu", .out = "classifier"};
  const std::string pooling = config.Text("classifier_pooling", "late");
  if (checkpoint.task == Task::kSequenceClassification && pooling != "bos" && pooling != "mean") {
    Fail(
        "config.json: classifier_pooling {} is not supported: classes would be means over tokens of the classifier's "
        "results",
        pooling);
  }
  family.heads = [&](Heads& heads) {
    heads.sequence_pool = pooling == "mean" ? "mean" : "first";
    heads.sequence = classes;
    heads.token = {.out = "classifier"};
    heads.language = {.out = "lm_head"};
  };
  // BERT's keys, which the class does not read; clf_pooling is a former name.
  config.Ignore({"layer_norm_eps", "position_embedding_type", "type_vocab_size", "mask_token_id", "clf_pooling"});
  DescribeLlamaLike(family, checkpoint, description);
}

}  // namespace fovea::tools
