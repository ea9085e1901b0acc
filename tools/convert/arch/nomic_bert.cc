// Nomic BERT: BERT with rotary positions and a gated feed-forward, the norm after each residual sum.
#include "tools/base/fail.h"
#include "tools/convert/arch/layer_stack.h"

namespace fovea::tools {

namespace {

void RefuseUnsupported(const Checkpoint& checkpoint) {
  const Config& config = checkpoint.config;
  for (const char* key : {"causal", "prenorm", "parallel_block", "scale_attn_by_inverse_layer_idx", "use_rms_norm"})
    config.Only(key, false);
  for (const char* key : {"rotary_emb_scale_base", "rotary_scaling_factor"}) config.Only(key, nullptr);
  for (const char* key : {"num_experts", "moe_every_n_layers"}) config.Only(key, 0);
  config.Only("scale_attn_weights", true);
  if (checkpoint.task == Task::kMaskedLm) {
    Fail("the head for masked words is not supported; --task embedding converts the encoder without it");
  }
}

// Returns whether the feed-forward is gated.
bool SetActivation(const Config& config, LayerStack& stack) {
  const std::string activation = config.Text("activation_function");
  const bool gated = activation == "swiglu" || activation == "geglu" || activation == "glu";
  if (gated) {
    stack.activation = activation == "swiglu" ? "silu" : activation == "geglu" ? "gelu" : "sigmoid";
  } else {
    stack.activation = config.Activation("activation_function");
  }
  return gated;
}

void SetEmbeddings(const std::string& prefix, Description& description, LayerStack& stack) {
  stack.table = prefix + "embeddings.word_embeddings.weight";
  stack.embedding_norm = prefix + "emb_ln";
  const std::string types = prefix + "embeddings.token_type_embeddings.weight";
  if (!description.weights.Has(types)) return;
  stack.added = {{"token_type_ids", types}};
  description.SetMetadata("default.token_type_ids", "0");
}

// Returns the rotary positions of all layers; a stored table is added to embeddings.
RotaryPositions ReadPositions(const Config& config, const std::string& prefix, Description& description,
                              LayerStack& stack) {
  Weights& weights = description.weights;
  const uint32_t size = HeadSize(config, "n_embd", stack.heads);
  const uint32_t dims = RotaryDims(config, size, "rotary_emb_fraction", 0);
  RotaryPositions rotary;
  if (dims > 0) {
    const RotaryKeys keys = {.theta = "rotary_emb_base", .absent = 10000, .scaling = nullptr};
    rotary = ReadRotary(config, keys, dims, "tokens", weights);
    rotary.interleaved = config.Flag("rotary_emb_interleaved", false);
  }
  uint32_t positions = config.Number("max_trained_positions", config.Number("n_positions", 2048));
  const std::string learned = prefix + "embeddings.position_embeddings.weight";
  if (weights.Has(learned)) {
    stack.positions = learned;
    positions = weights.Get(learned).rows;
  }
  description.SetMetadata("max_positions", std::to_string(positions));
  return rotary;
}

StackLayer Layer(const std::string& at, bool gated, const RotaryPositions& rotary, Weights& weights) {
  const std::string projection = at + "attn.Wqkv";
  SplitLinear(weights, projection, {"query", "key", "value"});
  return {.attention = {.query = projection + ".query",
                        .key = projection + ".key",
                        .value = projection + ".value",
                        .output = at + "attn.out_proj",
                        .sum_norm = at + "norm1"},
          .feed_forward = {.gate = gated ? at + "mlp.fc12" : "",
                           .up = at + (gated ? "mlp.fc11" : "mlp.fc1"),
                           .down = at + "mlp.fc2",
                           .sum_norm = at + "norm2"},
          .rotary = rotary};
}

}  // namespace

// The original: modeling_hf_nomic_bert.py, published with the models of Nomic AI: NomicBertModel.
void DescribeNomicBert(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  RefuseUnsupported(checkpoint);
  const std::string prefix = weights.Has("embeddings.word_embeddings.weight") ? "" : "bert.";
  description.must_use = {prefix + "embeddings.", prefix + "encoder.", prefix + "emb_ln."};
  LayerStack stack;
  stack.norms = {.kind = "layer", .epsilon = config.Real("layer_norm_epsilon", 1e-12)};
  stack.heads = config.Number("n_head");
  const bool gated = SetActivation(config, stack);
  SetEmbeddings(prefix, description, stack);
  const RotaryPositions rotary = ReadPositions(config, prefix, description, stack);
  const uint32_t layers = config.Number("n_layer");
  for (uint32_t i = 0; i < layers; ++i) {
    stack.layers.push_back(Layer(fmt::format("{}encoder.layers.{}.", prefix, i), gated, rotary, weights));
  }
  const std::string pooler = prefix + "pooler.dense";
  stack.task_heads = {.pooler = pooler,
                      .sequence = {.dense = pooler, .activation = "tanh", .out = "classifier"},
                      .token = {.out = "classifier"},
                      .choice = {.dense = pooler, .activation = "tanh", .out = "classifier"}};
  // Sizes and biases follow from the tensors; the remaining keys choose how the original computes the same.
  config.Ignore({"attn_pdrop", "dense_seq_output", "fused_bias_fc", "fused_dropout_add_ln", "layer_norm_eps",
                 "mlp_fc1_bias", "mlp_fc2_bias", "n_inner", "pad_vocab_size_multiple", "qkv_proj_bias",
                 "reorder_and_upcast_attn", "type_vocab_size", "use_flash_attn", "use_xentropy", "last_layer_subset",
                 "mlp_checkpoint_lvl", "checkpointing"});
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
