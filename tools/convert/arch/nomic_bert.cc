// Nomic BERT: BERT with rotary positions and a gated feed-forward, the norm after each residual sum.
#include "tools/base/fail.h"
#include "tools/convert/arch/layer_stack.h"

namespace fovea::tools {

void DescribeNomicBert(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  for (const char* key : {"causal", "prenorm", "parallel_block", "scale_attn_by_inverse_layer_idx", "use_rms_norm"})
    config.Only(key, false);
  for (const char* key : {"rotary_emb_scale_base", "rotary_scaling_factor"}) config.Only(key, nullptr);
  for (const char* key : {"num_experts", "moe_every_n_layers"}) config.Only(key, 0);
  config.Only("scale_attn_weights", true);
  const std::string activation = config.Text("activation_function");
  const bool gated = activation == "swiglu" || activation == "geglu" || activation == "glu";
  const std::string prefix = weights.Has("embeddings.word_embeddings.weight") ? "" : "bert.";
  description.must_use = {prefix + "embeddings.", prefix + "encoder.", prefix + "emb_ln."};
  LayerStack stack;
  stack.norms = {"layer", config.Real("layer_norm_epsilon", 1e-12)};
  stack.heads = config.Number("n_head");
  if (gated) {
    stack.activation = activation == "swiglu" ? "silu" : activation == "geglu" ? "gelu" : "sigmoid";
  } else {
    stack.activation = config.Activation("activation_function");
  }
  stack.table = prefix + "embeddings.word_embeddings.weight";
  stack.embedding_norm = prefix + "emb_ln";
  const std::string table = stack.table, types = prefix + "embeddings.token_type_embeddings.weight";
  if (weights.Has(types)) {
    stack.front = {{{"texts"}, {"tokens", "texts"}},
                   {"input_ids", "tokens"},
                   [=](ProgramBuilder& b, const std::string& in, const std::string& out) {
                     b.InputOfIds("token_type_ids", 0);
                     return b.Op("embed", {in, "token_type_ids"}, {table, types}, out);
                   }};
  }
  const std::string learned = prefix + "embeddings.position_embeddings.weight";
  const uint32_t size = HeadSize(config, "n_embd", stack.heads);
  const uint32_t dims = RotaryDims(config, size, "rotary_emb_fraction", 0);
  RotaryPositions rotary;
  if (dims > 0) {
    rotary = ReadRotary(config, {"rotary_emb_base", 10000, nullptr}, dims, "tokens", weights);
    rotary.interleaved = config.Flag("rotary_emb_interleaved", false);
  }
  const uint32_t positions = config.Number("max_trained_positions", config.Number("n_positions", 2048));
  description.SetMetadata("max_positions", std::to_string(positions));
  if (weights.Has(learned)) {
    stack.positions = learned;
    description.SetMetadata("max_positions", std::to_string(weights.Get(learned).rows));
  }
  const uint32_t layers = config.Number("n_layer");
  for (uint32_t i = 0; i < layers; ++i) {
    const std::string at = fmt::format("{}encoder.layers.{}.", prefix, i), projection = at + "attn.Wqkv";
    SplitLinear(weights, projection, {"query", "key", "value"});
    StackLayer layer;
    layer.attention.query = projection + ".query";
    layer.attention.key = projection + ".key";
    layer.attention.value = projection + ".value";
    layer.attention.output = at + "attn.out_proj";
    layer.attention.sum_norm = at + "norm1";
    layer.rotary = rotary;
    if (gated) layer.feed_forward.gate = at + "mlp.fc12";
    layer.feed_forward.up = at + (gated ? "mlp.fc11" : "mlp.fc1");
    layer.feed_forward.down = at + "mlp.fc2";
    layer.feed_forward.sum_norm = at + "norm2";
    stack.layers.push_back(layer);
  }

  Heads& heads = stack.task_heads;
  heads.pooler = prefix + "pooler.dense";
  heads.sequence = {heads.pooler, "tanh", "", "classifier"};
  heads.token.out = "classifier";
  if (checkpoint.task == Task::kMaskedLm) {
    Fail("its head for masked words is not supported; --task embedding converts the encoder without it");
  }
  // What follows from tensors, and how the original computes.
  for (const char* key : {"attn_pdrop", "dense_seq_output", "fused_bias_fc", "fused_dropout_add_ln", "layer_norm_eps",
                          "mlp_fc1_bias", "mlp_fc2_bias", "n_inner", "pad_vocab_size_multiple", "qkv_proj_bias",
                          "reorder_and_upcast_attn", "type_vocab_size", "use_flash_attn", "use_xentropy",
                          "last_layer_subset", "mlp_checkpoint_lvl", "checkpointing"}) {
    config.Get(key);
  }
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
