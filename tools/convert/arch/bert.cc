// BERT.
#include "tools/convert/arch/post_norm_encoder.h"

namespace fovea::tools {

void DescribeBert(const Checkpoint& checkpoint, Description& description) {
  PostNormEncoder encoder = EncoderFromConfig(checkpoint.config);
  encoder.prefix = "bert";
  encoder.pooler = "pooler.dense";
  encoder.sequence_out = "classifier";
  encoder.lm_dense = "cls.predictions.transform.dense";
  encoder.lm_norm = "cls.predictions.transform.LayerNorm";
  encoder.lm_decoder = "cls.predictions.decoder";
  encoder.lm_bias = "cls.predictions.bias";
  DescribePostNormEncoder(encoder, checkpoint, description);
}

}  // namespace fovea::tools
