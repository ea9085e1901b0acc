// Alibaba's encoders (gte-*-v1.5, gte-multilingual): BERT with rotary positions, queries, keys and values in one layer,
// and a gated feed-forward. They are published as `new` with custom code; Snowflake calls the same code `gte`.
#include "tools/base/fail.h"
#include "tools/convert/arch/bert_family.h"

namespace fovea::tools {
namespace {

// Splits projections that are stored as one; otherwise they are stored apart.
AttentionNames NameAttention(const std::string& at, uint32_t i, Weights& weights) {
  const std::string self = fmt::format("{}encoder.layer.{}.attention.", at, i), packed = self + "qkv_proj";
  const bool one = weights.Has(packed + ".weight");
  if (one) SplitLinear(weights, packed, {"q_proj", "k_proj", "v_proj"});
  const std::string from = one ? packed + "." : self;
  return {.query = from + "q_proj",
          .key = from + "k_proj",
          .value = from + "v_proj",
          .output = self + "o_proj",
          .sum_norm = fmt::format("{}encoder.layer.{}.attn_ln", at, i)};
}

}  // namespace

// The original: modeling.py of Alibaba-NLP/new-impl: NewModel.
void DescribeNewModel(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string positions = config.Text("position_embedding_type", "rope");
  if (positions != "rope") Fail("config.json: position_embedding_type {} is not supported", positions);
  config.Only("layer_norm_type", "layer_norm");
  config.Only("logn_attention_scale", false);
  BertLike family;
  family.prefix = weights.Has("gte.embeddings.word_embeddings.weight") ? "gte" : "new";
  family.layers = config.Number("num_hidden_layers");
  family.heads = config.Number("num_attention_heads");
  family.epsilon = config.Real("layer_norm_eps", 1e-12);
  family.activation = config.Activation("hidden_act", "gelu");
  family.positioned = false;
  family.pooler = "pooler.dense";
  family.sequence = {.out = "classifier"};
  family.language = {.dense = "lm_head.dense", .norm = "lm_head.norm", .out = "lm_head.decoder"};
  const uint32_t size = HeadSize(config, "hidden_size", family.heads);
  const RotaryPositions rotary = ReadRotary(config, {"rope_theta", 10000, "rope_scaling"}, size, "positions", weights);
  family.layer = [&](const std::string& root, uint32_t i) {
    const std::string at = fmt::format("{}encoder.layer.{}.", root, i);
    SplitLinear(weights, at + "mlp.up_gate_proj", {"up", "gate"});
    StackLayer layer;
    layer.attention = NameAttention(root, i, weights);
    layer.feed_forward = {.gate = at + "mlp.up_gate_proj.gate",
                          .up = at + "mlp.up_gate_proj.up",
                          .down = at + "mlp.down_proj",
                          .sum_norm = at + "mlp_ln"};
    layer.rotary = rotary;
    return layer;
  };
  LayerStack stack = BertStack(family, description);
  description.SetMetadata("max_positions", std::to_string(config.Number("max_position_embeddings")));
  // Sizes follow from the tensors; the remaining keys choose how the original computes the same.
  config.Ignore({"intermediate_size", "type_vocab_size", "pack_qkv", "logn_attention_clip1", "unpad_inputs",
                 "use_memory_efficient_attention"});
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
