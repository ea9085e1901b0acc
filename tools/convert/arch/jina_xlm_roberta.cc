// Jina's encoders over XLM-RoBERTa (jina-embeddings-v3, jina-reranker-v2, jina-colbert-v2): XLM-RoBERTa under the names
// of flash-attention's BERT, with rotary or learned positions. They are published as `xlm-roberta` with custom code.
#include "tools/base/fail.h"
#include "tools/convert/arch/bert_family.h"

namespace fovea::tools {
namespace {

BertLike FamilyOf(const Config& config) {
  BertLike family;
  family.prefix = "roberta";
  family.layers = config.Number("num_hidden_layers");
  family.heads = config.Number("num_attention_heads");
  family.epsilon = config.Real("layer_norm_eps", 1e-12);
  family.activation = config.Activation("hidden_act", "gelu");
  if (family.activation != "gelu" && family.activation != "gelu_tanh") {
    Fail("config.json: hidden_act {} is not supported: these models have gelu or a tanh form of it", family.activation);
  }
  family.first_position = config.Number("pad_token_id", 1) + 1;
  SetRobertaHeads(family);
  return family;
}

// Keys that choose how the original computes the same, sizes that follow from the tensors, settings of adapters
// (published/task_adapters.h) and of code that is not run.
void IgnoreKeys(const Config& config) {
  config.Ignore({"hidden_size",      "intermediate_size", "max_position_embeddings", "type_vocab_size",
                 "use_flash_attn",   "use_reentrant",     "fused_bias_fc",           "fused_dropout_add_ln",
                 "fused_mlp",        "emb_pooler",        "matryoshka_dimensions",   "truncate_dim",
                 "lora_adaptations", "lora_alpha",        "lora_dropout_p",          "lora_main_params_trainable",
                 "lora_prompts",     "lora_rank",         "load_trained_adapters",   "task_instructions"});
}

}  // namespace

// The original: modeling_xlm_roberta.py of jinaai/xlm-roberta-flash-implementation: XLMRobertaModel.
void DescribeJinaXlmRoberta(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string positions = config.Text("position_embedding_type", "absolute");
  if (positions != "absolute" && positions != "rotary") {
    Fail("config.json: position_embedding_type {} is not supported: absolute and rotary are", positions);
  }
  config.Only("last_layer_subset", false);
  config.Only("rotary_emb_scale_base", nullptr);
  config.Only("use_qkv_bias", true);
  BertLike family = FamilyOf(config);
  family.positioned = positions == "absolute";
  RotaryPositions rotary;
  if (!family.positioned) {
    const uint32_t dims = config.Number("rotary_emb_dim", HeadSize(config, "hidden_size", family.heads));
    rotary = ReadRotary(config, {.theta = "rotary_emb_base", .scaling = nullptr}, dims, "positions", weights);
    rotary.interleaved = config.Flag("rotary_emb_interleaved", false);
  }
  family.layer = [&](const std::string& root, uint32_t i) {
    const std::string at = fmt::format("{}encoder.layers.{}.", root, i), packed = at + "mixer.Wqkv";
    SplitLinear(weights, packed, {"query", "key", "value"});
    return StackLayer{.attention = {.query = packed + ".query",
                                    .key = packed + ".key",
                                    .value = packed + ".value",
                                    .output = at + "mixer.out_proj",
                                    .sum_norm = at + "norm1"},
                      .feed_forward = {.up = at + "mlp.fc1", .down = at + "mlp.fc2", .sum_norm = at + "norm2"},
                      .rotary = rotary};
  };
  LayerStack stack = BertStack(family, description);
  const std::string norm = RootOf(family, weights) + "emb_ln";
  stack.embedding_norm = norm;
  description.must_use.push_back(norm + ".");
  if (!family.positioned) {
    description.SetMetadata("max_positions", std::to_string(config.Number("max_position_embeddings")));
  }
  IgnoreKeys(config);
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
