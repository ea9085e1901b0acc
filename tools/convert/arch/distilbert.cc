// DistilBERT: BERT without token types and pooler, under other names. Its position table is stored, sinusoidal or not.
#include "tools/base/fail.h"
#include "tools/convert/arch/post_norm_encoder.h"

namespace fovea::tools {

void DescribeDistilbert(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  PostNormEncoder encoder;
  encoder.prefix = "distilbert";
  encoder.stack = "transformer";
  encoder.layers = config.Number("n_layers");
  encoder.heads = config.Number("n_heads");
  encoder.activation = config.Activation("activation", "gelu");
  encoder.epsilon = 1e-12;
  for (const char* key : {"dim", "hidden_dim", "max_position_embeddings"}) config.Get(key);
  encoder.layer = [](uint32_t i) {
    const std::string at = fmt::format("transformer.layer.{}.", i);
    return LayerNames{at + "attention.q_lin", at + "attention.k_lin", at + "attention.v_lin", at + "attention.out_lin",
                      at + "sa_layer_norm",   at + "ffn.lin1",        at + "ffn.lin2",        at + "output_layer_norm"};
  };
  encoder.sequence.dense = "pre_classifier";
  encoder.sequence.activation = "relu";
  encoder.sequence.out = "classifier";
  encoder.language.dense = "vocab_transform";
  encoder.language.norm = "vocab_layer_norm";
  encoder.language.out = "vocab_projector";
  encoder.language_bias = "vocab_projector.bias";
  DescribePostNormEncoder(encoder, checkpoint, description);
}

}  // namespace fovea::tools
