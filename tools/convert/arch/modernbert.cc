// ModernBERT: norms in front, rotary positions, windows in all but every n-th layer, gated feed-forward. Projections to
// queries, keys and values are stored as one, as are gate and up.
#include "tools/base/fail.h"
#include "tools/convert/arch/layer_stack.h"
#include "tools/convert/arch/layer_types.h"

namespace fovea::tools {

void DescribeModernbert(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const std::string prefix = weights.Has("embeddings.tok_embeddings.weight") ? "" : "model.";
  LayerStack stack;
  stack.norms = {"layer", config.Real("norm_eps", 1e-5)};
  stack.heads = config.Number("num_attention_heads");
  stack.activation = config.Activation("hidden_activation", "gelu");
  stack.table = prefix + "embeddings.tok_embeddings.weight";
  stack.embedding_norm = prefix + "embeddings.norm";
  stack.final_norm = prefix + "final_norm";
  stack.last_state_is_normed = false;
  description.must_use = {prefix + "embeddings.", prefix + "layers.", prefix + "final_norm."};

  const uint32_t every = config.Number("global_attn_every_n_layers", 3);
  if (every == 0) Fail("config.json: global_attn_every_n_layers is 0");
  LayerTypes types;
  types.slides = [=](uint32_t i) { return i % every != 0; };
  types.rotary_dims = HeadSize(config, "hidden_size", stack.heads);
  types.full = {"global_rope_theta", 160000, nullptr};
  types.sliding = {"local_rope_theta", 10000, nullptr};
  const uint32_t side = config.Number("local_attention", 128) / 2;
  types.window = {side, side};
  for (const LayerType& type : ReadLayerTypes(config, types, description)) {
    const std::string at = fmt::format("{}layers.{}.", prefix, stack.layers.size());
    SplitLinear(weights, at + "attn.Wqkv", {"query", "key", "value"});
    SplitLinear(weights, at + "mlp.Wi", {"gate", "up"});
    StackLayer layer;
    if (!stack.layers.empty()) layer.attention.norm = at + "attn_norm";  // the first layer reads normed embeddings
    layer.attention.query = at + "attn.Wqkv.query";
    layer.attention.key = at + "attn.Wqkv.key";
    layer.attention.value = at + "attn.Wqkv.value";
    layer.attention.output = at + "attn.Wo";
    layer.rotary = type.rotary;
    layer.window = type.window;
    layer.feed_forward.norm = at + "mlp_norm";
    layer.feed_forward.gate = at + "mlp.Wi.gate";
    layer.feed_forward.up = at + "mlp.Wi.up";
    layer.feed_forward.down = at + "mlp.Wo";
    stack.layers.push_back(layer);
  }

  const std::string pooling = config.Text("classifier_pooling", "cls");
  if (pooling != "cls" && pooling != "mean") Fail("config.json: classifier_pooling {} is not supported", pooling);
  Heads& heads = stack.task_heads;
  heads.sequence_pool = pooling == "cls" ? "first" : "mean";
  const Head head = {"head.dense", config.Activation("classifier_activation", "gelu"), "head.norm", "classifier"};
  heads.sequence = heads.token = heads.language = head;
  heads.language.out = "decoder";
  heads.language_table = stack.table;
  RefuseBiases(checkpoint, weights, "attention_bias", false, {"attn.Wqkv", "attn.Wo"});
  RefuseBiases(checkpoint, weights, "mlp_bias", false, {"mlp.Wi", "mlp.Wo"});
  RefuseBiases(checkpoint, weights, "norm_bias", false, {"norm"});
  RefuseBiases(checkpoint, weights, "classifier_bias", false, {"head.dense"});
  RefuseBiases(checkpoint, weights, "decoder_bias", true, {"decoder"});
  // What follows from the tensors or concerns training.
  for (const char* key : {"deterministic_flash_attn", "initializer_cutoff_factor", "intermediate_size",
                          "layer_norm_eps", "position_embedding_type", "reference_compile", "repad_logits_with_grad",
                          "sparse_pred_ignore_index", "sparse_prediction"}) {
    config.Get(key);
  }
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
