// ModernBERT: pre-norm, rotary positions, windows in all but every n-th layer, gated feed-forward. Projections to
// queries, keys and values are stored as one, as are gate and up.
#include "tools/base/fail.h"
#include "tools/convert/arch/layer_stack.h"
#include "tools/convert/arch/layer_types.h"

namespace fovea::tools {

namespace {

std::vector<LayerType> TypesOfLayers(const Config& config, uint32_t heads, Description& description) {
  const uint32_t every = config.Number("global_attn_every_n_layers", 3);
  if (every == 0) Fail("config.json: global_attn_every_n_layers must not be 0");
  LayerTypes types;
  types.slides = [=](uint32_t i) { return i % every != 0; };
  types.rotary_dims = HeadSize(config, "hidden_size", heads);
  types.full = {.theta = "global_rope_theta", .absent = 160000, .scaling = nullptr};
  types.sliding = {.theta = "local_rope_theta", .absent = 10000, .scaling = nullptr};
  const uint32_t side = config.Number("local_attention", 128) / 2;
  types.window = {side, side};
  return ReadLayerTypes(config, types, description);
}

StackLayer Layer(const std::string& at, const LayerType& type, Weights& weights) {
  SplitLinear(weights, at + "attn.Wqkv", {"query", "key", "value"});
  SplitLinear(weights, at + "mlp.Wi", {"gate", "up"});
  return {.attention = {.norm = at + "attn_norm",
                        .query = at + "attn.Wqkv.query",
                        .key = at + "attn.Wqkv.key",
                        .value = at + "attn.Wqkv.value",
                        .output = at + "attn.Wo"},
          .feed_forward = {.norm = at + "mlp_norm",
                           .gate = at + "mlp.Wi.gate",
                           .up = at + "mlp.Wi.up",
                           .down = at + "mlp.Wo"},
          .rotary = type.rotary,
          .window = type.window};
}

Heads HeadsOf(const Config& config, const std::string& table) {
  const std::string pooling = config.Text("classifier_pooling", "cls");
  if (pooling != "cls" && pooling != "mean") Fail("config.json: classifier_pooling {} is not supported", pooling);
  const Head head = {.dense = "head.dense",
                     .activation = config.Activation("classifier_activation", "gelu"),
                     .norm = "head.norm",
                     .out = "classifier"};
  Heads heads;
  heads.sequence_pool = pooling == "cls" ? "first" : "mean";  // also of heads for choices
  heads.sequence = heads.token = heads.language = heads.span = heads.choice = head;
  heads.language.out = "decoder";
  heads.language_table = table;
  return heads;
}

}  // namespace

// The original: transformers/models/modernbert/modeling_modernbert.py: ModernBertModel.
void DescribeModernbert(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string prefix = weights.Has("embeddings.tok_embeddings.weight") ? "" : "model.";
  description.must_use = {prefix + "embeddings.", prefix + "layers.", prefix + "final_norm."};
  LayerStack stack;
  stack.norms = {.kind = "layer", .epsilon = config.Real("norm_eps", 1e-5)};
  stack.heads = config.Number("num_attention_heads");
  stack.activation = config.Activation("hidden_activation", "gelu");
  stack.table = prefix + "embeddings.tok_embeddings.weight";
  stack.embedding_norm = prefix + "embeddings.norm";
  stack.final_norm = prefix + "final_norm";
  stack.last_state_is_normed = false;
  for (const LayerType& type : TypesOfLayers(config, stack.heads, description)) {
    stack.layers.push_back(Layer(fmt::format("{}layers.{}.", prefix, stack.layers.size()), type, weights));
  }
  if (!stack.layers.empty()) stack.layers[0].attention.norm = "";  // the first layer reads normed embeddings
  stack.task_heads = HeadsOf(config, stack.table);
  RefuseBiases(checkpoint, weights, "attention_bias", false, {"attn.Wqkv", "attn.Wo"});
  RefuseBiases(checkpoint, weights, "mlp_bias", false, {"mlp.Wi", "mlp.Wo"});
  RefuseBiases(checkpoint, weights, "norm_bias", false, {"norm"});
  RefuseBiases(checkpoint, weights, "classifier_bias", false, {"head.dense"});
  RefuseBiases(checkpoint, weights, "decoder_bias", true, {"decoder"});
  // The size follows from the tensors; the remaining keys concern training or choose how the original computes the
  // same.
  config.Ignore({"deterministic_flash_attn", "initializer_cutoff_factor", "intermediate_size", "layer_norm_eps",
                 "position_embedding_type", "reference_compile", "repad_logits_with_grad", "sparse_pred_ignore_index",
                 "sparse_prediction"});
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
