// T5: RMS norms, no bias anywhere, no positions but a bias by distance, which the first layer stores and all
// share; attention is not scaled.
#include <math.h>

#include "tools/base/fail.h"
#include "tools/convert/arch/sequence_to_sequence.h"
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

// "encoder" or "decoder".
LayerStack Stack(const std::string& side, const Config& config, Weights& weights) {
  const FeedForward feed_forward = FeedForwardOf(config);
  LayerStack stack;
  stack.causal = side == "decoder";
  stack.norms = {"rms", config.Real("layer_norm_epsilon", 1e-6)};
  stack.heads = config.Number("num_heads");
  stack.scale = 1;
  stack.activation = feed_forward.activation;
  stack.table = weights.Has(side + ".embed_tokens.weight") ? side + ".embed_tokens.weight" : "shared.weight";
  stack.final_norm = side + ".final_layer_norm";
  const Constant buckets = weights.Get(side + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight");
  config.Only("relative_attention_num_buckets", buckets.rows);
  stack.distance_bias = side + ".distance_bias";
  weights.Add(stack.distance_bias,
              RelativeBuckets(buckets, config.Number("relative_attention_max_distance", 128), stack.causal));
  const uint32_t encoder_layers = config.Number("num_layers");
  const uint32_t layers = stack.causal ? config.Number("num_decoder_layers", encoder_layers) : encoder_layers;
  const auto attention = [](const std::string& at, const std::string& name) {
    const std::string self = at + name + ".";
    return AttentionNames{at + "layer_norm", self + "q", self + "k", self + "v", self + "o", "", "", "", ""};
  };
  for (uint32_t i = 0; i < layers; ++i) {
    const std::string at = fmt::format("{}.block.{}.layer.", side, i), last = at + (stack.causal ? "2." : "1.");
    StackLayer layer;
    layer.attention = attention(at + "0.", "SelfAttention");
    if (stack.causal) layer.cross = attention(at + "1.", "EncDecAttention");
    layer.feed_forward.norm = last + "layer_norm";
    if (feed_forward.gated) layer.feed_forward.gate = last + "DenseReluDense.wi_0";
    layer.feed_forward.up = last + (feed_forward.gated ? "DenseReluDense.wi_1" : "DenseReluDense.wi");
    layer.feed_forward.down = last + "DenseReluDense.wo";
    stack.layers.push_back(layer);
  }
  return stack;
}

}  // namespace

void DescribeT5(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  Weights& weights = description.weights;
  const LayerStack encoder = Stack("encoder", config, weights);
  LayerStack decoder;
  description.must_use = {"encoder."};
  if (checkpoint.task == Task::kSequenceToSequence) {
    decoder = Stack("decoder", config, weights);
    description.must_use.push_back("decoder.");
    Heads& heads = decoder.task_heads;
    heads.language.out = "lm_head";
    heads.language_table = "shared.weight";
    if (config.Flag("tie_word_embeddings", true)) heads.score_scale = 1 / sqrt(config.Number("d_model"));
  } else if (checkpoint.task != Task::kEncoder && checkpoint.task != Task::kBackbone) {
    Fail("config.json: t5 is an encoder (--task encoder) or has a head (--task seq2seq-lm), nothing else");
  }
  // These follow from the tensors, or concern training.
  for (const char* key : {"d_ff", "d_kv", "d_model", "initializer_factor", "is_encoder_decoder", "n_positions",
                          "num_decoder_layers", "output_past"}) {
    config.Get(key);
  }
  DescribeSequenceToSequence(encoder, decoder, checkpoint, description);
}

}  // namespace fovea::tools
