// ALBERT: BERT whose layers share weights in groups, with narrow embeddings that are projected to the hidden width. A
// hidden state is what all inner layers of a group make of the one before.
#include "tools/base/fail.h"
#include "tools/convert/arch/post_norm_encoder.h"

namespace fovea::tools {

void DescribeAlbert(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  PostNormEncoder encoder = EncoderFromConfig(config, "gelu_new");
  const uint32_t states = encoder.layers;
  const uint32_t inner = config.Number("inner_group_num", 1);
  const uint32_t groups = config.Number("num_hidden_groups", 1);
  config.Get("embedding_size");
  if (inner == 0 || groups == 0 || groups > states) {
    Fail("{} groups of {} inner layers cannot make {} layers", groups, inner, states);
  }
  encoder.prefix = "albert";
  encoder.projection = "encoder.embedding_hidden_mapping_in";
  encoder.layers = states * inner;
  encoder.layers_per_state = inner;
  encoder.layer = [=](uint32_t i) {
    const auto group = static_cast<uint32_t>(i / inner / (static_cast<double>(states) / groups));
    const std::string at = fmt::format("encoder.albert_layer_groups.{}.albert_layers.{}.", group, i % inner);
    return LayerNames{at + "attention.query", at + "attention.key",        at + "attention.value",
                      at + "attention.dense", at + "attention.LayerNorm",  at + "ffn",
                      at + "ffn_output",      at + "full_layer_layer_norm"};
  };
  encoder.pooler = "pooler";
  encoder.sequence.out = "classifier";
  encoder.language.dense = "predictions.dense";
  encoder.language.norm = "predictions.LayerNorm";
  encoder.language.out = "predictions.decoder";
  encoder.language_bias = "predictions.bias";
  DescribePostNormEncoder(encoder, checkpoint, description);
}

}  // namespace fovea::tools
