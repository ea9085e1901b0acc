// T5's encoder: RMS norms, no bias anywhere, no positions but a bias by distance, which the first layer stores and all
// share; attention is not scaled.
#include "tools/base/fail.h"
#include "tools/convert/arch/layer_stack.h"
#include "tools/convert/constants.h"

namespace fovea::tools {
namespace {

struct FeedForward {
  bool gated;
  std::string activation;
};

// "relu", "gated-gelu": the latter is the tanh form.
FeedForward FeedForwardOf(const Config& config) {
  const std::string kind = config.Text("feed_forward_proj", "relu");
  const bool gated = kind.rfind("gated-", 0) == 0;
  const std::string activation = gated ? kind.substr(6) : kind;
  const std::string name = ActivationName(kind == "gated-gelu" ? "gelu_new" : activation);
  if (name.empty()) Fail("config.json: feed_forward_proj {} is not supported", kind);
  config.Only("is_gated_act", gated);  // newer configurations repeat it
  if (config.Activation("dense_act_fn", kind == "gated-gelu" ? "gelu_new" : activation) != name) {
    Fail("config.json: dense_act_fn does not fit feed_forward_proj {}", kind);
  }
  return {gated, name};
}

}  // namespace

void DescribeT5(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  if (checkpoint.task != Task::kEncoder && checkpoint.task != Task::kBackbone) {
    Fail("config.json: the decoder of t5 is not supported; --task encoder converts the encoder alone");
  }
  Weights& weights = description.weights;
  const FeedForward feed_forward = FeedForwardOf(config);
  LayerStack stack;
  stack.norms = {"rms", config.Real("layer_norm_epsilon", 1e-6)};
  stack.heads = config.Number("num_heads");
  stack.scale = 1;
  stack.activation = feed_forward.activation;
  stack.table = weights.Has("encoder.embed_tokens.weight") ? "encoder.embed_tokens.weight" : "shared.weight";
  stack.final_norm = "encoder.final_layer_norm";
  description.must_use = {"encoder."};

  const Constant buckets = weights.Get("encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight");
  config.Only("relative_attention_num_buckets", buckets.rows);
  stack.distance_bias = "encoder.distance_bias";
  weights.Add(stack.distance_bias, RelativeBuckets(buckets, config.Number("relative_attention_max_distance", 128)));
  const uint32_t layers = config.Number("num_layers");
  for (uint32_t i = 0; i < layers; ++i) {
    const std::string at = fmt::format("encoder.block.{}.layer.", i);
    StackLayer layer;
    layer.attention.norm = at + "0.layer_norm";
    layer.attention.query = at + "0.SelfAttention.q";
    layer.attention.key = at + "0.SelfAttention.k";
    layer.attention.value = at + "0.SelfAttention.v";
    layer.attention.output = at + "0.SelfAttention.o";
    layer.feed_forward.norm = at + "1.layer_norm";
    if (feed_forward.gated) layer.feed_forward.gate = at + "1.DenseReluDense.wi_0";
    layer.feed_forward.up = at + (feed_forward.gated ? "1.DenseReluDense.wi_1" : "1.DenseReluDense.wi");
    layer.feed_forward.down = at + "1.DenseReluDense.wo";
    stack.layers.push_back(layer);
  }
  // These follow from the tensors, or concern the decoder and training.
  for (const char* key : {"d_ff", "d_kv", "d_model", "initializer_factor", "is_encoder_decoder", "n_positions",
                          "num_decoder_layers", "output_past"}) {
    config.Get(key);
  }
  DescribeStack(stack, checkpoint, description);
  if (checkpoint.task == Task::kEncoder) {
    // As the whole model calls them.
    description.SetMetadata("alias.encoder_last_hidden_state", "last_hidden_state");
    for (uint32_t i = 0; i < layers; ++i) {
      description.SetMetadata(fmt::format("alias.encoder_hidden_states.{}", i), fmt::format("hidden_states.{}", i));
      description.SetMetadata(fmt::format("alias.encoder_attentions.{}", i), fmt::format("attentions.{}", i));
    }
    description.SetMetadata(fmt::format("alias.encoder_hidden_states.{}", layers), "last_hidden_state");
  }
}

}  // namespace fovea::tools
