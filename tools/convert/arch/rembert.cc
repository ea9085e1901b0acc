// RemBERT: BERT with narrow embeddings, which are projected, and a head for masked words whose matrix is its own and of
// another width.
#include "tools/convert/arch/post_norm_encoder.h"

namespace fovea::tools {

void DescribeRembert(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  PostNormEncoder encoder = EncoderFromConfig(config);
  encoder.prefix = "rembert";
  encoder.projection = "encoder.embedding_hidden_mapping_in";
  encoder.pooler = "pooler.dense";
  encoder.sequence.out = "classifier";
  encoder.language.dense = "cls.predictions.dense";
  encoder.language.norm = "cls.predictions.LayerNorm";
  encoder.language.out = "cls.predictions.decoder";
  encoder.tied = false;
  config.Only("tie_word_embeddings", false);
  for (const char* key : {"input_embedding_size", "output_embedding_size"}) config.Get(key);
  DescribePostNormEncoder(encoder, checkpoint, description);
}

}  // namespace fovea::tools
