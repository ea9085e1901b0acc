// BERT.
#include "tools/convert/arch/post_norm_encoder.h"

namespace fovea::tools {

void DescribeBert(const Checkpoint& checkpoint, Description& description) {
  PostNormEncoder encoder = EncoderFromConfig(checkpoint.config);
  encoder.prefix = "bert";
  encoder.pooler = "pooler.dense";
  encoder.sequence.out = "classifier";
  encoder.masked_lm.dense = "cls.predictions.transform.dense";
  encoder.masked_lm.norm = "cls.predictions.transform.LayerNorm";
  encoder.masked_lm.out = "cls.predictions.decoder";
  encoder.masked_lm_bias = "cls.predictions.bias";
  DescribePostNormEncoder(encoder, checkpoint, description);
}

}  // namespace fovea::tools
