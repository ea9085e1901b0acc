// ALBERT: BERT whose layers share weights in groups, with narrow embeddings that are projected to the hidden size. A
// hidden state is the result of all inner layers of a group.
#include "tools/base/fail.h"
#include "tools/convert/arch/bert_family.h"

namespace fovea::tools {

// The original: transformers/models/albert/modeling_albert.py: AlbertModel.
void DescribeAlbert(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  BertLike family = EncoderFromConfig(config, "gelu_new");
  const uint32_t states = family.layers;
  const uint32_t inner = config.Number("inner_group_num", 1);
  const uint32_t groups = config.Number("num_hidden_groups", 1);
  config.Ignore({"embedding_size"});  // follows from the tensors
  if (inner == 0 || groups == 0 || groups > states) {
    Fail("{} groups of {} inner layers cannot make {} layers", groups, inner, states);
  }
  family.prefix = "albert";
  family.projection = "encoder.embedding_hidden_mapping_in";
  family.layers = states * inner;
  family.layer = [=](const std::string& root, uint32_t i) {
    const auto group = static_cast<uint32_t>(i / inner / (static_cast<double>(states) / groups));
    const std::string at = fmt::format("{}encoder.albert_layer_groups.{}.albert_layers.{}.", root, group, i % inner);
    return StackLayer{
        .attention = {.query = at + "attention.query",
                      .key = at + "attention.key",
                      .value = at + "attention.value",
                      .output = at + "attention.dense",
                      .sum_norm = at + "attention.LayerNorm"},
        .feed_forward = {.up = at + "ffn", .down = at + "ffn_output", .sum_norm = at + "full_layer_layer_norm"}};
  };
  family.pooler = "pooler";
  family.sequence.out = "classifier";
  family.next.out = "sop_classifier.classifier";  // sentence order: the second text follows the first
  family.language = {.dense = "predictions.dense", .norm = "predictions.LayerNorm", .out = "predictions.decoder"};
  family.language_bias = "predictions.bias";
  LayerStack stack = BertStack(family, description);
  stack.layers_per_state = inner;
  DescribeStack(stack, checkpoint, description);
}

}  // namespace fovea::tools
