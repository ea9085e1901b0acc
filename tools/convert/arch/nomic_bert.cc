// Nomic BERT: BERT with rotary positions and a gated feed-forward, the norm after each residual sum.
#include "tools/base/fail.h"
#include "tools/convert/arch/layer_stack.h"
#include "tools/convert/constants.h"

namespace fovea::tools {

namespace {

void RefuseUnsupported(const Checkpoint& checkpoint) {
  const Config& config = checkpoint.config;
  for (const char* key : {"causal", "prenorm", "parallel_block", "scale_attn_by_inverse_layer_idx", "use_rms_norm"})
    config.Only(key, false);
  for (const char* key : {"rotary_emb_scale_base", "rotary_scaling_factor"}) config.Only(key, nullptr);
  config.Only("expert_choice_router", false);
  config.Only("num_shared_experts", 0);
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

// Experts in place of the feed-forward of every second layer or so (nomic-embed-text-v2-moe).
struct Mixture {
  uint32_t every = 0;  // 0: there are none
  uint32_t count = 0, chosen = 0;

  bool IsIn(uint32_t layer) const { return every != 0 && layer % every == 1; }
};

Mixture ReadMixture(const Config& config, bool gated) {
  Mixture mixture;
  mixture.count = config.Number("num_experts", 0);
  mixture.every = config.Number("moe_every_n_layers", 0);
  mixture.chosen = config.Number("moe_top_k", 1);
  if (mixture.count == 0 || mixture.every == 0) {
    mixture.every = 0;
    return mixture;
  }
  if (mixture.chosen == 0 || mixture.chosen > mixture.count) {
    Fail("config.json: moe_top_k {} of {} experts is not supported", mixture.chosen, mixture.count);
  }
  config.Only("moe_normalize_expert_weights", false);
  config.Only("ffn_div", 1);
  if (gated) Fail("config.json: activation_function: experts whose feed-forward is gated are not supported");
  return mixture;
}

// A softmax over all scores weights the experts. One bias is added to their sum: that of a plain feed-forward beside
// them, whose only hidden number is 0.
void NameExperts(const std::string& at, const Mixture& mixture, Weights& weights, StackLayer& layer) {
  const std::string mlp = at + "mlp.", experts = mlp + "experts.";
  layer.experts = {.router = mlp + "router.layer",
                   .up = experts + "up",
                   .down = experts + "down",
                   .count = mixture.count,
                   .chosen = mixture.chosen,
                   .of_all = true};
  layer.feed_forward.up = layer.feed_forward.down = "";
  if (weights.Has(experts + "up.weight")) return;  // GGUF files store them so, without the bias
  const Constant up = weights.Get(experts + "mlp.w1"), down = weights.Get(experts + "mlp.w2");
  const uint32_t width = up.width, middle = up.rows / mixture.count;
  if (up.rows != mixture.count * middle || down.rows != up.rows || down.width != width) {
    Fail("tensors {0}mlp.w1 [{1}, {2}] and {0}mlp.w2 [{3}, {4}] do not hold the matrices of {5} experts", experts,
         up.rows, up.width, down.rows, down.width, mixture.count);
  }
  weights.Add(experts + "up.weight", up);
  const Constant turned = Permute(down, {mixture.count, middle, width}, {0, 2, 1});
  weights.Add(experts + "down.weight", Reshape(turned, mixture.count * width, middle));
  weights.Add(experts + "none.weight", Literal(1, width, std::vector<float>(width)));
  weights.Add(experts + "sum.weight", Literal(width, 1, std::vector<float>(width)));
  weights.Add(experts + "sum.bias", weights.Get(experts + "bias"));
  layer.feed_forward.up = experts + "none";
  layer.feed_forward.down = experts + "sum";
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
  const Mixture mixture = ReadMixture(config, gated);
  for (uint32_t i = 0; i < layers; ++i) {
    const std::string at = fmt::format("{}encoder.layers.{}.", prefix, i);
    stack.layers.push_back(Layer(at, gated, rotary, weights));
    if (mixture.IsIn(i)) NameExperts(at, mixture, weights, stack.layers.back());
  }
  const std::string pooler = prefix + "pooler.dense";
  stack.task_heads = {.pooler = pooler,
                      .sequence = {.dense = pooler, .activation = "tanh", .out = "classifier"},
                      .token = {.out = "classifier"},
                      .choice = {.dense = pooler, .activation = "tanh", .out = "classifier"}};
  // Sizes and biases follow from the tensors; the remaining keys choose how the original computes the same.
  config.Ignore({"attn_pdrop",
                 "dense_seq_output",
                 "fused_bias_fc",
                 "fused_dropout_add_ln",
                 "layer_norm_eps",
                 "mlp_fc1_bias",
                 "mlp_fc2_bias",
                 "n_inner",
                 "pad_vocab_size_multiple",
                 "qkv_proj_bias",
                 "reorder_and_upcast_attn",
                 "type_vocab_size",
                 "use_flash_attn",
                 "use_xentropy",
                 "last_layer_subset",
                 "mlp_checkpoint_lvl",
                 "checkpointing",
                 "moe_impl",
                 "moe_resid_pdrop",
                 "router_aux_loss_coef"});
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
