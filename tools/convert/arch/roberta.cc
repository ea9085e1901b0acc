// RoBERTa, XLM-RoBERTa and CamemBERT: BERT with one token type, positions after the padding id and heads of their own.
#include "tools/convert/arch/post_norm_encoder.h"

namespace fovea::tools {

PostNormEncoder RobertaFromConfig(const Config& config) {
  PostNormEncoder encoder = EncoderFromConfig(config);
  encoder.prefix = "roberta";
  encoder.first_position = config.Number("pad_token_id", 1) + 1;
  encoder.pooler = "pooler.dense";
  encoder.sequence.dense = "classifier.dense";
  encoder.sequence.out = "classifier.out_proj";
  encoder.language.dense = "lm_head.dense";
  encoder.language.activation = "gelu";  // whatever the layers have
  encoder.language.norm = "lm_head.layer_norm";
  encoder.language.out = "lm_head.decoder";
  encoder.language_bias = "lm_head.bias";
  return encoder;
}

void DescribeRoberta(const Checkpoint& checkpoint, Description& description) {
  DescribePostNormEncoder(RobertaFromConfig(checkpoint.config), checkpoint, description);
}

}  // namespace fovea::tools
