// DistilBERT: BERT without token types and pooler, under other names. Its position table is stored, sinusoidal or not.
#include "tools/base/fail.h"
#include "tools/convert/arch/bert_family.h"

namespace fovea::tools {

// The original: transformers/models/distilbert/modeling_distilbert.py: DistilBertModel.
void DescribeDistilbert(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  BertLike family;
  family.prefix = "distilbert";
  family.module = "transformer";
  family.layers = config.Number("n_layers");
  family.heads = config.Number("n_heads");
  family.activation = config.Activation("activation", "gelu");
  family.epsilon = 1e-12;
  config.Ignore({"dim", "hidden_dim", "max_position_embeddings"});  // follow from the tensors
  family.layer = [](const std::string& root, uint32_t i) {
    const std::string at = fmt::format("{}transformer.layer.{}.", root, i);
    return StackLayer{
        .attention = {.query = at + "attention.q_lin",
                      .key = at + "attention.k_lin",
                      .value = at + "attention.v_lin",
                      .output = at + "attention.out_lin",
                      .sum_norm = at + "sa_layer_norm"},
        .feed_forward = {.up = at + "ffn.lin1", .down = at + "ffn.lin2", .sum_norm = at + "output_layer_norm"}};
  };
  family.sequence = {.dense = "pre_classifier", .activation = "relu", .out = "classifier"};
  family.choice = family.sequence;
  family.language = {.dense = "vocab_transform", .norm = "vocab_layer_norm", .out = "vocab_projector"};
  family.language_bias = "vocab_projector.bias";
  DescribeBertLike(family, checkpoint, description);
}

}  // namespace fovea::tools
