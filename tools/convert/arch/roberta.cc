// RoBERTa, XLM-RoBERTa and CamemBERT: BERT with one token type, positions behind the padding id and heads of their own.
#include "tools/convert/arch/post_norm_encoder.h"

namespace fovea::tools {

void DescribeRoberta(const Checkpoint& checkpoint, Description& description) {
  PostNormEncoder encoder = EncoderFromConfig(checkpoint.config);
  encoder.prefix = "roberta";
  encoder.first_position = checkpoint.config.Number("pad_token_id", 1) + 1;
  encoder.pooler = "pooler.dense";
  encoder.sequence_dense = "classifier.dense";
  encoder.sequence_out = "classifier.out_proj";
  encoder.lm_dense = "lm_head.dense";
  encoder.lm_norm = "lm_head.layer_norm";
  encoder.lm_decoder = "lm_head.decoder";
  encoder.lm_bias = "lm_head.bias";
  DescribePostNormEncoder(encoder, checkpoint, description);
}

}  // namespace fovea::tools
