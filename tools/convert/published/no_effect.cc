#include "tools/convert/published/no_effect.h"

#include <nlohmann/json.hpp>

#include "tools/base/affixes.h"

namespace fovea::tools {
namespace {

struct Key {
  const char* name;
  const char* value;  // JSON: the value with which it changes nothing; null: any
};

constexpr Key kKeys[] = {
    // Training: initial values, losses, regularisation, checkpointing.
    {"init_std", nullptr},
    {"init_method_std", nullptr},
    {"initializer_factor", nullptr},
    {"initializer_cutoff_factor", nullptr},
    {"layerdrop", nullptr},
    {"embedding_initializer_range", nullptr},
    {"mlp_checkpoint_lvl", nullptr},
    {"checkpointing", nullptr},
    {"z_loss", nullptr},
    {"neftune_noise_alpha", nullptr},
    {"replacing_rate", nullptr},
    {"student_encoder_layers", nullptr},
    {"student_decoder_layers", nullptr},
    {"pretraining_tp", nullptr},  // how the original splits products; their sum is the same
    {"ep_size", nullptr},
    {"seq_length", nullptr},
    {"trainable_layers", nullptr},
    {"pretrained_config", nullptr},
    {"for_llm_compressor", nullptr},
    // How the original computes the same.
    {"_attn_implementation", nullptr},
    {"_attn_implementation_autoset", nullptr},
    {"_experts_implementation", nullptr},
    {"_flash_attn_2_enabled", nullptr},
    {"attn_impl", nullptr},
    {"use_flash_attn", nullptr},
    {"use_flash_attention", nullptr},
    {"use_memory_efficient_attention", nullptr},
    {"unpad_inputs", nullptr},
    {"use_xentropy", nullptr},
    {"fused_bias_fc", nullptr},
    {"fused_dropout_add_ln", nullptr},
    {"fuse_cross_entropy", nullptr},
    {"fuse_norm", nullptr},
    {"fuse_swiglu", nullptr},
    {"reference_compile", nullptr},
    {"use_triton", nullptr},
    {"use_return_dict", nullptr},
    {"bias_dropout_fusion", nullptr},
    {"masked_softmax_fusion", nullptr},
    {"attention_softmax_in_fp32", nullptr},
    {"cache_implementation", nullptr},
    {"low_cpu_mem_usage", nullptr},
    {"use_parallel_embedding", nullptr},
    // Heads that were not chosen.
    {"summary_activation", nullptr},
    {"summary_first_dropout", nullptr},
    {"summary_last_dropout", nullptr},
    {"summary_proj_to_labels", nullptr},
    {"summary_type", nullptr},
    {"summary_use_proj", nullptr},
    {"mask_token_index", nullptr},
    // Other programs' and tools' settings.
    {"transformers.js_config", nullptr},
    {"onnx", nullptr},
    {"unsloth_version", nullptr},
    {"unsloth_fixed", nullptr},
    {"_valid_processor_keys", nullptr},
    {"auto_map", nullptr},
    {"custom_pipelines", nullptr},
    {"sentence_transformers", nullptr},
    {"model_max_length", nullptr},
    {"max_new_tokens", nullptr},
    {"is_llama_config", nullptr},
    {"base_model", nullptr},
    {"license", nullptr},
    {"tokenizer_name", nullptr},
    {"emb_pooler", nullptr},  // how the code of the model pools in its own `encode`
    {"task_instructions", nullptr},
    {"adapter_fusion", nullptr},
    {"adapters", nullptr},
    {"output_past", nullptr},
    // With these values the family computes what it always does.
    {"rope_interleaved", "false"},
    {"rope_local_base_freq", "null"},
    {"use_mrope", "false"},
    {"original_max_position_embeddings", nullptr},  // where no scaling of positions reads it
    {"full_attn_mod", "1"},
    {"interpolate_factor", "1"},
    {"apply_residual_connection_post_layernorm", "false"},
    {"max_window_layers", nullptr},  // where no layer slides by it
    {"use_resampler", "false"},
    {"qk_layer_norms", "false"},
    {"is_causal", "true"},
    {"qk_norm", "false"},
    {"use_qk_norm", "false"},
    {"use_qkv_bias", "false"},
    {"use_bias", "false"},
    {"rms_norm", "false"},
    {"moe", "false"},
    {"use_cla", "false"},
    {"layer_sharing", "false"},
    {"attention_out_bias", "false"},
    {"logit_scale", "1.0"},
    {"embedding_multiplier", "1.0"},
    {"logn_attention_scale", "false"},
    {"logn_attention_clip1", "false"},
    {"parallel_block_tied_norm", "false"},
    {"parallel_block", "false"},
    {"add_cross_attention", "false"},
    {"is_decoder", "false"},
    {"is_encoder_decoder", "false"},
    {"is_composition", "false"},
    {"cross_attention_hidden_size", "null"},
    {"use_sliding_window", "false"},
    {"num_nextn_predict_layers", "0"},
    {"matryoshka_dimensions", nullptr},
    {"truncate_dim", "null"},
    {"ffn_config", "{}"},
    {"add_pooling_layer", nullptr},  // a pooler is there if it is stored
};

}  // namespace

bool HasNoEffect(const std::string& key, const Json& value) {
  // Settings of muP that only training reads begin so; settings of the forward pass have other names.
  if (StartsWith(key, "mup_init_") || StartsWith(key, "_loss_")) return true;
  for (const Key& known : kKeys) {
    if (key != known.name) continue;
    if (known.value == nullptr || value.dump() == known.value) return true;
    // 1 and 1.0 are the same number.
    const Json wanted = Json::parse(known.value, nullptr, false);
    if (wanted.is_number() && value.is_number() && wanted.get<double>() == value.get<double>()) return true;
  }
  return false;
}

}  // namespace fovea::tools
