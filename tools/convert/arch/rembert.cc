// RemBERT: BERT with narrow embeddings, which are projected, and a head for masked words whose matrix is not shared
// with the embeddings and has another width.
#include "tools/convert/arch/bert_family.h"

namespace fovea::tools {

// The original: transformers/models/rembert/modeling_rembert.py: RemBertModel.
void DescribeRembert(const Checkpoint& checkpoint, Description& description) {
  const Config& config = checkpoint.config;
  BertLike family = EncoderFromConfig(config);
  family.prefix = "rembert";
  family.projection = "encoder.embedding_hidden_mapping_in";
  family.pooler = "pooler.dense";
  family.sequence.out = "classifier";
  family.language = {
      .dense = "cls.predictions.dense", .norm = "cls.predictions.LayerNorm", .out = "cls.predictions.decoder"};
  family.tied = false;
  config.Only("tie_word_embeddings", false);
  config.Ignore({"input_embedding_size", "output_embedding_size"});  // follow from the tensors
  DescribeBertLike(family, checkpoint, description);
}

}  // namespace fovea::tools
