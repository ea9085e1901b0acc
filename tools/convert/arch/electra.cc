// ELECTRA: BERT with narrow embeddings, which are projected, and without a pooler. Generators have a head for masked
// words; discriminators score for each token how likely it was replaced, which is the token classification of one
// class.
#include "tools/convert/arch/post_norm_encoder.h"

namespace fovea::tools {

void DescribeElectra(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  const Weights& weights = description.weights;
  PostNormEncoder encoder = EncoderFromConfig(config);
  encoder.prefix = "electra";
  if (weights.Has(StoredPrefix(encoder, weights) + "embeddings_project.weight")) {
    encoder.projection = "embeddings_project";
  }
  encoder.sequence = {"classifier.dense", "gelu", "", "classifier.out_proj"};  // whatever the layers have
  encoder.language = {"generator_predictions.dense", "gelu", "generator_predictions.LayerNorm", "generator_lm_head"};
  const std::string scores = "discriminator_predictions.dense";
  const bool discriminates = weights.Has(scores + ".weight");
  if (discriminates && !weights.Has(encoder.token.out + ".weight")) {
    encoder.token = {scores, encoder.activation, "", scores + "_prediction"};
  }
  // What follows from tensors, and how heads for several choices sum texts up.
  for (const char* key :
       {"embedding_size", "summary_activation", "summary_last_dropout", "summary_type", "summary_use_proj"}) {
    config.Get(key);
  }
  Checkpoint chosen = checkpoint;  // its class is one "for pre-training", as that of BERT with masked words is
  const bool generates = weights.Has(encoder.language.dense + ".weight");
  if (chosen.task == Task::kMaskedLm && discriminates && !generates) chosen.task = Task::kTokenClassification;
  DescribePostNormEncoder(encoder, chosen, description);
}

}  // namespace fovea::tools
